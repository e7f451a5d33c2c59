//! JSON objects, in the order of their keys.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use crate::limits::MAX_DEPTH;
use crate::number;
use crate::tree::{Branch, Item, Tree, Value};

/// Reads the object that the text begins with; as in Go, what follows it is not looked at.
pub(super) fn read(data: &[u8]) -> Result<Tree, String> {
    let text = String::from_utf8_lossy(data);
    let mut reader = serde_json::Deserializer::from_str(&text);
    // The texts of this reader tell the place and what was expected, and sometimes a value that was found instead.
    let failed =
        |error: serde_json::Error| format!("invalid JSON in line {} column {}", error.line(), error.column());
    let Read(value) = Read::deserialize(&mut reader).map_err(failed)?;
    match value {
        Value::Map(branch) if depth(&branch) <= MAX_DEPTH => Ok(Tree {
            branches: vec![branch],
        }),
        Value::Map(_) => Err(format!("it is nested more than {MAX_DEPTH} levels deep")),
        _ => Err("SOPS only supports JSON files with a top-level object".to_owned()),
    }
}

/// The levels of maps and lists. The reader itself ends at 128, so that this recursion is bounded.
fn depth(branch: &Branch) -> usize {
    let below = branch.iter().map(|item| match item {
        Item::Entry(_, value) => value_depth(value),
        Item::Comment(_) => 0,
    });
    1 + below.max().unwrap_or(0)
}

fn value_depth(value: &Value) -> usize {
    match value {
        Value::Map(branch) => depth(branch),
        Value::List(items) => 1 + items.iter().map(value_depth).max().unwrap_or(0),
        _ => 0,
    }
}

struct Read(Value);

impl<'de> Deserialize<'de> for Read {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor).map(Read)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Int(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(i64::try_from(number).map_or(Value::Float(number as f64), Value::Int))
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Value, E> {
        if number.is_finite() {
            Ok(Value::Float(number))
        } else {
            Err(E::custom("a number is too large"))
        }
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::text(text))
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(Read(item)) = access.next_element()? {
            items.push(item);
        }
        Ok(Value::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut branch = Branch::new();
        while let Some((key, Read(value))) = access.next_entry::<String, Read>()? {
            branch.push(Item::Entry(key, value));
        }
        if branch.len() > crate::limits::MAX_SIZE {
            return Err(A::Error::custom("too many keys"));
        }
        Ok(Value::Map(branch))
    }
}

pub(super) fn write(tree: &Tree) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    let none = Branch::new();
    write_map(tree.branches.first().unwrap_or(&none), 0, &mut out)?;
    out.push(b'\n');
    Ok(out)
}

fn write_map(branch: &Branch, depth: usize, out: &mut Vec<u8>) -> Result<(), String> {
    out.push(b'{');
    let mut empty = true;
    for item in branch {
        let Item::Entry(key, value) = item else { continue };
        next(&mut empty, depth + 1, out);
        write_text(key.as_bytes(), out);
        out.extend_from_slice(b": ");
        write_value(value, depth + 1, out)?;
    }
    end(empty, depth, out);
    out.push(b'}');
    Ok(())
}

fn write_value(value: &Value, depth: usize, out: &mut Vec<u8>) -> Result<(), String> {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(flag) => out.extend_from_slice(flag.to_string().as_bytes()),
        Value::Int(number) => out.extend_from_slice(number.to_string().as_bytes()),
        Value::Float(float) => {
            let text = number::json(*float).ok_or("JSON has no form for a number that is not finite")?;
            out.extend_from_slice(text.as_bytes());
        }
        Value::Text(text) => write_text(text, out),
        Value::Time(text) => write_text(text.as_bytes(), out),
        Value::Bytes(bytes) => write_text(STANDARD.encode(bytes).as_bytes(), out),
        Value::Comment(comment) => write_text(&comment.text, out),
        Value::Map(branch) => write_map(branch, depth, out)?,
        Value::List(items) => {
            out.push(b'[');
            let mut empty = true;
            for item in items {
                if matches!(item, Value::Comment(_)) {
                    continue;
                }
                next(&mut empty, depth + 1, out);
                write_value(item, depth + 1, out)?;
            }
            end(empty, depth, out);
            out.push(b']');
        }
    }
    Ok(())
}

/// Begins the line of an element.
fn next(empty: &mut bool, depth: usize, out: &mut Vec<u8>) {
    if !*empty {
        out.push(b',');
    }
    *empty = false;
    line(depth, out);
}

/// Begins the line of a closing bracket; what is empty has none.
fn end(empty: bool, depth: usize, out: &mut Vec<u8>) {
    if !empty {
        line(depth, out);
    }
}

fn line(depth: usize, out: &mut Vec<u8>) {
    out.push(b'\n');
    out.extend(std::iter::repeat_n(b'\t', depth));
}

/// A string as Go's `json.Marshal` writes it: safe inside of HTML and JavaScript.
fn write_text(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '"' => out.extend_from_slice(b"\\\""),
                '\\' => out.extend_from_slice(b"\\\\"),
                '\n' => out.extend_from_slice(b"\\n"),
                '\r' => out.extend_from_slice(b"\\r"),
                '\t' => out.extend_from_slice(b"\\t"),
                '\u{8}' => out.extend_from_slice(b"\\b"),
                '\u{c}' => out.extend_from_slice(b"\\f"),
                '\0'..='\u{1f}' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                    out.extend_from_slice(format!("\\u{:04x}", u32::from(character)).as_bytes());
                }
                other => out.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        // Go replaces each byte that is no UTF-8 by itself.
        for _ in chunk.invalid() {
            out.extend_from_slice(b"\\ufffd");
        }
    }
    out.push(b'"');
}
