//! The fields of events and spans as JSON.

use std::error::Error;
use std::fmt::Debug;

use serde_json::{Map, Value};
use tracing::field::{Field, Visit};

/// The message and what else is known.
#[derive(Default)]
pub(super) struct Fields {
    pub(super) message: String,
    pub(super) values: Map<String, Value>,
}

impl Fields {
    /// Adds what a span further out knows.
    pub(super) fn add_missing(&mut self, outer: &Fields) {
        for (key, value) in &outer.values {
            if !self.values.contains_key(key) {
                self.values.insert(key.clone(), value.clone());
            }
        }
    }

    fn put(&mut self, field: &Field, value: Value) {
        match (field.name(), value) {
            ("message", Value::String(text)) => self.message = text,
            ("message", value) => self.message = value.to_string(),
            (name, value) => drop(self.values.insert(name.to_owned(), value)),
        }
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.put(field, format!("{value:?}").into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, value.into());
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        let mut text = value.to_string();
        let mut cause = value.source();
        while let Some(error) = cause {
            text.push_str(": ");
            text.push_str(&error.to_string());
            cause = error.source();
        }
        self.put(field, text.into());
    }
}
