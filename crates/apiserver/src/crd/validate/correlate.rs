//! Which old value a new one belongs to, and whether it is still the same.

use std::collections::HashMap;

use model::{Str, Value};

use crate::crd::schema::{ListKind, Node};

/// The value that stood in the same place before an update.
#[derive(Clone, Copy, Debug)]
pub(super) enum Old<'v> {
    /// There was none, or it cannot be told which.
    None,
    /// This one.
    Same(&'v Value),
}

impl<'v> Old<'v> {
    /// Whether the old value is known and `value` is still the same.
    pub(super) fn is(self, value: &Value, schema: &Node) -> bool {
        matches!(self, Old::Same(old) if unchanged(value, old, schema))
    }

    /// The old value of a field.
    pub(super) fn field(self, name: &str) -> Old<'v> {
        match self {
            Old::Same(old) => old.get(name).map_or(Old::None, Old::Same),
            Old::None => Old::None,
        }
    }

    /// A way to find the old values of elements.
    pub(super) fn elements(self, schema: &Node) -> Elements<'v> {
        match self {
            Old::Same(old) => Elements::of(old, schema),
            Old::None => Elements::default(),
        }
    }
}

/// The elements of an old list by their keys. Only lists that are maps have them.
#[derive(Default)]
pub(crate) struct Elements<'v> {
    by_key: HashMap<String, &'v Value>,
    keys: Vec<Str>,
}

impl<'v> Elements<'v> {
    /// The elements of `list`.
    pub(crate) fn of(list: &'v Value, schema: &Node) -> Elements<'v> {
        let Value::Array(items) = list else {
            return Elements::default();
        };
        if schema.list != ListKind::Map {
            return Elements::default();
        }
        let mut elements = Elements {
            by_key: HashMap::with_capacity(items.len()),
            keys: schema.map_keys.clone(),
        };
        for item in items {
            if let Some(key) = map_key(item, &elements.keys) {
                // Of equal keys the first counts.
                elements.by_key.entry(key).or_insert(item);
            }
        }
        elements
    }

    /// The old value of the element that is `item` now.
    pub(crate) fn get(&self, item: &Value) -> Option<&'v Value> {
        if self.by_key.is_empty() {
            return None;
        }
        self.by_key.get(&map_key(item, &self.keys)?).copied()
    }
}

/// Whether a value is as it was, as far as its schema knows it: what it does not know is taken for changed.
pub(crate) fn unchanged(value: &Value, old: &Value, schema: &Node) -> bool {
    match (value, old) {
        (Value::Array(items), Value::Array(old_items)) => match (&schema.items, schema.list) {
            _ if items.len() != old_items.len() => false,
            (Some(node), ListKind::Map) => {
                let elements = Elements::of(old, schema);
                items
                    .iter()
                    .all(|item| elements.get(item).is_some_and(|old| unchanged(item, old, node)))
            }
            _ => items == old_items,
        },
        (Value::Object(map), Value::Object(old)) => {
            let same = |(name, value): (&str, &Value)| match (old.get(name), schema.member(name)) {
                (Some(old), Some(node)) => unchanged(value, old, node),
                _ => false,
            };
            map.len() == old.len() && map.iter().all(same)
        }
        (value, old) => value == old,
    }
}

/// The key of an element of a map list, as text; `None` where a part of it is missing or no single value.
fn map_key(item: &Value, keys: &[Str]) -> Option<String> {
    let mut text = String::new();
    for key in keys {
        match item.get(key)? {
            Value::Null | Value::Array(_) | Value::Object(_) => return None,
            part => text.push_str(&model::json::to_string(part)),
        }
        // JSON texts hold no line breaks, so that keys cannot run into one another.
        text.push('\n');
    }
    Some(text)
}
