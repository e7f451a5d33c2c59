//! Taking only some fields out of a value.

use model::value::List;
use model::{Map, Value};

use super::{Atom, ListAtom, MapAtom, TypeRef};
use crate::fieldset::{FieldSet, PathElement};

impl TypeRef<'_> {
    /// What `value` holds of the fields in `set`; null where it holds none. Lists and maps that are owned as a whole
    /// come out whole, and list elements come with the fields that tell them apart.
    pub fn extract_items(self, value: &Value, set: &FieldSet) -> Value {
        match (self.atom(Some(value)), value) {
            (Atom::List(list), Value::Array(items)) if !list.is_atomic() && !items.is_empty() => {
                list.extract(items, set)
            }
            (Atom::Map(map), Value::Object(fields)) if !map.atomic && !fields.is_empty() => {
                map.extract(fields, set)
            }
            (Atom::Scalar(_), value) => value.clone(),
            (Atom::List(_), value @ Value::Array(_)) | (Atom::Map(_), value @ Value::Object(_)) => {
                value.clone()
            }
            _ => Value::Null,
        }
    }
}

impl ListAtom<'_> {
    fn extract(&self, items: &List, set: &FieldSet) -> Value {
        let mut out = List::new();
        for item in items {
            let Ok(element) = self.element(item) else { continue };
            let Some(node) = set.get(&element) else { continue };
            if node.below.is_empty() {
                out.push(item.clone());
                continue;
            }
            let mut part = self.item.extract_items(item, &node.below);
            if let PathElement::Key(keys) = &element {
                let part = part.make_object();
                for (name, value) in keys.iter().filter(|(name, _)| item.get(name).is_some()) {
                    part.insert(name, value.clone());
                }
            }
            out.push(part);
        }
        if out.is_empty() {
            Value::Null
        } else {
            Value::Array(out)
        }
    }
}

impl MapAtom<'_> {
    fn extract(&self, fields: &Map, set: &FieldSet) -> Value {
        let mut out = Map::new();
        for (name, value) in fields.iter() {
            let Some(node) = set.get_field(name) else { continue };
            let part = match node.below.is_empty() {
                true => value.clone(),
                false => self.type_or_deduced(name).extract_items(value, &node.below),
            };
            out.insert(name, part);
        }
        if out.is_empty() {
            Value::Null
        } else {
            Value::Object(out)
        }
    }
}
