//! Maps and lists.

use model::{Map, Value};

use super::Validation;
use super::correlate::Old;
use super::failure::{Failure, Outcome};
use crate::crd::schema::{Additional, Node};

impl Validation {
    /// Number, names and values of fields.
    pub(super) fn object(&mut self, map: &Map, schema: &Node, old: Old<'_>) -> Outcome {
        let mut outcome = Outcome::default();
        if let Some(checks) = &schema.checks {
            if let Some(least) = checks.min_properties.filter(|least| (map.len() as i64) < *least) {
                let problem = format!("should have at least {least} properties");
                outcome.extend(Some(Failure::invalid(
                    &self.path,
                    &Value::Int(map.len() as i64),
                    &problem,
                )));
            }
            if let Some(most) = checks.max_properties.filter(|most| map.len() as i64 > *most) {
                outcome.extend(Some(Failure::too_many(&self.path, map.len(), most, "properties")));
            }
        }
        match &schema.additional {
            Additional::Any(false) => {
                for key in map.keys().filter(|key| schema.field(key).is_none()) {
                    let path = &self.path;
                    let text = format!("{path}.{key} in body is a forbidden property");
                    outcome.extend(Some(Failure::worded(path, &Value::str(key), text)));
                }
            }
            Additional::Of(node) => {
                for (key, value) in map.iter().filter(|(key, _)| schema.field(key).is_none()) {
                    // Unlike for known fields, the dot is written even where nothing stands before it.
                    outcome.merge(self.member(value, node, old.field(key), &format!(".{key}")));
                }
            }
            _ => {}
        }
        for (name, node) in &schema.fields {
            let Some(value) = map.get(name) else { continue };
            let is_root = self.path.is_empty();
            let step = if is_root {
                name.to_string()
            } else {
                format!(".{name}")
            };
            // The type of an object cannot change, so that a wrong one is never excused.
            let old = if is_root && matches!(name.as_str(), "kind" | "apiVersion") {
                Old::None
            } else {
                old.field(name)
            };
            outcome.merge(self.member(value, node, old, &step));
        }
        for name in schema.required.iter().filter(|name| !map.contains_key(name)) {
            outcome.extend(Some(Failure::required(&self.path, name)));
        }
        outcome
    }

    /// Number and values of elements.
    pub(super) fn list(&mut self, items: &[Value], schema: &Node, old: Old<'_>) -> Outcome {
        let mut outcome = Outcome::default();
        if let Some(node) = &schema.items {
            let elements = old.elements(schema);
            for (at, item) in items.iter().enumerate() {
                outcome.merge(self.member(
                    item,
                    node,
                    elements.get(item).map_or(Old::None, Old::Same),
                    &format!("[{at}]"),
                ));
            }
        }
        if let Some(checks) = &schema.checks {
            if let Some(least) = checks.min_items.filter(|least| (items.len() as i64) < *least) {
                let problem = format!("should have at least {least} items");
                outcome.extend(Some(Failure::invalid(
                    &self.path,
                    &Value::Int(items.len() as i64),
                    &problem,
                )));
            }
            if let Some(most) = checks.max_items.filter(|most| items.len() as i64 > *most) {
                outcome.extend(Some(Failure::too_many(&self.path, items.len(), most, "items")));
            }
        }
        outcome
    }

    /// Checks a value one step further down.
    fn member(&mut self, value: &Value, schema: &Node, old: Old<'_>, step: &str) -> Outcome {
        let length = self.path.len();
        self.path.push_str(step);
        let outcome = self.correlated(value, schema, old);
        self.path.truncate(length);
        outcome
    }
}
