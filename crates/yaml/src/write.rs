//! Writing YAML that every reader of YAML 1.1 and 1.2 understands the same way.

use std::fmt::Write as _;

use model::Value;

/// The value as a YAML document in block style, with the keys in the order of its maps.
///
/// [`crate::parse`] gives the same value back. The text is not the one that Go would write: strings that could be taken for
/// anything else are in double quotes, texts of several lines are literal blocks, and no line is folded.
pub fn write(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Object(map) if !map.is_empty() => block(value, 0, &mut out),
        Value::Array(list) if !list.is_empty() => block(value, 0, &mut out),
        other => {
            scalar(other, 2, &mut out);
            out.push('\n');
        }
    }
    out
}

/// Writes the lines of a map or list that has something in it.
fn block(value: &Value, indent: usize, out: &mut String) {
    match value {
        Value::Object(map) => {
            for (index, (key, value)) in map.iter().enumerate() {
                // The first key stands where the caller has already written the indentation of a list item.
                if index > 0 || out.is_empty() || out.ends_with('\n') {
                    pad(indent, out);
                }
                text(key, out);
                out.push(':');
                child(value, indent, out);
            }
        }
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                if index > 0 || out.is_empty() || out.ends_with('\n') {
                    pad(indent, out);
                }
                out.push('-');
                item(value, indent, out);
            }
        }
        _ => {}
    }
}

/// Writes what follows `key:`.
fn child(value: &Value, indent: usize, out: &mut String) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            out.push('\n');
            block(value, indent + 2, out);
        }
        Value::Array(list) if !list.is_empty() => {
            out.push('\n');
            block(value, indent, out);
        }
        other => {
            out.push(' ');
            scalar(other, indent + 2, out);
            out.push('\n');
        }
    }
}

/// Writes what follows the `-` of a list item.
fn item(value: &Value, indent: usize, out: &mut String) {
    out.push(' ');
    let filled = match value {
        Value::Object(map) => !map.is_empty(),
        Value::Array(list) => !list.is_empty(),
        _ => false,
    };
    if filled {
        block(value, indent + 2, out);
    } else {
        scalar(value, indent + 2, out);
        out.push('\n');
    }
}

fn scalar(value: &Value, indent: usize, out: &mut String) {
    match value {
        Value::Object(_) => out.push_str("{}"),
        Value::Array(_) => out.push_str("[]"),
        Value::Str(string) if fits_literal(string) => literal(string, indent, out),
        Value::Str(string) => text(string, out),
        other => out.push_str(&model::json::to_string(other)),
    }
}

fn pad(indent: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', indent));
}

/// Writes a string on one line.
fn text(string: &str, out: &mut String) {
    if is_plain(string) {
        out.push_str(string);
        return;
    }
    out.push('"');
    for character in string.chars() {
        let code = u32::from(character);
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            _ if is_printable(character) => out.push(character),
            _ => {
                let _ = match code {
                    0..=0xff => write!(out, "\\x{code:02x}"),
                    0x100..=0xffff => write!(out, "\\u{code:04x}"),
                    _ => write!(out, "\\U{code:08x}"),
                };
            }
        }
    }
    out.push('"');
}

/// Whether the string means itself without quotes, for readers of YAML 1.1 and 1.2.
fn is_plain(string: &str) -> bool {
    const WORDS: [&str; 9] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];
    let begins = string
        .bytes()
        .next()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_' || byte == b'/');
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:@+=(), ".contains(&byte);
    begins
        && string.bytes().all(allowed)
        && !string.ends_with([':', ' '])
        && !string.contains(": ")
        && !WORDS.iter().any(|word| string.eq_ignore_ascii_case(word))
}

/// Whether a text of several lines can be a literal block: nothing in it would get lost.
fn fits_literal(string: &str) -> bool {
    let body = string.strip_suffix('\n').unwrap_or(string);
    body.contains('\n')
        && !body.ends_with('\n')
        && !body.starts_with(['\n', ' '])
        && body
            .lines()
            .all(|line| !line.ends_with(' ') && line.chars().all(is_printable))
        && !body.contains('\r')
}

fn literal(string: &str, indent: usize, out: &mut String) {
    let body = match string.strip_suffix('\n') {
        Some(body) => {
            out.push('|');
            body
        }
        None => {
            out.push_str("|-");
            string
        }
    };
    for line in body.lines() {
        out.push('\n');
        if !line.is_empty() {
            pad(indent, out);
            out.push_str(line);
        }
    }
}

/// Whether the character may stand in YAML as it is, without being taken for the end of a line.
fn is_printable(character: char) -> bool {
    matches!(character,
        ' '..='~' | '\u{a0}'..='\u{2027}' | '\u{202a}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}'
        | '\u{ff00}'..='\u{fffd}' | '\u{10000}'..)
}
