//! Reading and writing the five formats, one file for each.

mod binary;
mod dotenv;
mod ini;
mod json;
mod yaml;

use crate::format::Format;
use crate::metadata::Layout;
use crate::number;
use crate::tree::{Tree, Value};

/// Reads a file. The error says what is wrong, without any of its content.
pub(crate) fn read(data: &[u8], format: Format) -> Result<Tree, String> {
    match format {
        Format::Binary | Format::Json => json::read(data),
        Format::Dotenv => dotenv::read(data),
        Format::Ini => ini::read(data),
        Format::Yaml => yaml::read(data),
    }
}

/// Writes what was decrypted. The error says what the format has no form for.
pub(crate) fn write(tree: &Tree, format: Format) -> Result<Vec<u8>, String> {
    match format {
        Format::Binary => binary::write(tree),
        Format::Dotenv => dotenv::write(tree),
        Format::Ini => ini::write(tree),
        Format::Json => json::write(tree),
        Format::Yaml => yaml::write(tree),
    }
}

/// How the metadata stands in files of a format.
pub(crate) fn layout(format: Format) -> Layout {
    match format {
        Format::Binary | Format::Json | Format::Yaml => Layout::Nested,
        Format::Ini => Layout::FlatSection,
        Format::Dotenv => Layout::FlatKeys,
    }
}

/// A value in a format that only has text.
fn flat(value: &Value) -> Vec<u8> {
    match value {
        Value::Null => b"<nil>".to_vec(),
        Value::Bool(flag) => flag.to_string().into_bytes(),
        Value::Int(number) => number.to_string().into_bytes(),
        Value::Float(number) => number::flat(*number).into_bytes(),
        Value::Text(text) => text.clone(),
        Value::Time(text) => text.clone().into_bytes(),
        Value::Bytes(bytes) => {
            let numbers: Vec<String> = bytes.iter().map(u8::to_string).collect();
            format!("[{}]", numbers.join(" ")).into_bytes()
        }
        Value::Comment(comment) => comment.text.clone(),
        Value::List(_) | Value::Map(_) => Vec::new(),
    }
}
