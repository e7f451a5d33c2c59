//! YAML that every reader reads alike: blocks, with quotes wherever a word could be taken for something else.

use std::fmt::Write as _;

use model::{Value, json};

/// The value as a YAML document. The keys of maps are sorted.
pub(super) fn write(value: &Value) -> String {
    let mut text = String::new();
    block(&mut text, value, 0);
    text
}

/// Writes the lines of a value at an indentation; the text is at the beginning of a line.
fn block(text: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            let mut pairs: Vec<_> = map.iter().collect();
            pairs.sort_by_key(|(key, _)| *key);
            for (key, value) in pairs {
                let _ = write!(text, "{:indent$}{}:", "", scalar(key));
                below(text, value, indent + 2);
            }
        }
        Value::Array(list) if !list.is_empty() => {
            for value in list {
                let start = text.len();
                block(text, value, indent + 2);
                // The dash takes the place of the first line's last two spaces.
                text.replace_range(start..start + indent + 2, &format!("{:indent$}- ", ""));
            }
        }
        _ => {
            let _ = writeln!(text, "{:indent$}{}", "", inline(value));
        }
    }
}

/// Writes what follows a key: on the same line if it fits there.
fn below(text: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            text.push('\n');
            block(text, value, indent);
        }
        Value::Array(list) if !list.is_empty() => {
            text.push('\n');
            block(text, value, indent - 2);
        }
        _ => {
            let _ = writeln!(text, " {}", inline(value));
        }
    }
}

fn inline(value: &Value) -> String {
    match value {
        Value::Str(text) => scalar(text),
        other => json::to_string(other),
    }
}

/// A text without quotes if it is made of words that mean nothing else, and as JSON otherwise.
fn scalar(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '/' | '-' | '_' | ' ' | '$');
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '$')
        && !text.ends_with(' ')
        && text.chars().all(plain)
        && !is_taken(text);
    if is_plain {
        text.to_owned()
    } else {
        json::to_string(&Value::str(text))
    }
}

/// Words that YAML 1.1 or 1.2 readers take for a boolean or null, and numbers.
fn is_taken(text: &str) -> bool {
    const WORDS: [&str; 9] = ["true", "false", "yes", "no", "on", "off", "null", "y", "n"];
    let lower = text.to_ascii_lowercase();
    WORDS.contains(&lower.as_str()) || lower.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, yaml: &str) {
        let value = json::parse(json.as_bytes()).unwrap();
        let text = write(&value);
        assert_eq!(text, yaml);
        assert_eq!(yaml::parse_strict(text.as_bytes()).unwrap(), value);
    }

    #[test]
    fn maps_and_lists_are_blocks() {
        check(
            r#"{"b": [{"c": 1, "d": [true, null]}, [["x"]], {}, []], "a": {"e": {}}}"#,
            "a:\n  e: {}\nb:\n- c: 1\n  d:\n  - true\n  - null\n- - - x\n- {}\n- []\n",
        );
    }

    #[test]
    fn words_that_mean_something_else_are_quoted() {
        check(
            r#"{"y": "yes", "a": "1", "b": "", "c": "x: y", "d": "inf", "e": "ok then", "f": "*", "g": "é\n"}"#,
            "a: \"1\"\nb: \"\"\nc: \"x: y\"\nd: \"inf\"\ne: ok then\nf: \"*\"\ng: \"é\\n\"\n\"y\": \"yes\"\n",
        );
    }
}
