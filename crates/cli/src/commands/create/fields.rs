//! Specs out of flags: what was not said is not there.

use serde_json::{Map, Value, json};

/// The fields of an object.
#[derive(Default)]
pub(super) struct Fields(Map<String, Value>);

impl Fields {
    /// With a field, whatever it is.
    pub(super) fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.0.insert(field.to_owned(), value.into());
        self
    }

    /// With a text, unless it is missing or empty.
    pub(super) fn text(self, field: &str, value: Option<&str>) -> Self {
        match value.filter(|value| !value.is_empty()) {
            Some(value) => self.with(field, value),
            None => self,
        }
    }

    /// With a flag that is set.
    pub(super) fn flag(self, field: &str, value: bool) -> Self {
        match value {
            true => self.with(field, true),
            false => self,
        }
    }

    /// With a reference to an object of a name.
    pub(super) fn named(self, field: &str, name: Option<&str>) -> Self {
        match name.filter(|name| !name.is_empty()) {
            Some(name) => self.with(field, json!({"name": name})),
            None => self,
        }
    }

    /// With a value that is there.
    pub(super) fn maybe(self, field: &str, value: Option<Value>) -> Self {
        match value {
            Some(value) => self.with(field, value),
            None => self,
        }
    }

    /// With lines, unless there are none.
    pub(super) fn lines(self, field: &str, lines: &[String]) -> Self {
        match lines.is_empty() {
            true => self,
            false => self.with(field, lines.join("\n")),
        }
    }
}

impl From<Fields> for Value {
    fn from(Fields(map): Fields) -> Value {
        Value::Object(map)
    }
}
