//! The patch that brings an object from what it is to what is wanted, as clients make it that apply without the server: what was wanted before and is not
//! any more goes, what is wanted and is not so is set, and all else is left to others.

use model::{Map, Value};

use super::{DELETE_FROM_LIST, PATCH, RETAIN_KEYS, SET_ORDER};
use crate::schema::{Shape, Strategy};
use crate::{Schema, TypeId};

/// The patch from `live` to `desired`, of which `previous` was wanted before. It is empty where nothing is to be done.
///
/// With a type it is a strategic merge patch; without one, for kinds that a server does not know the types of, it is also a plain merge patch: lists are
/// replaced.
pub fn three_way(previous: &Value, desired: &Value, live: &Value, types: Option<(&Schema, TypeId)>) -> Value {
    let none = Map::new();
    let map = |value: &'_ Value| value.as_object().cloned().unwrap_or_default();
    let (previous, desired, live) = (map(previous), map(desired), map(live));
    let differing = Differing {
        schema: types.map(|(schema, _)| schema),
    };
    let ty = types.map(|(_, ty)| ty);
    let previous = if previous.is_empty() { &none } else { &previous };
    Value::Object(differing.map(previous, &desired, &live, ty))
}

struct Differing<'s> {
    schema: Option<&'s Schema>,
}

/// What is known of a field: the type of what is in it, how strategic merge treats it, and by what elements of a list are told apart.
#[derive(Default)]
struct Known<'s> {
    ty: Option<TypeId>,
    item: Option<TypeId>,
    strategy: Strategy,
    merge_key: &'s str,
}

impl<'s> Differing<'s> {
    fn known(&self, ty: Option<TypeId>, key: &str) -> Known<'s> {
        let (Some(schema), Some(ty)) = (self.schema, ty) else {
            return Known::default();
        };
        match &schema.get(ty).shape {
            Shape::Struct(fields) => {
                let Some(field) = fields.field(key) else {
                    return Known::default();
                };
                let (item, merge_key) = match &schema.get(field.ty).shape {
                    Shape::List(list) => (Some(list.item), list.merge_key.as_str()),
                    _ => (None, ""),
                };
                Known {
                    ty: Some(field.ty),
                    item,
                    strategy: field.strategy,
                    merge_key,
                }
            }
            Shape::Map { item, .. } => Known {
                ty: Some(*item),
                ..Known::default()
            },
            _ => Known::default(),
        }
    }

    fn map(&self, previous: &Map, desired: &Map, live: &Map, ty: Option<TypeId>) -> Map {
        let mut patch = Map::new();
        for (key, wanted) in desired.iter() {
            let known = self.known(ty, key);
            let (before, is) = (previous.get(key), live.get(key));
            match (wanted, is) {
                (Value::Null, Some(is)) if !is.is_null() => drop(patch.insert(key, Value::Null)),
                (Value::Null, _) => {}
                (Value::Object(wanted), Some(Value::Object(is))) => {
                    let none = Map::new();
                    let before = before.and_then(Value::as_object).unwrap_or(&none);
                    let mut below = self.map(before, wanted, is, known.ty);
                    if known.strategy.retain_keys && !below.is_empty() {
                        let keys: Vec<Value> = wanted.keys().map(Value::from).collect();
                        below.insert(RETAIN_KEYS, Value::Array(keys.into()));
                    }
                    if !below.is_empty() {
                        patch.insert(key, Value::Object(below));
                    }
                }
                (Value::Array(wanted), Some(Value::Array(is))) if known.strategy.merge => {
                    let before = before.and_then(Value::as_array);
                    let before = before.map(|list| &list[..]).unwrap_or_default();
                    match known.merge_key {
                        "" => set(&mut patch, key, before, wanted, is),
                        _ => self.keyed(&mut patch, key, (before, wanted, is), &known),
                    }
                }
                (wanted, Some(is)) if wanted == is => {}
                (wanted, _) => drop(patch.insert(key, wanted.clone())),
            }
        }
        let gone = previous.keys().filter(|key| !desired.contains_key(key));
        for key in gone.filter(|key| live.contains_key(key)) {
            patch.insert(key, Value::Null);
        }
        patch
    }

    /// A list whose elements are told apart by a field.
    fn keyed(
        &self,
        patch: &mut Map,
        key: &str,
        (before, wanted, is): (&[Value], &[Value], &[Value]),
        known: &Known<'_>,
    ) {
        let name = |item: &Value| item.get(known.merge_key).cloned().unwrap_or_default();
        let find = |list: &[Value], wanted: &Value| {
            let wanted = name(wanted);
            list.iter().find(|item| name(item) == wanted).cloned()
        };
        let mut items: Vec<Value> = Vec::new();
        for item in wanted {
            let (Value::Object(fields), Some(Value::Object(is))) = (item, find(is, item)) else {
                items.push(item.clone());
                continue;
            };
            let before = find(before, item).and_then(|item| item.as_object().cloned());
            let mut below = self.map(&before.unwrap_or_default(), fields, &is, known.item);
            if below.is_empty() {
                continue;
            }
            if known.strategy.retain_keys {
                let keys: Vec<Value> = fields.keys().map(Value::from).collect();
                below.insert(RETAIN_KEYS, Value::Array(keys.into()));
            }
            below.insert(known.merge_key, name(item));
            items.push(Value::Object(below));
        }
        let gone = before.iter().filter(|item| find(wanted, item).is_none());
        for item in gone.filter(|item| find(is, item).is_some()) {
            let mut gone = Map::new();
            gone.insert(PATCH, "delete");
            gone.insert(known.merge_key, name(item));
            items.push(Value::Object(gone));
        }
        if items.is_empty() {
            return;
        }
        let order = wanted.iter().map(|item| {
            let mut named = Map::new();
            named.insert(known.merge_key, name(item));
            Value::Object(named)
        });
        let order: Vec<Value> = order.collect();
        patch.insert(format!("{SET_ORDER}/{key}"), Value::Array(order.into()));
        patch.insert(key, Value::Array(items.into()));
    }
}

