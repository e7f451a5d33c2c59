//! The table of messages.

use std::collections::HashMap;

/// All messages by name. The text it is read from is part of the program.
pub(super) struct Messages(HashMap<&'static str, Message>);

/// The fields of a message by their number.
pub(super) type Message = Vec<Field>;

/// One field.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub number: u32,
    pub name: &'static str,
    pub repeat: Repeat,
    pub kind: Kind,
}

/// How often a field's value can stand in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repeat {
    Once,
    List,
    /// With a string as key.
    Map,
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    String,
    Integer,
    Bool,
    Bytes,
    Double,
    Message(&'static str),
}

const TABLE: &str = include_str!("../../data/protobuf.txt");

impl Messages {
    pub(super) fn load() -> Self {
        Messages(TABLE.lines().filter_map(read_line).collect())
    }

    pub(super) fn get(&self, name: &str) -> Option<&Message> {
        self.0.get(name)
    }
}

fn read_line(line: &'static str) -> Option<(&'static str, Message)> {
    let (name, fields) = line.split_once(' ')?;
    Some((name, fields.split(';').filter_map(read_field).collect()))
}

fn read_field(text: &'static str) -> Option<Field> {
    let mut parts = text.splitn(3, ':');
    let number = parts.next()?.parse().ok()?;
    let name = parts.next()?;
    let kind = parts.next()?;
    let (repeat, kind) = match kind.as_bytes().first()? {
        b'*' => (Repeat::List, &kind[1..]),
        b'%' => (Repeat::Map, &kind[1..]),
        _ => (Repeat::Once, kind),
    };
    let kind = match kind {
        "string" => Kind::String,
        "int32" | "int64" | "uint32" | "uint64" => Kind::Integer,
        "bool" => Kind::Bool,
        "bytes" => Kind::Bytes,
        "double" => Kind::Double,
        message => Kind::Message(message),
    };
    Some(Field {
        number,
        name,
        repeat,
        kind,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_that_a_field_names_is_in_the_table() {
        let messages = Messages::load();
        assert!(messages.0.len() > 500, "{}", messages.0.len());
        for (name, fields) in &messages.0 {
            for field in fields {
                if let Kind::Message(other) = field.kind {
                    assert!(
                        messages.get(other).is_some(),
                        "{name}.{} is a {other}",
                        field.name
                    );
                }
            }
        }
    }
}
