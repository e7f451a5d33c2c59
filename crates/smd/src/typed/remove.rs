//! Removing fields from a value.

use model::value::List;
use model::{Map, Value};

use super::{Atom, ListAtom, MapAtom, TypeRef};
use crate::fieldset::FieldSet;

impl TypeRef<'_> {
    /// Removes the fields, list elements and map entries of `set` from `value`. A list or map that lost all it held,
    /// or that is owned as a whole and has fields of `set` in it, becomes null, as in Kubernetes 1.35.
    pub fn remove_items(self, value: &mut Value, set: &FieldSet) {
        let is_left = match (self.atom(Some(value)), &mut *value) {
            (Atom::Scalar(_), _) => true,
            (Atom::List(list), Value::Array(items)) if !list.is_atomic() => list.remove(items, set),
            (Atom::Map(map), Value::Object(fields)) if !map.atomic => map.remove(fields, set),
            _ => false,
        };
        if !is_left {
            *value = Value::Null;
        }
    }
}

impl ListAtom<'_> {
    /// Returns whether anything is left.
    fn remove(&self, items: &mut List, set: &FieldSet) -> bool {
        items.retain_mut(|item| {
            let Some(node) = self.element(item).ok().and_then(|element| set.get(&element)) else {
                return true;
            };
            if !node.member && !node.below.is_empty() {
                self.item.remove_items(item, &node.below);
            }
            !node.member
        });
        !items.is_empty()
    }
}

impl MapAtom<'_> {
    fn remove(&self, fields: &mut Map, set: &FieldSet) -> bool {
        fields.retain(|name, value| {
            let Some(node) = set.get_field(name) else {
                return true;
            };
            if !node.member && !node.below.is_empty() {
                self.type_or_deduced(name).remove_items(value, &node.below);
            }
            !node.member
        });
        !fields.is_empty()
    }
}
