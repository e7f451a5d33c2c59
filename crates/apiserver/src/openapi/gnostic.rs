//! An OpenAPI v2 document as the protobuf message that clients of Kubernetes ask for (`openapi.v2.Document` of gnostic).
//! Only the fields that our documents have are written.

use model::{Map, Value, json};

/// The media type of the message.
// Clients ask for it with an `@` before the version, which Go does not read in an answer.
pub(super) const MEDIA_TYPE: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

/// Writes a document.
pub(super) fn encode(document: &Value) -> Vec<u8> {
    let mut message = Message::default();
    message.text(1, document.str_at(&["swagger"]));
    message.nested(2, |info| {
        info.text(1, document.str_at(&["info", "title"]));
        info.text(2, document.str_at(&["info", "version"]));
    });
    message.nested(8, |paths| {
        for (path, item) in entries(document.get("paths")) {
            paths.named(2, path, |message| path_item(item, message));
        }
    });
    message.nested(9, |definitions| {
        for (name, definition) in entries(document.get("definitions")) {
            definitions.named(1, name, |message| schema(definition, message));
        }
    });
    message.0
}

fn path_item(item: &Value, message: &mut Message) {
    for (number, method) in [(2, "get"), (3, "put"), (4, "post"), (5, "delete"), (8, "patch")] {
        if let Some(described) = item.get(method) {
            message.nested(number, |message| operation(described, message));
        }
    }
    for shared in elements(item.get("parameters")) {
        message.nested(9, |message| parameter(shared, message));
    }
}

fn operation(described: &Value, message: &mut Message) {
    message.texts(1, described.get("tags"));
    message.text(5, described.str_at(&["operationId"]));
    message.texts(6, described.get("produces"));
    message.texts(7, described.get("consumes"));
    for own in elements(described.get("parameters")) {
        message.nested(8, |message| parameter(own, message));
    }
    message.nested(9, |responses| {
        for (code, response) in entries(described.get("responses")) {
            responses.named(1, code, |value| {
                value.nested(1, |message| {
                    message.text(1, response.str_at(&["description"]));
                    if let Some(of) = response.get("schema") {
                        message.nested(2, |item| item.nested(1, |message| schema(of, message)));
                    }
                });
            });
        }
    });
    extensions(described, 13, message);
}

