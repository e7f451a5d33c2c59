//! Merging one value into another.

use model::value::List;
use model::{Map, Value};

use super::compare::{Change, change};
use super::{Atom, Comparison, ListAtom, MapAtom, TypeRef};
use crate::fieldset::PathElement;

impl TypeRef<'_> {
    /// Merges `config` into `live`: what `config` mentions wins, all else stays. Nothing is removed. Returns what
    /// changed, as [`TypeRef::compare`] would find it.
    ///
    /// The elements of merged lists are ordered as in `config` where it changes their order, else as in `live`.
    pub fn merge(self, live: &mut Value, config: &Value) -> Comparison {
        merge(self, live, config).into_comparison()
    }
}

/// Merges and tells what changed. Only what `config` mentions is looked at.
pub(super) fn merge(ty: TypeRef<'_>, live: &mut Value, config: &Value) -> Change {
    match (ty.atom(Some(config)), &mut *live, config) {
        (Atom::List(list), Value::Array(live), Value::Array(config)) if has_parts(list, live) => {
            list.merge(live, config)
        }
        (Atom::Map(map), Value::Object(live), Value::Object(config)) if !map.atomic && !live.is_empty() => {
            map.merge(live, config)
        }
        // Null stands for an empty list or map, which adds nothing.
        (Atom::List(list), Value::Array(live), Value::Null) if has_parts(list, live) => Change::default(),
        (Atom::Map(map), Value::Object(live), Value::Null) if !map.atomic && !live.is_empty() => {
            Change::default()
        }
        (_, live, config) if live == config => Change::default(),
        (_, live, config) => {
            let found = change(ty, Some(live), Some(config));
            live.clone_from(config);
            found
        }
    }
}

fn has_parts(list: ListAtom<'_>, items: &List) -> bool {
    !list.is_atomic() && !items.is_empty()
}

impl MapAtom<'_> {
    fn merge(&self, live: &mut Map, config: &Map) -> Change {
        let mut changed = Change::default();
        for (name, value) in config.iter() {
            let ty = self.type_or_deduced(name);
            let found = match live.get_mut(name) {
                Some(live) => merge(ty, live, value),
                None => {
                    live.insert(name, value.clone());
                    change(ty, None, Some(value))
                }
            };
            changed.add(|| PathElement::field(name), found);
        }
        changed
    }
}
