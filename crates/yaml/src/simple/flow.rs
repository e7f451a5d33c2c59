//! Lists and maps in brackets, on one line.

use model::{Map, Str, Value};

use super::scalar::{is_rest, meant, quoted, string};
use super::{Keep, MAX_DEPTH};
use crate::resolve::{self, Scalar};

/// The list or map that a line ends with.
pub(super) fn read(line: &str, keep: Keep<'_>) -> Option<Value> {
    let (value, rest) = node(line, keep, 0)?;
    is_rest(rest).then_some(value)
}

fn node<'t>(text: &'t str, keep: Keep<'_>, depth: usize) -> Option<(Value, &'t str)> {
    if depth > MAX_DEPTH {
        return None;
    }
    match text.as_bytes().first()? {
        b'[' => list(spaceless(&text[1..]), keep, depth),
        b'{' => map(spaceless(&text[1..]), keep, depth),
        b'"' | b'\'' => {
            let (found, rest) = quoted(text)?;
            Some((string(&found, keep), rest))
        }
        _ => {
            let (word, rest) = word(text)?;
            Some((meant(word, keep)?, rest))
        }
    }
}

fn list<'t>(mut text: &'t str, keep: Keep<'_>, depth: usize) -> Option<(Value, &'t str)> {
    let mut items = Vec::new();
    if let Some(rest) = text.strip_prefix(']') {
        return Some((Value::from(items), rest));
    }
    loop {
        let (item, rest) = node(text, keep, depth + 1)?;
        items.push(item);
        let rest = spaceless(rest);
        if let Some(rest) = rest.strip_prefix(']') {
            return Some((Value::from(items), rest));
        }
        text = next(rest)?;
    }
}

fn map<'t>(mut text: &'t str, keep: Keep<'_>, depth: usize) -> Option<(Value, &'t str)> {
    let mut pairs: Vec<(Str, Value)> = Vec::new();
    if let Some(rest) = text.strip_prefix('}') {
        return Some((Value::object(), rest));
    }
    loop {
        let (name, rest) = match text.as_bytes().first()? {
            b'"' | b'\'' => {
                let (name, rest) = quoted(text)?;
                (Scalar::Str(Str::new(&name)), rest)
            }
            _ => {
                let (name, rest) = word(text)?;
                (resolve::plain(name), rest)
            }
        };
        // libyaml takes keys of up to 1024 characters.
        if text.len() - rest.len() > super::MAX_KEY {
            return None;
        }
        let rest = spaceless(rest.strip_prefix(": ")?);
        let (value, rest) = node(rest, keep, depth + 1)?;
        pairs.push((name.as_key()?, value));
        let rest = spaceless(rest);
        if let Some(rest) = rest.strip_prefix('}') {
            return Some((Value::Object(Map::from_pairs(pairs.into_iter())), rest));
        }
        text = next(rest)?;
    }
}

/// What is after the comma between two items. One before the end is not taken.
fn next(rest: &str) -> Option<&str> {
    Some(spaceless(rest.strip_prefix(',')?))
}

fn spaceless(text: &str) -> &str {
    text.trim_start_matches(' ')
}

/// A word without quotes, of characters that mean nothing else in brackets.
fn word(text: &str) -> Option<(&str, &str)> {
    let is_of_word =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'/' | b'-' | b'$');
    let end = text.bytes().position(|byte| !is_of_word(&byte))?;
    let (word, rest) = text.split_at(end);
    let ends = matches!(rest.as_bytes()[0], b',' | b']' | b'}' | b':') || {
        let after = spaceless(rest);
        rest.starts_with(' ') && after.starts_with([',', ']', '}'])
    };
    let begins = word.as_bytes().first().is_some_and(|first| *first != b'-');
    (begins && ends).then_some((word, rest))
}
