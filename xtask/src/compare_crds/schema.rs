//! A schema as a list of places and what is known of each.

use std::collections::BTreeMap;

use model::{Value, json};

/// One place in an object.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// `spec.include[].fromPath`; `{}` stands for any name.
    pub(super) path: String,
    /// What the schema says of it, but for its description: `type`, `pattern`, `required`, `rules`.
    pub(super) facts: BTreeMap<String, String>,
    /// The words that are allowed, if only some are.
    pub(super) words: Vec<String>,
}

impl Place {
    pub(super) fn is_required(&self) -> bool {
        self.facts.contains_key("required")
    }
}

/// All places of a schema, the whole object first.
pub(super) fn places(schema: &Value) -> Vec<Place> {
    let mut places = Vec::new();
    collect(&mut places, schema, String::new(), false);
    places
}

fn collect(into: &mut Vec<Place>, schema: &Value, path: String, required: bool) {
    let mut facts = BTreeMap::new();
    for (key, value) in schema.as_object().into_iter().flat_map(|map| map.iter()) {
        let fact = match key {
            "description" | "properties" | "items" | "additionalProperties" | "required" => continue,
            "x-kubernetes-validations" => ("rules".to_owned(), rules(value)),
            _ => (key.to_owned(), json::to_string(value)),
        };
        facts.insert(fact.0, fact.1);
    }
    if required {
        facts.insert("required".to_owned(), "true".to_owned());
    }
    let words = schema
        .list_at(&["enum"])
        .iter()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect();
    into.push(Place {
        path: path.clone(),
        facts,
        words,
    });

    let required: Vec<&str> = schema
        .list_at(&["required"])
        .iter()
        .filter_map(Value::as_str)
        .collect();
    for (name, field) in schema
        .at(&["properties"])
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(|map| map.iter())
    {
        let below = if path.is_empty() {
            name.to_owned()
        } else {
            format!("{path}.{name}")
        };
        collect(into, field, below, required.contains(&name));
    }
    if let Some(items) = schema.get("items") {
        collect(into, items, format!("{path}[]"), false);
    }
    if let Some(values) = schema
        .get("additionalProperties")
        .filter(|values| values.as_object().is_some())
    {
        collect(into, values, format!("{path}{{}}"), false);
    }
}

/// The rules in any order.
fn rules(value: &Value) -> String {
    let mut rules: Vec<String> = value
        .as_array()
        .into_iter()
        .flat_map(|rules| rules.iter().map(json::to_string))
        .collect();
    rules.sort();
    rules.join(" ")
}
