//! `unevaluatedProperties` and `unevaluatedItems`: parts of a value that no schema has looked at.

use std::collections::BTreeSet;

use model::{Map, Value};

use super::super::draft::Draft;
use super::{Findings, Schema, Validator};

/// What nothing has looked at yet, where somebody wants to know.
#[derive(Default)]
pub(super) struct Unevaluated {
    pub(super) properties: BTreeSet<String>,
    pub(super) items: BTreeSet<usize>,
}

impl Unevaluated {
    /// Everything that this schema does not look at by itself.
    pub(super) fn of(value: &Value, schema: &Map, draft: Draft, wanted: bool) -> Self {
        let mut rest = Unevaluated::default();
        match value {
            Value::Object(object)
                if !schema.contains_key("additionalProperties")
                    && (wanted || schema.contains_key("unevaluatedProperties")) =>
            {
                rest.properties = object.keys().map(str::to_owned).collect();
            }
            Value::Array(items) if wanted || schema.contains_key("unevaluatedItems") => {
                rest.items = (known_items(schema, draft, items.len())..items.len()).collect();
            }
            _ => {}
        }
        rest
    }

    pub(super) fn is_empty(&self) -> bool {
        self.properties.is_empty() && self.items.is_empty()
    }

    /// Keeps only what another schema has not looked at either.
    pub(super) fn keep(&mut self, other: &Unevaluated) {
        self.properties.retain(|name| other.properties.contains(name));
        self.items.retain(|at| other.items.contains(at));
    }
}

/// How many items from the first on a schema looks at.
fn known_items(schema: &Map, draft: Draft, length: usize) -> usize {
    let (list, rest) = match draft {
        Draft::Draft2020 => ("prefixItems", "items"),
        _ => ("items", "additionalItems"),
    };
    match (schema.get(list), schema.contains_key(rest)) {
        (_, true) => length,
        (Some(Value::Array(first)), false) => first.len().min(length),
        (Some(_), false) => length,
        (None, false) => 0,
    }
}

impl<'d> Validator<'d> {
    pub(super) fn left_over(
        &mut self,
        schema: Schema<'d>,
        map: &'d Map,
        value: &Value,
        found: &mut Findings,
    ) {
        if let (Value::Object(object), Some(below)) = (value, map.get("unevaluatedProperties")) {
            for name in std::mem::take(&mut found.unevaluated.properties) {
                if let Some(part) = object.get(&name) {
                    let done = self.part(schema, below, part, &name);
                    found.note(done);
                }
            }
        }
        if let (Value::Array(items), Some(below)) = (value, map.get("unevaluatedItems")) {
            for at in std::mem::take(&mut found.unevaluated.items) {
                let done = self.part(schema, below, &items[at], &at.to_string());
                found.note(done);
            }
        }
    }
}
