//! Objects that are nested more deeply than [`json::parse`] reads.
//!
//! An API server accepts 10,000 levels. One such object must not fail the list of all objects of its kind: where a page
//! cannot be read as a whole, its objects are read one by one, and of one that cannot be read what is not nested too deeply.

use std::collections::BTreeMap;

use model::value::List;
use model::{Map, Str, Value, json};
use serde::Deserialize;
use serde_json::value::RawValue;

/// A page and its objects.
pub(super) struct Split {
    /// The metadata of the list.
    pub(super) metadata: Value,
    /// The objects that can be read.
    pub(super) whole: List,
    /// What can be read of the others.
    pub(super) partial: List,
}

impl Split {
    /// A page that was read as a whole.
    pub(super) fn of(mut list: Value) -> Split {
        Split {
            metadata: list.get_mut("metadata").map(Value::take).unwrap_or_default(),
            whole: match list.get_mut("items").map(Value::take) {
                Some(Value::Array(items)) => items,
                _ => List::new(),
            },
            partial: List::new(),
        }
    }
}

#[derive(Deserialize)]
struct ListText<'a> {
    #[serde(borrow)]
    metadata: &'a RawValue,
    #[serde(borrow)]
    items: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct EventText<'a> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(borrow)]
    object: &'a RawValue,
}

/// Reads the objects of a list one by one; nothing where it is no list of objects.
pub(super) fn list(body: &[u8]) -> Option<Split> {
    let text = String::from_utf8_lossy(body);
    let list: ListText<'_> = serde_json::from_str(&text).ok()?;
    let (mut whole, mut partial) = (List::new(), List::new());
    for item in list.items {
        match read(item) {
            Some(object) => whole.push(object),
            None => partial.push(object(item)?),
        }
    }
    Some(Split {
        metadata: read(list.metadata)?,
        whole,
        partial,
    })
}

/// Reads an event with what can be read of its object; nothing where it is no event.
pub(super) fn event(line: &[u8]) -> Option<Value> {
    let text = String::from_utf8_lossy(line);
    let event: EventText<'_> = serde_json::from_str(&text).ok()?;
    let mut all = Map::new();
    all.insert("type", event.kind);
    all.insert("object", object(event.object)?);
    Some(Value::Object(all))
}

fn read(text: &RawValue) -> Option<Value> {
    json::parse(text.get().as_bytes()).ok()
}

/// The fields of an object, and of its metadata, that can be read.
fn object(text: &RawValue) -> Option<Value> {
    fields(text, |key, field| match key {
        "metadata" => fields(field, |_, _| None),
        _ => None,
    })
}

/// The fields of a map that can be read, and what `otherwise` makes of the others.
fn fields(text: &RawValue, otherwise: impl Fn(&str, &RawValue) -> Option<Value>) -> Option<Value> {
    let fields: BTreeMap<String, &RawValue> = serde_json::from_str(text.get()).ok()?;
    let fields = fields.into_iter().filter_map(|(key, field)| {
        let value = read(field).or_else(|| otherwise(&key, field))?;
        Some((Str::from(key), value))
    });
    let fields: Vec<(Str, Value)> = fields.collect();
    Some(Value::Object(Map::from_pairs(fields.into_iter())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(depth: usize) -> String {
        format!("{}{}", "{\"a\":".repeat(depth - 1) + "{", "}".repeat(depth))
    }

    fn thing(name: &str, spec: &str, managed: &str) -> String {
        format!(
            r#"{{"apiVersion":"example.com/v1","kind":"Thing","metadata":{{"labels":{{"a":"b"}},"managedFields":[{managed}],
            "name":"{name}","resourceVersion":"3","uid":"u"}},"spec":{spec},"status":{{"ready":true}}}}"#
        )
    }

    fn listed(items: &[String]) -> Split {
        let body = format!(
            r#"{{"kind":"ThingList","metadata":{{"continue":"more","resourceVersion":"9"}},"items":[{}]}}"#,
            items.join(",")
        );
        assert!(json::parse(body.as_bytes()).is_err());
        list(body.as_bytes()).unwrap()
    }

    #[test]
    fn objects_beside_one_that_is_nested_too_deeply_are_read() {
        for depth in [300, 10_000] {
            let bad = thing("bad", &nested(depth), &nested(depth));
            let Split {
                metadata,
                whole,
                partial,
            } = listed(&[thing("a", "{}", "{}"), bad, thing("b", "{}", "{}")]);
            assert_eq!(metadata.str_at(&["continue"]), "more");
            let names = |items: &List| -> Vec<String> {
                let names = items.iter().map(|item| item.str_at(&["metadata", "name"]));
                names.map(str::to_owned).collect()
            };
            assert_eq!(
                (names(&whole), names(&partial)),
                (vec!["a".into(), "b".into()], vec!["bad".into()])
            );
            let bad = json::to_string(&partial[0]);
            assert_eq!(
                bad,
                r#"{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"labels":{"a":"b"},"name":"bad","resourceVersion":"3","uid":"u"},"status":{"ready":true}}"#
            );
        }
    }

    #[test]
    fn what_is_no_list_is_not_read() {
        for body in [
            "",
            "{",
            "[]",
            r#"{"metadata":{},"items":[1e999]}"#,
            r#"{"metadata":{},"items":{}}"#,
        ] {
            assert!(list(body.as_bytes()).is_none(), "{body}");
        }
    }

    #[test]
    fn an_event_has_what_can_be_read_of_its_object() {
        let line = format!(
            r#"{{"type":"ADDED","object":{}}}"#,
            thing("bad", &nested(300), "{}")
        );
        let event = event(line.as_bytes()).unwrap();
        assert_eq!(event.str_at(&["type"]), "ADDED");
        assert_eq!(event.str_at(&["object", "metadata", "name"]), "bad");
        assert!(event.at(&["object", "spec"]).is_none());
    }
}
