//! Which fields of two objects differ, and who owns them.

use model::Value;
use serde::{Deserialize, Serialize};

use super::owner::Owners;
use super::path::{self, Step};

/// One field that differs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Field {
    /// Where it is, as a JSON pointer into the desired object, or into the live one where only that has it. Ignore rules take
    /// it as it is.
    pub path: String,
    /// Where it is, as people read it: `.spec.containers[name="app"].image`.
    pub name: String,
    /// What the cluster has; nothing where the field is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live: Option<Value>,
    /// What is wanted; nothing where the field is to go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desired: Option<Value>,
    /// Who owns what the cluster has, by its managed fields: usually the one that changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// How the owner wrote it: `Apply` or `Update`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
}

/// Lists are compared element by element up to this length of both together, else as a whole: matching elements by key
/// takes time that grows with the square of the length.
const LIST_LIMIT: usize = 2_000;

/// The fields in which `desired` differs from `live`; owners are those of `owners`.
pub(crate) fn compare<'v>(live: &'v Value, desired: &'v Value, owners: &Owners<'_>) -> Vec<Field> {
    let mut comparison = Comparison {
        owners,
        path: Vec::new(),
        keys: Vec::new(),
        fields: Vec::new(),
    };
    comparison.value(Some(live), Some(desired));
    comparison.fields
}

struct Comparison<'v, 'c> {
    owners: &'c Owners<'c>,
    path: Vec<Step<'v>>,
    /// For each list on the path: the fields that tell its elements apart.
    keys: Vec<Option<Vec<String>>>,
    fields: Vec<Field>,
}

impl<'v> Comparison<'v, '_> {
    fn value(&mut self, live: Option<&'v Value>, desired: Option<&'v Value>) {
        if live == desired {
            return;
        }
        let before = self.fields.len();
        match (live, desired) {
            (Some(Value::Object(a)), Some(Value::Object(b))) => {
                let added = b.keys().filter(|name| !a.contains_key(name));
                for name in a.keys().chain(added) {
                    self.below(Step::Field(name), a.get(name), b.get(name));
                }
            }
            (Some(Value::Array(a)), Some(Value::Array(b))) if a.len() + b.len() <= LIST_LIMIT => {
                self.list(a, b)
            }
            _ => {}
        }
        // What differs in no part differs as a whole: the order of a list, or single values.
        if self.fields.len() == before {
            self.note(live, desired);
        }
    }

    fn below(&mut self, step: Step<'v>, live: Option<&'v Value>, desired: Option<&'v Value>) {
        self.path.push(step);
        self.value(live, desired);
        self.path.pop();
    }

    fn list(&mut self, live: &'v [Value], desired: &'v [Value]) {
        let keys = self
            .owners
            .keys(&self.path)
            .or_else(|| Some(vec!["name".to_owned()]));
        let keys = keys.filter(|keys| is_told_apart(live, keys) && is_told_apart(desired, keys));
        self.keys.push(keys.clone());
        match keys {
            Some(keys) => self.keyed_list(live, desired, &keys),
            None => {
                for at in 0..live.len().max(desired.len()) {
                    let (a, b) = (live.get(at), desired.get(at));
                    if let Some(item) = b.or(a) {
                        self.below(Step::Item { index: at, item }, a, b);
                    }
                }
            }
        }
        self.keys.pop();
    }

    fn keyed_list(&mut self, live: &'v [Value], desired: &'v [Value], keys: &[String]) {
        let is_same = |a: &Value, b: &Value| keys.iter().all(|key| a.get(key) == b.get(key));
        for (index, item) in desired.iter().enumerate() {
            let other = live.iter().find(|other| is_same(item, other));
            self.below(Step::Item { index, item }, other, Some(item));
        }
        for (index, item) in live.iter().enumerate() {
            if !desired.iter().any(|other| is_same(item, other)) {
                self.below(Step::Item { index, item }, Some(item), None);
            }
        }
    }

    fn note(&mut self, live: Option<&Value>, desired: Option<&Value>) {
        let owner = live.and_then(|_| self.owners.owner(&self.path));
        self.fields.push(Field {
            path: path::pointer(&self.path),
            name: path::readable(&self.path, &self.keys),
            live: live.cloned(),
            desired: desired.cloned(),
            owner: owner.map(|owner| owner.manager.to_owned()),
            operation: owner.map(|owner| owner.operation.to_owned()),
        });
    }
}

/// Whether all elements have these fields, or at least the first of them, and no two have the same.
fn is_told_apart(items: &[Value], keys: &[String]) -> bool {
    let has_first = |item: &Value| keys.first().is_some_and(|key| item.get(key).is_some());
    let is_repeated = |(at, item): (usize, &Value)| {
        items[..at]
            .iter()
            .any(|other| keys.iter().all(|key| item.get(key) == other.get(key)))
    };
    items.iter().all(has_first) && !items.iter().enumerate().any(is_repeated)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::value;

    fn names(live: &Value, desired: &Value) -> Vec<String> {
        let owners = Owners::of(live);
        compare(live, desired, &owners)
            .into_iter()
            .map(|field| field.name)
            .collect()
    }

    #[test]
    fn elements_are_matched_by_name() {
        let live = value!({ "c": [{ "name": "a", "x": 1 }, { "name": "b" }] });
        let desired = value!({ "c": [{ "name": "b" }, { "name": "a", "x": 2 }] });
        assert_eq!(names(&live, &desired), [".c[name=\"a\"].x"]);
    }

    #[test]
    fn a_list_in_another_order_differs_as_a_whole() {
        let live = value!({ "c": [{ "name": "a" }, { "name": "b" }], "d": [1, 2] });
        let desired = value!({ "c": [{ "name": "b" }, { "name": "a" }], "d": [1, 2] });
        assert_eq!(names(&live, &desired), [".c"]);
    }

    #[test]
    fn elements_without_a_name_are_matched_by_place() {
        let live = value!({ "args": ["a", "b"], "a.b/c": 1 });
        let desired = value!({ "args": ["a", "c", "d"] });
        assert_eq!(names(&live, &desired), ["[\"a.b/c\"]", ".args[1]", ".args[2]"]);
    }
}
