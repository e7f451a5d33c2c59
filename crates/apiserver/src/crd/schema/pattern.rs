//! Regular expressions in Go's syntax.
//!
//! Go and the `regex` crate share RE2's syntax but for a few points: Go's `\d`, `\w`, `\s` and `\b` know ASCII only, a
//! `[` inside a class stands for itself, and `&&`, `--` and `~~` mean nothing special there. Patterns are rewritten so
//! that they match what they match in Go.

use regex::Regex;

/// A pattern and its compiled form.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    text: String,
    regex: Regex,
}

impl Pattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// Why it is none.
    pub(crate) fn new(text: &str) -> Result<Pattern, regex::Error> {
        Ok(Pattern {
            text: text.to_owned(),
            regex: Regex::new(&translate(text))?,
        })
    }

    /// The pattern as it was written.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether some part of `text` matches.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }
}

/// Rewrites a pattern from Go's syntax.
fn translate(pattern: &str) -> String {
    let mut result = String::with_capacity(pattern.len() + 8);
    let mut chars = pattern.chars().peekable();
    // Where we are in a class: its first character may be a literal `]`.
    let mut class: Option<usize> = None;
    while let Some(char) = chars.next() {
        match (char, class) {
            ('\\', _) => escape(chars.next(), class.is_some(), &mut result, &mut chars),
            ('[', None) => {
                result.push('[');
                if chars.next_if_eq(&'^').is_some() {
                    result.push('^');
                }
                if chars.next_if_eq(&']').is_some() {
                    result.push_str("\\]");
                }
                class = Some(0);
            }
            ('[', Some(_)) if chars.peek() == Some(&':') => result.push('['),
            // `:]` closes a named class, not the class around it.
            (':', Some(_)) if chars.peek() == Some(&']') && result.contains("[:") => {
                result.push(':');
                result.extend(chars.next());
            }
            (']', Some(_)) => {
                result.push(']');
                class = None;
            }
            ('[' | '&' | '~', Some(_)) => {
                result.push('\\');
                result.push(char);
            }
            (char, _) => result.push(char),
        }
    }
    result
}

/// Writes what follows a backslash.
fn escape(
    escaped: Option<char>,
    in_class: bool,
    result: &mut String,
    rest: &mut std::iter::Peekable<std::str::Chars<'_>>,
) {
    const DIGIT: &str = "0-9";
    const WORD: &str = "0-9A-Za-z_";
    const SPACE: &str = "\\t\\n\\x0C\\r ";
    let set = |set: &str, negated: bool| match (in_class, negated) {
        (true, false) => set.to_owned(),
        (false, false) => format!("[{set}]"),
        (_, true) => format!("[^{set}]"),
    };
    match escaped {
        Some('d') => result.push_str(&set(DIGIT, false)),
        Some('D') => result.push_str(&set(DIGIT, true)),
        Some('w') => result.push_str(&set(WORD, false)),
        Some('W') => result.push_str(&set(WORD, true)),
        Some('s') => result.push_str(&set(SPACE, false)),
        Some('S') => result.push_str(&set(SPACE, true)),
        Some('b') if !in_class => result.push_str("(?-u:\\b)"),
        Some('Q') => {
            // Everything up to `\E` stands for itself.
            let rest: String = quoted(rest);
            result.push_str(&regex::escape(&rest));
        }
        // The crate refuses to escape characters that need none; Go allows all punctuation.
        Some(char) if char.is_ascii_punctuation() => result.push_str(&regex::escape(&char.to_string())),
        Some(char) => {
            result.push('\\');
            result.push(char);
        }
        None => result.push('\\'),
    }
}

fn quoted(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> String {
    let mut text = String::new();
    while let Some(char) = rest.next() {
        if char == '\\' && rest.next_if_eq(&'E').is_some() {
            break;
        }
        text.push(char);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        Pattern::new(pattern).unwrap().is_match(text)
    }

    #[test]
    fn digits_and_words_are_ascii_as_in_go() {
        assert!(matches(r"^\d+$", "123"));
        assert!(!matches(r"^\d+$", "١٢٣"));
        assert!(!matches(r"^[\w]+$", "é"));
        assert!(matches(r"^\W$", "é"));
        assert!(matches(r"^[\W]$", "é"));
    }

    #[test]
    fn brackets_in_classes_stand_for_themselves() {
        assert!(matches(r"^[[a]$", "["));
        assert!(matches(r"^[]a]+$", "]a"));
        assert!(matches(r"^[[:alpha:]]+$", "abc"));
        assert!(matches(r"^[a&&b]+$", "a&b"));
        assert!(matches(r"^[^]]+$", "abc"));
    }

    #[test]
    fn the_patterns_of_common_definitions_work() {
        assert!(matches(r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$", "1m30s"));
        assert!(matches(r"^(http|https|ssh)://.*$", "ssh://git@example.com"));
        assert!(matches(
            r"^sha256:[a-f0-9]{64}$",
            &format!("sha256:{}", "a".repeat(64))
        ));
        assert!(matches(r"^\Qa.b\E$", "a.b"));
        assert!(!matches(r"^\Qa.b\E$", "axb"));
        assert!(matches(r"^[a-z0-9!#$%&'*+/=?^_`{|}~\-]+$", "a-b~c"));
    }
}
