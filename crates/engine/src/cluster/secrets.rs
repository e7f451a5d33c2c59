//! What must not be repeated in errors.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use model::{Value, json};

/// Shorter values are found in any message by chance.
const SHORTEST_SECRET: usize = 4;

/// The values of a Secret, or of a patch to one, in all the ways a message could repeat them.
pub(super) fn secrets(object: &Value) -> Vec<String> {
    let mut found = Vec::new();
    match object {
        // The operations of a JSON patch.
        Value::Array(operations) => operations
            .iter()
            .filter_map(|operation| operation.get("value"))
            .for_each(|value| texts(value, &mut found)),
        object => ["data", "stringData"]
            .into_iter()
            .filter_map(|field| object.get(field))
            .for_each(|value| texts(value, &mut found)),
    }
    let decoded = found.iter().filter_map(|text| STANDARD.decode(text).ok());
    let decoded: Vec<String> = decoded
        .filter_map(|bytes| String::from_utf8(bytes).ok())
        .collect();
    found.extend(decoded);
    let quoted: Vec<String> = found.iter().map(|text| model::quote::quote(text)).collect();
    found.extend(quoted.iter().map(|text| text.trim_matches('"').to_owned()));
    found.retain(|text| text.len() >= SHORTEST_SECRET);
    // The longest first: one may be part of another.
    found.sort_by_key(|text| std::cmp::Reverse(text.len()));
    found.dedup();
    found
}

fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Str(text) => found.push(text.to_string()),
        Value::Int(_) | Value::Float(_) | Value::Bool(_) => found.push(json::to_string(value)),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(map) => map.values().for_each(|item| texts(item, found)),
        Value::Null => {}
    }
}

#[cfg(test)]
mod tests {
    use model::value;

    use super::*;

    #[test]
    fn all_ways_to_write_a_secret_are_known() {
        let secret =
            value!({ "data": { "a": "aHVudGVyMg==" }, "stringData": { "b": "line\nbreak", "n": 12345 } });
        let found = secrets(&secret);
        for text in ["aHVudGVyMg==", "hunter2", "line\nbreak", "line\\nbreak", "12345"] {
            assert!(found.iter().any(|secret| secret == text), "{text:?} in {found:?}");
        }
        let patch = value!([{ "op": "add", "path": "/data/a", "value": "aHVudGVyMg==" }]);
        assert!(secrets(&patch).iter().any(|secret| secret == "hunter2"));
    }
}
