//! An object with everything that a schema allows.

use serde_json::{Map, Value, json};

/// Texts that match the patterns which plain words do not.
const TEXTS: [(&str, &str); 9] = [
    ("^([0-9]+", "1m0s"),
    ("^[-+]?(0|", "1m0s"),
    (
        "^[a-z0-9]+(?:[.+_-]",
        "sha256:6bb8ee2ee6ec0d4a4dd8cbe3b2d0ac3f3b3f1d1c2b3a49586776655443322110",
    ),
    ("^(http|https|ssh)://", "https://example.com/app"),
    ("^(http|https|oci)://", "https://example.com/charts"),
    ("^(http|https)://", "https://example.com/sts"),
    ("^https?://", "https://example.com/issuer"),
    ("^@(artifact)/", "@artifact/word"),
    ("^oci://", "oci://example.com/app"),
];

/// A value with every field that the schema names, one element in each list and one entry in each map.
pub(crate) fn of(schema: &Value) -> Value {
    if let Some(words) = schema["enum"].as_array() {
        return words[0].clone();
    }
    match schema["type"].as_str() {
        Some("object") => object(schema),
        Some("array") => json!([of(&schema["items"])]),
        Some("integer") => json!(3),
        Some("boolean") => json!(true),
        Some("string") => json!(text(schema)),
        _ => json!({"any": [1, "b"]}),
    }
}

fn object(schema: &Value) -> Value {
    if schema["additionalProperties"].is_object() {
        return json!({"key": of(&schema["additionalProperties"])});
    }
    let fields = schema["properties"].as_object().into_iter().flatten();
    let fields = fields.map(|(name, schema)| (name.clone(), field(name, schema)));
    Value::Object(fields.collect::<Map<_, _>>())
}

/// Texts whose form no schema tells: durations have no pattern in a status, and entries of an inventory have none.
fn field(name: &str, schema: &Value) -> Value {
    match (name, schema["type"].as_str()) {
        ("id", Some("string")) => json!("apps_web_apps_Deployment"),
        (name, Some("string")) if name.ends_with("Duration") => json!("1m0s"),
        _ => of(schema),
    }
}

fn text(schema: &Value) -> String {
    if schema["format"] == "date-time" {
        return "2026-01-02T03:04:05Z".into();
    }
    let pattern = schema["pattern"].as_str().unwrap_or_default();
    let known = TEXTS.iter().find(|(start, _)| pattern.starts_with(start));
    known.map_or("word", |(_, text)| text).to_owned()
}
