//! The cells that many tables share.

use jiff::Timestamp;
use model::{Map, Value};

use super::duration;

/// What stands where nothing is set.
pub(super) const NONE: &str = "<none>";
/// What stands where a default applies that nobody chose.
pub(super) const UNSET: &str = "<unset>";
/// What stands where something could not be found out.
pub(super) const UNKNOWN: &str = "<unknown>";

/// The object's name.
pub(super) fn name(object: &Value) -> Value {
    text(object, &["metadata", "name"])
}

/// How long ago the object was created.
pub(super) fn age(object: &Value, now: Timestamp) -> Value {
    Value::from(duration::since(
        object.at(&["metadata", "creationTimestamp"]),
        now,
    ))
}

/// The text at `path`; empty where there is none.
pub(super) fn text(object: &Value, path: &[&str]) -> Value {
    Value::str(object.str_at(path))
}

/// The text at `path`, or `missing` where the field is not set.
pub(super) fn text_or(object: &Value, path: &[&str], missing: &str) -> Value {
    Value::str(object.at(path).and_then(Value::as_str).unwrap_or(missing))
}

/// The text at `path`, or `empty` where the field is not set or empty.
pub(super) fn filled_or(object: &Value, path: &[&str], empty: &str) -> Value {
    match object.str_at(path) {
        "" => Value::str(empty),
        text => Value::str(text),
    }
}

/// The whole number at `path`; 0 where there is none.
pub(super) fn int(object: &Value, path: &[&str]) -> i64 {
    object.at(path).and_then(Value::as_i64).unwrap_or(0)
}

/// The whole number at `path` as a cell.
pub(super) fn number(object: &Value, path: &[&str]) -> Value {
    Value::Int(int(object, path))
}

/// The flag at `path`, or `missing` where it is not set.
pub(super) fn flag_or(object: &Value, path: &[&str], missing: bool) -> Value {
    Value::Bool(object.at(path).and_then(Value::as_bool).unwrap_or(missing))
}

/// How many elements the list or map at `path` has.
pub(super) fn len(object: &Value, path: &[&str]) -> Value {
    let len = match object.at(path) {
        Some(Value::Array(items)) => items.len(),
        Some(Value::Object(map)) => map.len(),
        _ => 0,
    };
    Value::Int(i64::try_from(len).unwrap_or(i64::MAX))
}

/// A field that is a number or a text, as text.
pub(super) fn int_or_string(value: &Value) -> String {
    match value {
        Value::Int(number) => number.to_string(),
        other => other.as_str().unwrap_or_default().to_owned(),
    }
}

/// An amount as text. Stored amounts are in their shortest form already.
pub(super) fn quantity(value: Option<&Value>, missing: &str) -> String {
    value.map_or_else(|| missing.to_owned(), int_or_string)
}

/// The map at `path`; `None` where there is none.
pub(super) fn map<'a>(object: &'a Value, path: &[&str]) -> Option<&'a Map> {
    object.at(path).and_then(Value::as_object)
}

/// The strings at `path`, joined.
pub(super) fn joined(object: &Value, path: &[&str], separator: &str) -> String {
    let texts: Vec<&str> = object.list_at(path).iter().filter_map(Value::as_str).collect();
    texts.join(separator)
}

/// The names and the images of the containers at `path`.
pub(super) fn containers(object: &Value, path: &[&str]) -> [Value; 2] {
    let containers = object.list_at(path);
    ["name", "image"].map(|field| {
        let texts: Vec<&str> = containers
            .iter()
            .map(|container| container.str_at(&[field]))
            .collect();
        Value::from(texts.join(","))
    })
}

/// The condition of type `kind`.
pub(super) fn condition<'a>(object: &'a Value, kind: &str) -> Option<&'a Value> {
    object
        .list_at(&["status", "conditions"])
        .iter()
        .find(|condition| condition.str_at(&["type"]) == kind)
}

/// Whether the condition of type `kind` is there and true.
pub(super) fn condition_is_true(object: &Value, kind: &str) -> bool {
    condition(object, kind).is_some_and(|condition| condition.str_at(&["status"]) == "True")
}

/// Whether the object is being deleted.
pub(super) fn is_deleted(object: &Value) -> bool {
    object
        .at(&["metadata", "deletionTimestamp"])
        .is_some_and(|time| !time.is_null())
}

/// At most `max` of `items`, and how many more there are; `empty` where there are none.
pub(super) fn first_of(items: &[String], max: usize, empty: &str) -> String {
    if items.len() > max {
        return format!("{} + {} more...", items[..max].join(","), items.len() - max);
    }
    match items.join(",") {
        text if text.is_empty() => empty.to_owned(),
        text => text,
    }
}
