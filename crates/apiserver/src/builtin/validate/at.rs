//! Where a check looks: a value, and the way to it that messages name.
//!
//! The way is a chain of borrowed steps, so that nothing is allocated unless something is wrong.

use std::fmt;

use model::{Map, Str, Value};

/// A value in an object, or the place where it would stand.
#[derive(Clone, Copy)]
pub(super) struct At<'p, 'v> {
    value: &'v Value,
    parent: Option<&'p At<'p, 'v>>,
    step: Step<'p>,
}

#[derive(Clone, Copy)]
enum Step<'p> {
    Root,
    Field(&'p str),
    Index(usize),
    Key(&'p str),
}

static MISSING: Value = Value::Null;
static NO_TEXT: Value = Value::Str(Str::const_new(""));
static NO_NUMBER: Value = Value::Int(0);

impl<'p, 'v> At<'p, 'v> {
    /// The whole object.
    pub(super) fn root(value: &'v Value) -> Self {
        At {
            value,
            parent: None,
            step: Step::Root,
        }
    }

    fn then<'s>(&'s self, value: &'v Value, step: Step<'s>) -> At<'s, 'v> {
        At {
            value,
            parent: Some(self),
            step,
        }
    }

    /// The field called `name`; a place without a value where it is missing.
    pub(super) fn get<'s>(&'s self, name: &'s str) -> At<'s, 'v> {
        self.then(self.find(name).unwrap_or(&MISSING), Step::Field(name))
    }

    /// The field called `name`, which is a string that Go takes as empty where it is missing.
    pub(super) fn txt<'s>(&'s self, name: &'s str) -> At<'s, 'v> {
        self.then(self.find(name).unwrap_or(&NO_TEXT), Step::Field(name))
    }

    /// The field called `name`, which is a number that Go takes as zero where it is missing.
    pub(super) fn num<'s>(&'s self, name: &'s str) -> At<'s, 'v> {
        self.then(self.find(name).unwrap_or(&NO_NUMBER), Step::Field(name))
    }

    /// What is found along `path`, whose parts are parted by dots.
    pub(super) fn deep<'s>(&'s self, path: &'s str) -> At<'s, 'v> {
        let value = path
            .split('.')
            .try_fold(self.value, |value, name| value.get(name))
            .unwrap_or(&MISSING);
        self.then(value, Step::Field(path))
    }

    /// The same value, called `name` in messages.
    pub(super) fn called<'s>(&'s self, name: &'s str) -> At<'s, 'v>
    where
        'p: 's,
    {
        At {
            value: self.value,
            parent: self.parent,
            step: Step::Field(name),
        }
    }

    /// The same place with another value.
    pub(super) fn with<'w>(&self, value: &'w Value) -> At<'p, 'w>
    where
        'v: 'w,
    {
        At {
            value,
            parent: self.parent,
            step: self.step,
        }
    }

    /// The element called `key` of a map.
    pub(super) fn key<'s>(&'s self, key: &'s str) -> At<'s, 'v> {
        self.then(self.find(key).unwrap_or(&MISSING), Step::Key(key))
    }

    /// The element at `index`.
    pub(super) fn index(&self, index: usize) -> At<'_, 'v> {
        let item = self.list().get(index).unwrap_or(&MISSING);
        self.then(item, Step::Index(index))
    }

    /// The elements of a list.
    pub(super) fn items<'s>(&'s self) -> impl ExactSizeIterator<Item = At<'s, 'v>> + use<'s, 'p, 'v> {
        let list = self.list();
        (0..list.len()).map(move |index| self.then(&list[index], Step::Index(index)))
    }

    /// The elements of a map, each with its key.
    pub(super) fn entries<'s>(&'s self) -> impl Iterator<Item = (&'v str, At<'s, 'v>)> + use<'s, 'p, 'v>
    where
        'v: 's,
    {
        let entries = self.map().into_iter().flat_map(Map::iter);
        entries.map(move |(key, value)| (key, self.then(value, Step::Key(key))))
    }

    fn find(&self, name: &str) -> Option<&'v Value> {
        self.value.get(name)
    }

    /// The value; `null` where there is none.
    pub(super) fn value(&self) -> &'v Value {
        self.value
    }

    /// Whether there is a value.
    pub(super) fn is_set(&self) -> bool {
        !self.value.is_null()
    }

    /// Whether the field called `name` has a value.
    pub(super) fn has(&self, name: &str) -> bool {
        self.find(name).is_some_and(|value| !value.is_null())
    }

    /// The string; empty where there is none.
    pub(super) fn text(&self) -> &'v str {
        self.value.as_str().unwrap_or_default()
    }

    /// The string of the field called `name`; empty where there is none.
    pub(super) fn text_of(&self, name: &str) -> &'v str {
        self.find(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// The whole number; zero where there is none.
    pub(super) fn int(&self) -> i64 {
        self.value.as_i64().unwrap_or_default()
    }

    /// The whole number of the field called `name`; zero where there is none.
    pub(super) fn int_of(&self, name: &str) -> i64 {
        self.find(name).and_then(Value::as_i64).unwrap_or_default()
    }

    /// Whether the field called `name` is `true`.
    pub(super) fn flag_of(&self, name: &str) -> bool {
        self.find(name).and_then(Value::as_bool).unwrap_or_default()
    }

    /// The elements; none where there is no list.
    pub(super) fn list(&self) -> &'v [Value] {
        self.value
            .as_array()
            .map(|items| items.as_slice())
            .unwrap_or_default()
    }

    /// The strings of a list.
    pub(super) fn texts(&self) -> impl Iterator<Item = &'v str> + use<'v> {
        self.list().iter().map(|item| item.as_str().unwrap_or_default())
    }

    /// The map, if there is one.
    pub(super) fn map(&self) -> Option<&'v Map> {
        self.value.as_object()
    }

    /// How many elements there are.
    pub(super) fn len(&self) -> usize {
        match self.value {
            Value::Array(items) => items.len(),
            Value::Object(map) => map.len(),
            _ => 0,
        }
    }

    /// Whether there are no elements.
    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl fmt::Display for At<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut inner = false;
        if let Some(parent) = self.parent {
            parent.fmt(f)?;
            inner = !matches!(parent.step, Step::Root);
        }
        match self.step {
            Step::Root => Ok(()),
            Step::Field(name) if inner => write!(f, ".{name}"),
            Step::Field(name) => f.write_str(name),
            Step::Index(index) => write!(f, "[{index}]"),
            Step::Key(key) => write!(f, "[{key}]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use model::value;

    use super::*;

    #[test]
    fn the_way_is_written_as_the_real_server_writes_it() {
        let object = value!({ "spec": { "containers": [{ "name": "a", "limits": { "cpu": "1" } }] } });
        let root = At::root(&object);
        let list = root.deep("spec.containers");
        let container = list.index(0);
        let limits = container.get("limits");
        assert_eq!(limits.key("cpu").to_string(), "spec.containers[0].limits[cpu]");
        assert_eq!(container.txt("image").to_string(), "spec.containers[0].image");
        assert_eq!(container.txt("image").text(), "");
        assert_eq!(list.called("boxes").to_string(), "boxes");
        assert_eq!(root.to_string(), "");
    }
}
