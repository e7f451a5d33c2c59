//! Texts in quotes, as Go's `%q` prints them: messages show names that clients chose.

use std::fmt::Write as _;

/// The text in quotes, with Go's escapes.
pub(crate) fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for char in text.chars() {
        match char {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{b}' => quoted.push_str("\\v"),
            ' '..='~' => quoted.push(char),
            control if control.is_ascii() => {
                push_escape(&mut quoted, format_args!("\\x{:02x}", control as u32))
            }
            hidden if hidden.is_control() || (hidden.is_whitespace() && hidden != '\u{3000}') => {
                push_escape(&mut quoted, format_args!("\\u{:04x}", hidden as u32));
            }
            shown => quoted.push(shown),
        }
    }
    quoted.push('"');
    quoted
}

/// A list of texts: `["a" "b"]`.
pub(crate) fn quote_list<T: AsRef<str>>(texts: &[T]) -> String {
    let quoted: Vec<String> = texts.iter().map(|text| quote(text.as_ref())).collect();
    format!("[{}]", quoted.join(" "))
}

fn push_escape(text: &mut String, escape: std::fmt::Arguments<'_>) {
    text.write_fmt(escape).expect("writing to a string cannot fail");
}

#[cfg(test)]
mod tests {
    use super::*;

    // Expected texts are from Go's strconv.Quote.
    #[test]
    fn quotes_as_go_does() {
        assert_eq!(quote("it's \"a\" \\ b"), r#""it's \"a\" \\ b""#);
        assert_eq!(
            quote("\0\u{7}\u{8}\u{b}\u{c}\n\r\t\u{1b}\u{7f}"),
            r#""\x00\a\b\v\f\n\r\t\x1b\x7f""#
        );
        assert_eq!(quote("ü→\u{85}\u{a0}"), "\"ü→\\u0085\\u00a0\"");
        assert_eq!(quote_list(&["a", ""]), r#"["a" ""]"#);
        assert_eq!(quote_list::<&str>(&[]), "[]");
    }
}
