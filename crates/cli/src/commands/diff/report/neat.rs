//! YAML for people: what identifies a thing comes first, what is long comes last, and hardly anything is in quotes.

use model::{Map, Value};

/// Keys that come first in a map, in the order that shares most with it.
const ORDERS: [&[&str]; 9] = [
    &["name", "releases", "networks"],
    &["name", "url", "version"],
    &["jobs", "resources"],
    &["name", "type", "source"],
    &["configuration", "variables"],
    &["auth", "templates"],
    &["apiVersion", "kind", "metadata", "spec", "status"],
    &["key"],
    &["id"],
];

/// A map or list as YAML.
pub(super) fn yaml(value: &Value) -> String {
    let mut text = String::new();
    write(&ordered(value), "", false, &mut text);
    text
}

/// A value as it stands after a sign.
pub(super) fn one(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        value => yaml(value).trim_end_matches('\n').to_owned(),
    }
}

/// What an entry of a list is called where the order is told.
pub(super) fn name(value: &Value) -> String {
    match value {
        Value::Str(text) if !text.is_empty() => text.to_string(),
        value => one(value),
    }
}

fn write(value: &Value, prefix: &str, on_line: bool, out: &mut String) {
    let deeper = format!("{prefix}  ");
    match value {
        Value::Array(items) => {
            for (place, item) in items.iter().enumerate() {
                if place > 0 || !on_line {
                    out.push_str(prefix);
                }
                out.push_str("- ");
                write(item, &deeper, true, out);
            }
        }
        Value::Object(map) => {
            for (place, (key, value)) in map.iter().enumerate() {
                if place > 0 || !on_line {
                    out.push_str(prefix);
                }
                out.push_str(key);
                out.push(':');
                match value {
                    Value::Array(items) if items.is_empty() => out.push_str(" []\n"),
                    Value::Object(map) if map.is_empty() => out.push_str(" {}\n"),
                    Value::Array(_) => {
                        out.push('\n');
                        write(value, prefix, false, out);
                    }
                    Value::Object(_) => {
                        out.push('\n');
                        write(value, &deeper, false, out);
                    }
                    _ => {
                        out.push(' ');
                        write(value, &deeper, false, out);
                    }
                }
            }
        }
        value => {
            out.push_str(&scalar(value, prefix));
            out.push('\n');
        }
    }
}

fn scalar(value: &Value, prefix: &str) -> String {
    match value {
        Value::Str(text) if text.contains('\n') => {
            let lines: Vec<String> = text.split('\n').map(|line| format!("{prefix}{line}")).collect();
            format!("|\n{}", lines.join("\n"))
        }
        Value::Str(text) if needs_quotes(text) => format!("{:?}", text.as_str()),
        Value::Str(text) => text.to_string(),
        Value::Float(number) => yaml::go::float(*number),
        other => model::json::to_string(other),
    }
}

/// Whether a text could be taken for something else. Numbers are read as people mean them, as flux has it.
fn needs_quotes(text: &str) -> bool {
    matches!(
        text,
        "true" | "false" | "null" | ".nan" | ".inf" | "-.inf" | "+.inf"
    ) || text.starts_with('-')
        || text.contains([' ', '*', '&', ':', ','])
}

fn ordered(value: &Value) -> Value {
    match value {
        Value::Array(items) => Value::from(items.iter().map(ordered).collect::<Vec<_>>()),
        Value::Object(map) => Value::Object(ordered_map(map)),
        value => value.clone(),
    }
}

fn ordered_map(map: &Map) -> Map {
    let shared = |order: &[&str]| order.iter().filter(|key| map.contains_key(key)).count();
    let most = ORDERS.iter().map(|order| shared(order)).max().unwrap_or_default();
    let order = ORDERS.iter().find(|order| most > 0 && shared(order) == most);
    let mut keys: Vec<&str> = map.keys().collect();
    if let Some(order) = order {
        let rank = |key: &str| order.iter().position(|known| *known == key);
        keys.sort_by_key(|key| match (rank(key), map.get(key)) {
            (Some(place), _) => (0, place),
            (None, value) => (1, value.map_or(0, depth)),
        });
    }
    let mut anew = Map::new();
    for key in keys {
        if let Some(value) = map.get(key) {
            anew.push(key.into(), ordered(value));
        }
    }
    anew
}

/// How deep a value is nested.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(|item| 1 + depth(item)).max().unwrap_or_default(),
        Value::Object(map) => map
            .values()
            .map(|value| 1 + depth(value))
            .max()
            .unwrap_or_default(),
        _ => 0,
    }
}
