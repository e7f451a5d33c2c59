//! Fields by who owns them.

use model::value::List;
use model::{Map, Value};

use super::super::owner::is_item;
use super::super::pointer::{Pointer, escape};

/// Removes what `manager` owns in the live object from both objects, where they differ in it.
pub(super) fn strip(manager: &str, live: &mut Value, merged: &mut Value) {
    for fields in sets(manager, live) {
        strip_fields(&fields, live, merged);
    }
}

/// Pointers to what `manager` owns in the live object.
pub(super) fn owned(manager: &str, live: &Value) -> Vec<Pointer> {
    let mut found = Vec::new();
    for fields in sets(manager, live) {
        find(&fields, live, &mut String::new(), &mut found);
    }
    found
}

/// The sets of fields that a manager owns, those of subresources among them.
fn sets(manager: &str, live: &Value) -> Vec<Value> {
    live.list_at(&["metadata", "managedFields"])
        .iter()
        .filter(|entry| entry.str_at(&["manager"]) == manager)
        .filter_map(|entry| entry.get("fieldsV1").cloned())
        .collect()
}

fn is_leaf(fields: &Value) -> bool {
    fields
        .as_object()
        .is_none_or(|fields| fields.keys().all(|name| name == "."))
}

/// Whether the field itself is owned, and not only what is in it.
fn is_member(fields: &Value) -> bool {
    is_leaf(fields) || fields.get(".").is_some()
}

fn strip_fields(fields: &Value, live: &mut Value, merged: &mut Value) {
    for (name, below) in fields.as_object().into_iter().flat_map(|fields| fields.iter()) {
        match name.strip_prefix("f:") {
            Some(name) => strip_field(name, below, live, merged),
            None => strip_item(name, below, live, merged),
        }
    }
}

fn strip_field(name: &str, below: &Value, live: &mut Value, merged: &mut Value) {
    let (Some(a), Some(b)) = (live.as_object_mut(), merged.as_object_mut()) else {
        return;
    };
    match (a.get_mut(name), b.get_mut(name)) {
        (x, y) if x == y => {}
        (Some(x), Some(y)) if !is_leaf(below) => strip_fields(below, x, y),
        _ if is_member(below) => {
            a.remove(name);
            b.remove(name);
        }
        // Only one of them has it, perhaps for nothing but what the manager owns in it.
        (Some(_), None) => empty_out(below, name, a),
        (None, Some(_)) => empty_out(below, name, b),
        _ => {}
    }
}

/// Removes what `fields` names in a field that only one object has, and the field itself when nothing is left.
fn empty_out(fields: &Value, name: &str, map: &mut Map) {
    let Some(value) = map.get_mut(name) else {
        return;
    };
    let mut nothing = match value {
        Value::Array(_) => Value::from(Vec::new()),
        _ => Value::object(),
    };
    strip_fields(fields, value, &mut nothing);
    if *value == nothing {
        map.remove(name);
    }
}

fn strip_item(name: &str, below: &Value, live: &mut Value, merged: &mut Value) {
    let (Some(a), Some(b)) = (live.as_array_mut(), merged.as_array_mut()) else {
        return;
    };
    let place = |items: &List| {
        items
            .iter()
            .enumerate()
            .position(|(at, item)| is_item(name, at, item))
    };
    match (place(a), place(b)) {
        (Some(x), Some(y)) if !is_leaf(below) => strip_fields(below, &mut a[x], &mut b[y]),
        (Some(x), None) if is_member(below) => drop(a.remove(x)),
        (None, Some(y)) if is_member(below) => drop(b.remove(y)),
        _ => {}
    }
}

fn find(fields: &Value, live: &Value, path: &mut String, found: &mut Vec<Pointer>) {
    if is_leaf(fields) {
        found.extend(Pointer::read(path));
        return;
    }
    for (name, below) in fields.as_object().into_iter().flat_map(|fields| fields.iter()) {
        let child = match (name.strip_prefix("f:"), live) {
            (Some(name), live) => live.get(name).map(|child| (escape(name), child)),
            (None, Value::Array(items)) => {
                let mut places = items.iter().enumerate();
                let place = places.find(|(at, item)| is_item(name, *at, item));
                place.map(|(at, item)| (at.to_string(), item))
            }
            _ => None,
        };
        if let Some((step, child)) = child {
            let length = path.len();
            path.extend(["/", step.as_str()]);
            find(below, child, path, found);
            path.truncate(length);
        }
    }
}
