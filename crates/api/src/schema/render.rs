//! A schema as the `openAPIV3Schema` of a definition.

use model::{Map, Value};

use super::{Field, Presence, Schema};

/// Which kind of version a schema is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edition {
    /// The version that is stored: all that is checked.
    Current,
    /// A version that is served for manifests which still use it: types, words, defaults and fields that must be there.
    Older,
}

/// What later versions came to check. An object that was good before must not be refused for it.
const NOT_IN_OLDER: [&str; 7] = [
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
];

impl Schema {
    /// The `openAPIV3Schema` of this for an edition.
    pub fn render(&self, edition: Edition) -> Value {
        let mut value = Map::new();
        if !self.description.is_empty() {
            value.insert("description", self.description.as_str());
        }
        for (key, check) in &self.checks {
            if edition == Edition::Current || !NOT_IN_OLDER.contains(key) {
                value.insert(key, check.clone());
            }
        }
        if edition == Edition::Older {
            for (key, check) in &self.older {
                value.insert(key, check.clone());
            }
        }
        if let Some(items) = &self.items {
            value.insert("items", items.render(edition));
        }
        if let Some(values) = &self.values {
            value.insert("additionalProperties", values.render(edition));
        }
        if !self.fields.is_empty() {
            self.render_fields(&mut value, edition);
        }
        if edition == Edition::Current && !self.rules.is_empty() {
            value.insert("x-kubernetes-validations", self.render_rules());
        }
        value.sort();
        Value::from(value)
    }

    fn render_fields(&self, value: &mut Map, edition: Edition) {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for field in &self.fields {
            properties.insert(&field.name, field.schema.render(edition));
            if field.must_be_there(edition) {
                required.push(field.name.as_str());
            }
        }
        properties.sort();
        required.sort_unstable();
        value.insert("properties", properties);
        if !required.is_empty() {
            value.insert("required", required.into_iter().collect::<Value>());
        }
    }

    fn render_rules(&self) -> Value {
        let rules = self.rules.iter().map(|rule| {
            let mut value = Map::new();
            value.insert("message", rule.message);
            value.insert("rule", rule.rule.as_str());
            Value::from(value)
        });
        rules.collect()
    }
}

impl Field {
    fn must_be_there(&self, edition: Edition) -> bool {
        match self.presence {
            Presence::Required => true,
            Presence::Needed => edition == Edition::Current,
            Presence::Optional | Presence::Older => false,
        }
    }
}
