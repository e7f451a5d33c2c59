//! Maps, which others see change.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use arcstr::ArcStr;
use parking_lot::RwLock;

use super::{Type, Value, drop};
use crate::function::Function;

/// A map from strings to values that is shared: what `set` or `merge` change in it, all see who have it.
///
/// Keys are in order, as Go prints and ranges over them. No lock is held while other code runs: readers take out what they
/// need, and pay one counter per value.
#[derive(Clone)]
pub struct Map(Arc<Data>);

struct Data {
    element: Type,
    is_nil: bool,
    class: Option<&'static dyn Class>,
    entries: RwLock<BTreeMap<ArcStr, Value>>,
}

/// A named map type of Go, with its methods: `chartutil.Values` is one.
pub trait Class: Send + Sync {
    /// The type as `%T` prints it.
    fn type_name(&self) -> &'static str;

    /// The method of that name. It finds the map in [`Call::receiver`](crate::Call::receiver).
    fn method(&self, name: &str) -> Option<&Function> {
        let _ = name;
        None
    }
}

impl Map {
    /// The bytes that the first entry of a map takes: room for eleven.
    pub(crate) const NODE: usize = 11 * size_of::<(ArcStr, Value)>() + 32;

    /// The bytes that a map of so many entries takes, without its keys and what the values share.
    pub const fn size(entries: usize) -> usize {
        // What counts the references, and what the heap needs around it.
        let empty = size_of::<Data>() + 32;
        match entries {
            0 => empty,
            1..=11 => empty + Map::NODE,
            // Nodes are full by two thirds.
            _ => empty + entries.saturating_mul(3 * size_of::<(ArcStr, Value)>() / 2),
        }
    }

    /// An empty `map[string]interface {}`.
    pub fn new() -> Map {
        Map::from_entries(BTreeMap::new())
    }

    /// An empty map to elements of one type, which the caller keeps to.
    pub fn of(element: Type) -> Map {
        Map(Arc::new(Data {
            element,
            is_nil: false,
            class: None,
            entries: RwLock::default(),
        }))
    }

    /// `nil` of a map type: without entries, and nothing can be put into it.
    pub fn nil(element: Type) -> Map {
        Map(Arc::new(Data {
            element,
            is_nil: true,
            class: None,
            entries: RwLock::default(),
        }))
    }

    /// A `map[string]interface {}` with these entries.
    pub fn from_entries(entries: BTreeMap<ArcStr, Value>) -> Map {
        Map(Arc::new(Data {
            element: Type::Any,
            is_nil: false,
            class: None,
            entries: RwLock::new(entries),
        }))
    }

    /// A map of a named type with methods.
    pub fn with_class(class: &'static dyn Class, entries: BTreeMap<ArcStr, Value>) -> Map {
        Map(Arc::new(Data {
            element: Type::Any,
            is_nil: false,
            class: Some(class),
            entries: RwLock::new(entries),
        }))
    }

    /// An empty map of the same type.
    pub(crate) fn empty_like(&self) -> Map {
        Map(Arc::new(Data {
            element: self.0.element,
            is_nil: false,
            class: self.0.class,
            entries: RwLock::default(),
        }))
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<Value> {
        self.0.entries.read().get(key).cloned()
    }

    /// Whether there is that key.
    pub fn contains(&self, key: &str) -> bool {
        self.0.entries.read().contains_key(key)
    }

    /// Puts a value in, for all to see. Nothing can be put into a nil map: it answers `false`.
    ///
    /// A map that is put into itself, however deep, is never freed unless somebody empties it: inside of templates the
    /// [`Session`](crate::Session) does.
    pub fn insert(&self, key: impl Into<ArcStr>, value: Value) -> bool {
        if self.0.is_nil {
            return false;
        }
        // What was there is dropped after the lock is given back: its own dropping may be long.
        let previous = self.0.entries.write().insert(key.into(), value);
        drop(previous);
        true
    }

    /// Takes a key out, for all to see.
    pub fn remove(&self, key: &str) -> Option<Value> {
        self.0.entries.write().remove(key)
    }

    /// Takes all keys out, for all to see.
    pub fn clear(&self) {
        let entries = std::mem::take(&mut *self.0.entries.write());
        drop(entries);
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        self.0.entries.read().len()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All keys and values as they are now, in order of the keys.
    pub fn entries(&self) -> Vec<(ArcStr, Value)> {
        let entries = self.0.entries.read();
        entries
            .iter()
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    }

    /// All keys as they are now, in order.
    pub fn keys(&self) -> Vec<ArcStr> {
        self.0.entries.read().keys().cloned().collect()
    }

    /// All values as they are now, in order of their keys.
    pub fn values(&self) -> Vec<Value> {
        self.0.entries.read().values().cloned().collect()
    }

    /// Whether it is Go's `nil` and not just empty.
    pub fn is_nil(&self) -> bool {
        self.0.is_nil
    }

    /// The type of the values.
    pub fn element(&self) -> Type {
        self.0.element
    }

    /// The named type, if it has one.
    pub fn class(&self) -> Option<&'static dyn Class> {
        self.0.class
    }

    /// Whether both are the very same map.
    pub fn same(&self, other: &Map) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Something that tells this map from all others that exist.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }

    /// The entries of a map that nobody else has, which then is empty.
    pub(super) fn into_entries(self) -> Option<BTreeMap<ArcStr, Value>> {
        let mut data = Arc::into_inner(self.0)?;
        Some(std::mem::take(data.entries.get_mut()))
    }

    pub(crate) fn downgrade(&self) -> WeakMap {
        WeakMap(Arc::downgrade(&self.0))
    }
}

impl Drop for Data {
    fn drop(&mut self) {
        let entries = self.entries.get_mut();
        if entries.values().any(drop::has_parts) {
            drop::all(std::mem::take(entries).into_values().collect());
        }
    }
}

impl Default for Map {
    fn default() -> Map {
        Map::new()
    }
}

impl<K: Into<ArcStr>> FromIterator<(K, Value)> for Map {
    fn from_iter<I: IntoIterator<Item = (K, Value)>>(entries: I) -> Map {
        Map::from_entries(
            entries
                .into_iter()
                .map(|(key, value)| (key.into(), value))
                .collect(),
        )
    }
}

/// A map that is not kept alive.
pub(crate) struct WeakMap(Weak<Data>);

impl WeakMap {
    pub(crate) fn upgrade(&self) -> Option<Map> {
        self.0.upgrade().map(Map)
    }
}
