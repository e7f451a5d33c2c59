//! Reaching into a tree by a list of keys.

use super::{Map, Value};

impl Value {
    /// The value of `key` in this map; `None` also where this is no map.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_object()?.get(key)
    }

    /// The value of `key` in this map, for change.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.as_object_mut()?.get_mut(key)
    }

    /// The value at the end of `path`, through maps only.
    pub fn at(&self, path: &[&str]) -> Option<&Value> {
        path.iter().try_fold(self, |value, key| value.get(key))
    }

    /// The value at the end of `path`, for change.
    pub fn at_mut(&mut self, path: &[&str]) -> Option<&mut Value> {
        path.iter().try_fold(self, |value, key| value.get_mut(key))
    }

    /// The string at the end of `path`; empty where there is none.
    pub fn str_at(&self, path: &[&str]) -> &str {
        self.at(path).and_then(Value::as_str).unwrap_or_default()
    }

    /// The elements at the end of `path`; empty where there is no list.
    pub fn list_at(&self, path: &[&str]) -> &[Value] {
        self.at(path)
            .and_then(Value::as_array)
            .map(|items| items.as_slice())
            .unwrap_or_default()
    }

    /// This value as a map; anything else is replaced by an empty one first.
    pub fn make_object(&mut self) -> &mut Map {
        if !matches!(self, Value::Object(_)) {
            *self = Value::object();
        }
        self.as_object_mut().expect("it was just made a map")
    }

    /// Sets the value at the end of `path`; what is no map on the way is replaced by one.
    pub fn set_at(&mut self, path: &[&str], value: impl Into<Value>) {
        let Some((last, parents)) = path.split_last() else {
            *self = value.into();
            return;
        };
        let parent = parents
            .iter()
            .fold(self, |place, key| place.make_object().entry(key));
        parent.make_object().insert(last, value);
    }

    /// Removes the value at the end of `path` and returns it.
    pub fn remove_at(&mut self, path: &[&str]) -> Option<Value> {
        let (last, parents) = path.split_last()?;
        self.at_mut(parents)?.as_object_mut()?.remove(last)
    }
}
