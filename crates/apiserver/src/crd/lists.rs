//! Elements of lists that are sets or maps are there only once.

use std::collections::HashMap;

use model::{Map, Value};

use super::schema::{ListKind, Node};
use crate::field;

/// All elements that stand twice in lists of the object.
pub(crate) fn duplicates(object: &Value, schema: &Node) -> Vec<field::Error> {
    let mut errors = Vec::new();
    walk(object, schema, &mut String::new(), &mut errors);
    errors
}

fn walk(value: &Value, schema: &Node, path: &mut String, errors: &mut Vec<field::Error>) {
    let length = path.len();
    match value {
        Value::Object(map) => {
            for (key, value) in map.iter() {
                if let Some(node) = schema.additional.node() {
                    path.push_str(&format!("[{key}]"));
                    walk(value, node, path, errors);
                    path.truncate(length);
                }
                if let Some(node) = schema.field(key) {
                    if length > 0 {
                        path.push('.');
                    }
                    path.push_str(key);
                    walk(value, node, path, errors);
                    path.truncate(length);
                }
            }
        }
        Value::Array(items) => {
            match schema.list {
                ListKind::Atomic => {}
                ListKind::Set => {
                    for at in repeated(items.iter().map(model::json::to_string)) {
                        errors.push(field::Error::duplicate(format!("{path}[{at}]"), &items[at]));
                    }
                }
                ListKind::Map => repeated_keys(items, schema, path, errors),
            }
            let Some(node) = &schema.items else { return };
            for (at, item) in items.iter().enumerate() {
                path.push_str(&format!("[{at}]"));
                walk(item, node, path, errors);
                path.truncate(length);
            }
        }
        _ => {}
    }
}

fn repeated_keys(items: &[Value], schema: &Node, path: &str, errors: &mut Vec<field::Error>) {
    let stranger = items
        .iter()
        .position(|item| !matches!(item, Value::Object(_) | Value::Null));
    if let Some(at) = stranger {
        let detail = "must be an object for an array of list-type map";
        errors.push(field::Error::invalid(format!("{path}[{at}]"), &items[at], detail));
        return;
    }
    let keys: Vec<Value> = items
        .iter()
        .map(|item| {
            let present = schema
                .map_keys
                .iter()
                .filter_map(|key| Some((key, item.get(key)?.clone())));
            Value::Object(present.collect::<Map>())
        })
        .collect();
    for at in repeated(keys.iter().map(model::json::to_string)) {
        errors.push(field::Error::duplicate(format!("{path}[{at}]"), &keys[at]));
    }
}

/// The places where something stands for the second time. Third and later times are not told.
fn repeated(items: impl Iterator<Item = String>) -> Vec<usize> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut repeated = Vec::new();
    for (at, item) in items.enumerate() {
        let times = seen.entry(item).or_default();
        *times += 1;
        if *times == 2 {
            repeated.push(at);
        }
    }
    repeated
}