/// A list whose elements are told apart by their values.
fn set(patch: &mut Map, key: &str, before: &[Value], wanted: &[Value], is: &[Value]) {
    let without = |list: &[Value], other: &[Value]| -> Vec<Value> {
        let left = list.iter().filter(|item| !other.contains(item));
        left.cloned().collect()
    };
    let new = without(wanted, is);
    let gone: Vec<Value> = without(before, wanted)
        .into_iter()
        .filter(|item| is.contains(item))
        .collect();
    if !new.is_empty() {
        patch.insert(key, Value::Array(new.into()));
    }
    if !gone.is_empty() {
        patch.insert(format!("{DELETE_FROM_LIST}/{key}"), Value::Array(gone.into()));
    }
}

#[cfg(test)]
mod tests {
    use model::value;

    use super::*;

    fn deployment(containers: Value, more: Value) -> Value {
        let mut object = value!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "web" },
            "spec": { "template": { "spec": { "containers": (containers) } } },
        });
        for (key, value) in more.as_object().unwrap().iter() {
            object.set_at(&["spec", key], value.clone());
        }
        object
    }

    fn patched(previous: &Value, desired: &Value, live: &Value) -> (Value, Value) {
        let schema = Schema::builtin();
        let ty = schema.kind("apps", "v1", "Deployment").unwrap();
        let patch = three_way(previous, desired, live, Some((&schema, ty)));
        let mut after = live.clone();
        super::super::apply(&mut after, &patch, &schema, ty).unwrap();
        (patch, after)
    }

    #[test]
    fn what_was_wanted_goes_and_what_others_have_added_stays() {
        let previous = deployment(
            value!([{ "name": "app", "image": "a:1", "args": ["x"] }, { "name": "old", "image": "b" }]),
            value!({ "replicas": 2, "paused": true }),
        );
        let desired = deployment(
            value!([{ "name": "app", "image": "a:2" }]),
            value!({ "replicas": 2 }),
        );
        let live = deployment(
            value!([
                { "name": "injected", "image": "proxy" },
                { "name": "app", "image": "a:1", "args": ["x"], "imagePullPolicy": "Always" },
                { "name": "old", "image": "b" },
            ]),
            value!({ "replicas": 5, "paused": true, "minReadySeconds": 3 }),
        );
        let (_, after) = patched(&previous, &desired, &live);
        let spec = after.at(&["spec"]).unwrap();
        assert_eq!(spec.at(&["replicas"]), Some(&value!(2)));
        assert_eq!(spec.at(&["paused"]), None);
        assert_eq!(spec.at(&["minReadySeconds"]), Some(&value!(3)));
        let containers = spec.at(&["template", "spec", "containers"]).unwrap();
        let mut named: Vec<&Value> = containers.as_array().unwrap().iter().collect();
        named.sort_by_key(|one| one.str_at(&["name"]).to_owned());
        let app = value!({ "name": "app", "image": "a:2", "imagePullPolicy": "Always" });
        let injected = value!({ "name": "injected", "image": "proxy" });
        assert_eq!(named, [&app, &injected]);
    }

    #[test]
    fn what_is_as_wanted_needs_no_patch() {
        let desired = deployment(value!([{ "name": "app", "image": "a:1" }]), value!({}));
        let live = deployment(
            value!([{ "name": "app", "image": "a:1", "imagePullPolicy": "Always" }]),
            value!({ "replicas": 1 }),
        );
        let (patch, after) = patched(&desired, &desired, &live);
        assert_eq!(patch, Value::object());
        assert_eq!(after, live);
    }

    #[test]
    fn of_two_ways_that_exclude_each_other_the_other_one_goes() {
        let rolling = value!({ "strategy": { "type": "RollingUpdate", "rollingUpdate": { "maxSurge": 1 } } });
        let before = deployment(value!([]), rolling.clone());
        let desired = deployment(value!([]), value!({ "strategy": { "type": "Recreate" } }));
        let (_, after) = patched(&value!({}), &desired, &before);
        assert_eq!(
            after.at(&["spec", "strategy"]),
            Some(&value!({ "type": "Recreate" }))
        );
    }

    #[test]
    fn values_of_a_set_are_added_and_taken_out_one_by_one() {
        let with = |finalizers: Value| value!({ "metadata": { "name": "web", "finalizers": (finalizers) } });
        let (_, after) = patched(
            &with(value!(["a", "b"])),
            &with(value!(["b", "c"])),
            &with(value!(["a", "b", "z"])),
        );
        let left = after
            .at(&["metadata", "finalizers"])
            .and_then(Value::as_array)
            .unwrap();
        let mut left: Vec<&str> = left.iter().filter_map(Value::as_str).collect();
        left.sort_unstable();
        assert_eq!(left, ["b", "c", "z"]);
    }

    #[test]
    fn without_a_type_lists_are_replaced() {
        let previous = value!({ "spec": { "gone": 1, "list": [1] } });
        let desired = value!({ "spec": { "list": [1, 2] } });
        let live = value!({ "spec": { "gone": 1, "list": [1], "other": true } });
        let patch = three_way(&previous, &desired, &live, None);
        assert_eq!(patch, value!({ "spec": { "list": [1, 2], "gone": null } }));
    }
}
