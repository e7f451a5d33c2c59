//! Reading the OpenAPI document that kustomize carries, in the protobuf form of `gnostic` (`OpenAPIv2.proto`).
//!
//! Only the parts that tell how lists are merged and which kinds have no namespace are taken out.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use model::Value;

/// The document.
#[derive(Default)]
pub(super) struct Document {
    pub(super) definitions: BTreeMap<String, Schema>,
    /// What paths answer to GET with, by path.
    pub(super) answers: BTreeMap<String, Value>,
}

/// A type, or what a field is.
#[derive(Default)]
pub(super) struct Schema {
    /// The name of another definition.
    pub(super) reference: Option<String>,
    pub(super) properties: BTreeMap<String, Schema>,
    /// The elements of a list.
    pub(super) items: Option<Box<Schema>>,
    pub(super) extensions: BTreeMap<String, Value>,
}

/// Reads a document.
pub(super) fn read(bytes: &[u8]) -> Result<Document> {
    let mut document = Document::default();
    for (number, content) in fields(bytes)? {
        match number {
            8 => {
                for (number, path) in fields(content)? {
                    if number == 2 {
                        answer(path, &mut document.answers)?;
                    }
                }
            }
            9 => document.definitions = named(content)?,
            _ => {}
        }
    }
    Ok(document)
}

/// The kind that a path answers to GET with.
fn answer(path: &[u8], answers: &mut BTreeMap<String, Value>) -> Result<()> {
    let (name, item) = pair(path)?;
    for (number, operation) in fields(item)? {
        if number != 2 {
            continue;
        }
        let extensions = extensions(operation, 13)?;
        if let Some(kind) = extensions.get("x-kubernetes-group-version-kind") {
            answers.insert(name.clone(), kind.clone());
        }
    }
    Ok(())
}

fn schema(bytes: &[u8]) -> Result<Schema> {
    let mut schema = Schema {
        extensions: extensions(bytes, 31)?,
        ..Schema::default()
    };
    for (number, content) in fields(bytes)? {
        match number {
            1 => {
                let reference = text(content)?;
                let name = reference.strip_prefix("#/definitions/").unwrap_or(reference);
                schema.reference = Some(name.to_owned());
            }
            23 => {
                if let Some((_, items)) = fields(content)?.into_iter().find(|(number, _)| *number == 1) {
                    schema.items = Some(Box::new(self::schema(items)?));
                }
            }
            25 => schema.properties = named(content)?,
            _ => {}
        }
    }
    Ok(schema)
}

/// Schemas with their names.
fn named(bytes: &[u8]) -> Result<BTreeMap<String, Schema>> {
    let entries = fields(bytes)?.into_iter().filter(|(number, _)| *number == 1);
    entries
        .map(|(_, entry)| {
            let (name, value) = pair(entry)?;
            Ok((name, schema(value)?))
        })
        .collect()
}

/// The extensions among the fields of a message: values as YAML, with their names.
fn extensions(bytes: &[u8], field: u64) -> Result<BTreeMap<String, Value>> {
    let mut all = BTreeMap::new();
    for (number, entry) in fields(bytes)? {
        if number != field {
            continue;
        }
        let (name, any) = pair(entry)?;
        let written = fields(any)?.into_iter().find(|(number, _)| *number == 2);
        let written = written.map_or(&[][..], |(_, written)| written);
        let value = yaml::parse(written).with_context(|| format!("the extension {name} is no YAML"))?;
        all.insert(name, value);
    }
    Ok(all)
}

/// The name and the value of an entry of a map.
fn pair(bytes: &[u8]) -> Result<(String, &[u8])> {
    let (mut name, mut value) = (String::new(), &[][..]);
    for (number, content) in fields(bytes)? {
        match number {
            1 => name = text(content)?.to_owned(),
            2 => value = content,
            _ => {}
        }
    }
    Ok((name, value))
}

fn text(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).context("a text is not UTF-8")
}

/// The fields of a message that have a length, with their numbers.
fn fields(mut bytes: &[u8]) -> Result<Vec<(u64, &[u8])>> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let tag = number(&mut bytes)?;
        let skipped = match tag & 7 {
            0 => {
                number(&mut bytes)?;
                continue;
            }
            1 => 8,
            2 => {
                let length = usize::try_from(number(&mut bytes)?)?;
                let (content, rest) = bytes.split_at_checked(length).context("a message is cut off")?;
                found.push((tag >> 3, content));
                bytes = rest;
                continue;
            }
            5 => 4,
            other => bail!("the wire type {other} is not known"),
        };
        bytes = bytes.get(skipped..).context("a message is cut off")?;
    }
    Ok(found)
}

fn number(bytes: &mut &[u8]) -> Result<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first().context("a number is cut off")?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Ok(value);
        }
    }
    bail!("a number is too long")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_taken_apart() {
        let message = [
            0x08, 0x96, 0x01, 0x12, 0x02, b'h', b'i', 0x1d, 0, 0, 0, 0, 0x22, 0x00,
        ];
        assert_eq!(fields(&message).unwrap(), [(2, &b"hi"[..]), (4, &b""[..])]);
        assert!(fields(&[0x12, 0x05, b'x']).is_err());
        assert!(fields(&[0x80]).is_err());
    }
}
