//! Merging one value into another.

use model::{Map, Value};

use super::{Atom, MapAtom, TypeRef};

impl TypeRef<'_> {
    /// Merges `config` into `live`: what `config` mentions wins, all else stays. Nothing is removed.
    ///
    /// The elements of merged lists are ordered as in `config` where it changes their order, else as in `live`.
    pub fn merge(self, live: &mut Value, config: &Value) {
        match self.atom(Some(config)) {
            Atom::Scalar(_) => live.clone_from(config),
            Atom::List(list) => match (live, config) {
                (Value::Array(live), Value::Array(config)) if !list.is_atomic() && !live.is_empty() => {
                    list.merge(live, config);
                }
                // Null stands for an empty list, which adds nothing.
                (Value::Array(live), Value::Null) if !list.is_atomic() && !live.is_empty() => {}
                (live, config) => live.clone_from(config),
            },
            Atom::Map(map) => match (live, config) {
                (Value::Object(live), Value::Object(config)) if !map.atomic && !live.is_empty() => {
                    map.merge(live, config);
                }
                (Value::Object(live), Value::Null) if !map.atomic && !live.is_empty() => {}
                (live, config) => live.clone_from(config),
            },
        }
    }
}

impl MapAtom<'_> {
    fn merge(&self, live: &mut Map, config: &Map) {
        for (name, value) in config.iter() {
            match live.get_mut(name) {
                Some(live) => self.type_or_deduced(name).merge(live, value),
                None => drop(live.insert(name, value.clone())),
            }
        }
    }
}
