//! Short words for the steps that defaulting and preparing consist of.

use model::{Map, Value};

/// Steps on the fields of a decoded object, in which each field has the type it should have.
pub(super) trait Fields {
    /// The string at `key`; empty where there is none.
    fn text(&self, key: &str) -> &str;

    /// The whole number at `key`; zero where there is none.
    fn number(&self, key: &str) -> i64;

    /// Whether `key` is `true`.
    fn flag(&self, key: &str) -> bool;

    /// The elements at `key`.
    fn items(&self, key: &str) -> &[Value];

    /// Sets `key` where it is missing or `null`.
    fn default(&mut self, key: &str, value: impl Into<Value>);

    /// Sets `key` where it is missing or has Go's zero value.
    fn fill(&mut self, key: &str, value: impl Into<Value>);

    /// The map at `key`, if there is one.
    fn child(&mut self, key: &str) -> Option<&mut Map>;

    /// The map at `key`, which is made where it is missing.
    fn make(&mut self, key: &str) -> &mut Map;

    /// Does `change` to the map at `key`, if there is one.
    fn within(&mut self, key: &str, change: impl FnOnce(&mut Map));

    /// Does `change` to each map in the list at `key`.
    fn each(&mut self, key: &str, change: impl FnMut(&mut Map));

    /// Sets `key` to what it is in `old`, or removes it.
    fn restore(&mut self, key: &str, old: Option<&Value>);
}

impl Fields for Map {
    fn text(&self, key: &str) -> &str {
        self.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    fn number(&self, key: &str) -> i64 {
        self.get(key).and_then(Value::as_i64).unwrap_or_default()
    }

    fn flag(&self, key: &str) -> bool {
        self.get(key).and_then(Value::as_bool).unwrap_or_default()
    }

    fn items(&self, key: &str) -> &[Value] {
        self.get(key)
            .and_then(Value::as_array)
            .map(|items| items.as_slice())
            .unwrap_or_default()
    }

    fn default(&mut self, key: &str, value: impl Into<Value>) {
        if matches!(self.get(key), None | Some(Value::Null)) {
            self.insert(key, value);
        }
    }

    fn fill(&mut self, key: &str, value: impl Into<Value>) {
        let zero = match self.get(key) {
            None | Some(Value::Null) => true,
            Some(Value::Str(text)) => text.is_empty(),
            Some(Value::Int(number)) => *number == 0,
            Some(_) => false,
        };
        if zero {
            self.insert(key, value);
        }
    }

    fn child(&mut self, key: &str) -> Option<&mut Map> {
        self.get_mut(key)?.as_object_mut()
    }

    fn make(&mut self, key: &str) -> &mut Map {
        self.entry(key).make_object()
    }

    fn within(&mut self, key: &str, change: impl FnOnce(&mut Map)) {
        if let Some(map) = self.child(key) {
            change(map);
        }
    }

    fn each(&mut self, key: &str, change: impl FnMut(&mut Map)) {
        if let Some(items) = self.get_mut(key).and_then(Value::as_array_mut) {
            items.iter_mut().filter_map(Value::as_object_mut).for_each(change);
        }
    }

    fn restore(&mut self, key: &str, old: Option<&Value>) {
        match old {
            Some(old) => drop(self.insert(key, old.clone())),
            None => drop(self.remove(key)),
        }
    }
}
