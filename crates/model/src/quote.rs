//! Strings quoted as Go quotes them, for messages that must read as the real server's.

use std::fmt::Write;

/// `text` in double quotes as `%q` of Go's `fmt` prints it: `"a\"b\x00"`.
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            other => push_escaped(&mut out, other),
        }
    }
    out.push('"');
    out
}

/// Appends a character with the escapes that Go uses inside of any quotes.
pub(crate) fn push_escaped(out: &mut String, character: char) {
    let code = u32::from(character);
    let written = match character {
        '\\' => out.write_str("\\\\"),
        '\x07' => out.write_str("\\a"),
        '\x08' => out.write_str("\\b"),
        '\t' => out.write_str("\\t"),
        '\n' => out.write_str("\\n"),
        '\x0b' => out.write_str("\\v"),
        '\x0c' => out.write_str("\\f"),
        '\r' => out.write_str("\\r"),
        ' '..='~' => out.write_char(character),
        '\0'..='\x7f' => write!(out, "\\x{code:02x}"),
        _ if is_printable(character) => out.write_char(character),
        '\u{80}'..='\u{ffff}' => write!(out, "\\u{code:04x}"),
        _ => write!(out, "\\U{code:08x}"),
    };
    written.expect("a String takes all");
}

/// Rust knows which characters show nothing, but tells only by how it prints a string. A mark that joins the letter
/// before it is shown when there is a letter.
fn is_printable(character: char) -> bool {
    !format!("a{character}").escape_debug().any(|shown| shown == '\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_as_go_does() {
        // From `fmt.Printf("%q")` of Go 1.26.
        assert_eq!(quote("a b'é😀e\u{301}"), "\"a b'é😀e\u{301}\"");
        assert_eq!(quote("\"\\\x07\x08\t\n\x0b\x0c\r"), r#""\"\\\a\b\t\n\v\f\r""#);
        assert_eq!(
            quote("\0\x1f\x7f\u{80}\u{a0}\u{ad}\u{200b}\u{feff}\u{e0001}"),
            r#""\x00\x1f\x7f\u0080\u00a0\u00ad\u200b\ufeff\U000e0001""#
        );
    }
}