/// A parameter inside of the two messages that say which kind of parameter it is.
fn parameter(described: &Value, item: &mut Message) {
    let place = described.str_at(&["in"]);
    let required = described.get("required").and_then(Value::as_bool) == Some(true);
    let unique = described.get("uniqueItems").and_then(Value::as_bool) == Some(true);
    item.nested(1, |parameter| match place {
        "body" => parameter.nested(1, |message| {
            message.text(2, described.str_at(&["name"]));
            message.text(3, place);
            message.flag(4, required);
            if let Some(of) = described.get("schema") {
                message.nested(5, |message| schema(of, message));
            }
        }),
        _ => parameter.nested(2, |parameter| {
            // The two kinds number the fields after the name differently.
            let (kind, r#type, unique_items) = if place == "path" { (4, 5, 19) } else { (3, 6, 20) };
            parameter.nested(kind, |message| {
                message.flag(1, required);
                message.text(2, place);
                message.text(3, described.str_at(&["description"]));
                message.text(4, described.str_at(&["name"]));
                message.text(r#type, described.str_at(&["type"]));
                message.flag(unique_items, unique);
            });
        }),
    });
}

fn schema(of: &Value, message: &mut Message) {
    for (number, key) in [
        (1, "$ref"),
        (2, "format"),
        (3, "title"),
        (4, "description"),
        (13, "pattern"),
    ] {
        message.text(number, of.str_at(&[key]));
    }
    if let Some(default) = of.get("default") {
        message.nested(5, |message| any(default, message));
    }
    for (number, key) in [(6, "multipleOf"), (7, "maximum"), (9, "minimum")] {
        message.number(number, of.get(key));
    }
    for (number, key) in [
        (8, "exclusiveMaximum"),
        (10, "exclusiveMinimum"),
        (16, "uniqueItems"),
    ] {
        message.flag(number, of.get(key).and_then(Value::as_bool) == Some(true));
    }
    let counts = [
        (11, "maxLength"),
        (12, "minLength"),
        (14, "maxItems"),
        (15, "minItems"),
        (17, "maxProperties"),
        (18, "minProperties"),
    ];
    for (number, key) in counts {
        message.count(number, of.get(key).and_then(Value::as_i64));
    }
    message.texts(19, of.get("required"));
    for value in elements(of.get("enum")) {
        message.nested(20, |message| any(value, message));
    }
    match of.get("additionalProperties") {
        Some(Value::Bool(allowed)) => message.nested(21, |item| item.flag(2, *allowed)),
        Some(element) => message.nested(21, |item| item.nested(1, |message| schema(element, message))),
        None => {}
    }
    if of.get("type").is_some() {
        message.nested(22, |item| item.text(1, of.str_at(&["type"])));
    }
    if let Some(element) = of.get("items") {
        message.nested(23, |item| item.nested(1, |message| schema(element, message)));
    }
    if of.get("properties").is_some() {
        message.nested(25, |properties| {
            for (name, property) in entries(of.get("properties")) {
                properties.named(1, name, |message| schema(property, message));
            }
        });
    }
    extensions(of, 31, message);
}

fn extensions(of: &Value, number: u32, message: &mut Message) {
    for (name, value) in entries(Some(of)).filter(|(name, _)| name.starts_with("x-")) {
        message.named(number, name, |message| any(value, message));
    }
}

/// Values are texts of YAML, and JSON is YAML.
fn any(value: &Value, message: &mut Message) {
    message.text(2, &json::to_string(value));
}

fn entries(map: Option<&Value>) -> impl Iterator<Item = (&str, &Value)> {
    let map = map.and_then(Value::as_object);
    map.into_iter().flat_map(Map::iter)
}

fn elements(list: Option<&Value>) -> impl Iterator<Item = &Value> {
    list.and_then(Value::as_array).into_iter().flatten()
}

/// A message that is being written. Fields that have their zero are left out, as protobuf does.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn bytes(&mut self, number: u32, bytes: &[u8]) {
        self.varint(u64::from(number) << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn text(&mut self, number: u32, text: &str) {
        if !text.is_empty() {
            self.bytes(number, text.as_bytes());
        }
    }

    fn texts(&mut self, number: u32, list: Option<&Value>) {
        for text in elements(list).filter_map(Value::as_str) {
            self.bytes(number, text.as_bytes());
        }
    }

    fn nested(&mut self, number: u32, write: impl FnOnce(&mut Message)) {
        let mut inner = Message::default();
        write(&mut inner);
        self.bytes(number, &inner.0);
    }

    /// An entry of a map: a message of a name and a value.
    fn named(&mut self, number: u32, name: &str, write: impl FnOnce(&mut Message)) {
        self.nested(number, |entry| {
            entry.bytes(1, name.as_bytes());
            entry.nested(2, write);
        });
    }

    fn flag(&mut self, number: u32, set: bool) {
        if set {
            self.varint(u64::from(number) << 3);
            self.varint(1);
        }
    }

    fn count(&mut self, number: u32, count: Option<i64>) {
        if let Some(count) = count.filter(|count| *count != 0) {
            self.varint(u64::from(number) << 3);
            self.varint(count as u64);
        }
    }

    fn number(&mut self, number: u32, value: Option<&Value>) {
        if let Some(value) = value.and_then(Value::as_f64).filter(|value| *value != 0.0) {
            self.varint(u64::from(number) << 3 | 1);
            self.0.extend_from_slice(&value.to_le_bytes());
        }
    }

    fn varint(&mut self, mut rest: u64) {
        while rest >= 0x80 {
            self.0.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        self.0.push(rest as u8);
    }
}

#[cfg(test)]
mod tests {
    use model::value;

    use super::*;

    #[test]
    fn a_small_document_is_written_as_gnostic_writes_it() {
        let document = value!({
            "swagger": "2.0",
            "info": { "title": "K", "version": "1" },
            "paths": {},
            "definitions": { "A": { "type": "object", "x-b": true, "minLength": 300 } },
        });
        let schema = b"\x60\xac\x02\xb2\x01\x08\x0a\x06object\xfa\x01\x0d\x0a\x03x-b\x12\x06\x12\x04true";
        let mut expected = b"\x0a\x032.0\x12\x06\x0a\x01K\x12\x011\x42\x00".to_vec();
        expected.extend([0x4a, schema.len() as u8 + 7, 0x0a, schema.len() as u8 + 5]);
        expected.extend(b"\x0a\x01A\x12");
        expected.push(schema.len() as u8);
        expected.extend(schema);
        assert_eq!(encode(&document), expected);
    }

    #[test]
    fn a_parameter_of_the_query_is_found_where_clients_look_for_it() {
        let mut message = Message::default();
        parameter(
            &value!({ "name": "force", "in": "query", "type": "boolean" }),
            &mut message,
        );
        let inner = b"\x12\x05query\x22\x05force\x32\x07boolean";
        let mut expected = vec![
            0x0a,
            inner.len() as u8 + 4,
            0x12,
            inner.len() as u8 + 2,
            0x1a,
            inner.len() as u8,
        ];
        expected.extend(inner);
        assert_eq!(message.0, expected);
    }
}
