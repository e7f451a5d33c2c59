//! Classes of volumes.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use model::label::key_problems;

use super::super::at::At;
use super::super::errors::Errors;
use super::super::selector::label_key;

/// A new storage class.
pub(in super::super) fn class(object: &At, errors: &mut Errors) {
    provisioner(&object.txt("provisioner"), errors);
    parameters(&object.get("parameters"), errors);
    let policy = object.txt("reclaimPolicy");
    if !policy.text().is_empty() {
        errors.one_of(&policy, &["Delete", "Retain"]);
    }
    let binding = object.get("volumeBindingMode");
    match binding.is_set() {
        true => errors.one_of_if_set(&binding, &["Immediate", "WaitForFirstConsumer"]),
        false => errors.required(&binding, ""),
    }
    topologies(&object.get("allowedTopologies"), errors);
}

fn provisioner(at: &At, errors: &mut Errors) {
    if errors.require_text(at) {
        let lower = at.text().to_lowercase();
        for problem in key_problems(&lower) {
            errors.invalid_value(at, lower.as_str(), problem);
        }
    }
}

fn parameters(at: &At, errors: &mut Errors) {
    const MOST: usize = 512;
    const MOST_BYTES: usize = 256 * 1024;
    if at.len() > MOST {
        errors.too_long(at, MOST);
        return;
    }
    let mut size = 0;
    for (key, value) in at.entries() {
        if key.is_empty() {
            errors.invalid_value(at, key, "field can not be empty.");
        }
        size += key.len() + value.text().len();
    }
    if size > MOST_BYTES {
        errors.too_long(at, MOST_BYTES);
    }
}

fn topologies(at: &At, errors: &mut Errors) {
    let mut seen = HashSet::new();
    for term in at.items() {
        let mut expressions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let list = term.get("matchLabelExpressions");
        for one in list.items() {
            let values = one.get("values");
            if values.is_empty() {
                errors.required(&values, "");
            }
            let mut known = BTreeSet::new();
            for value in values.items() {
                if !known.insert(value.text()) {
                    errors.duplicate(&value);
                }
            }
            let key = one.txt("key");
            label_key(&key, errors);
            if expressions.contains_key(key.text()) {
                errors.duplicate(&key);
            }
            expressions.insert(key.text(), known);
        }
        // An empty term is never alone: the real server starts with empty ones to compare with.
        let empty = expressions.is_empty();
        if !seen.insert(expressions) || empty {
            errors.duplicate_value(&list, "");
        }
    }
}

/// A changed storage class.
pub(in super::super) fn class_update(object: &At, old: &At, errors: &mut Errors) {
    class(object, errors);
    for field in ["parameters", "provisioner", "reclaimPolicy"] {
        fixed(object, old, field, errors);
    }
    errors.immutable(&object.get("volumeBindingMode"), &old.get("volumeBindingMode"));
}

fn fixed(object: &At, old: &At, field: &str, errors: &mut Errors) {
    let at = object.get(field);
    if at.value() != old.get(field).value() {
        errors.forbidden(&at, format!("updates to {field} are forbidden."));
    }
}

/// A new class of attributes.
pub(in super::super) fn attributes_class(object: &At, errors: &mut Errors) {
    provisioner(&object.txt("driverName"), errors);
    let values = object.get("parameters");
    parameters(&values, errors);
    if values.is_empty() {
        errors.required(&values, "must contain at least one key/value pair");
    }
}

/// A changed class of attributes.
pub(in super::super) fn attributes_class_update(object: &At, old: &At, errors: &mut Errors) {
    fixed(object, old, "driverName", errors);
    fixed(object, old, "parameters", errors);
    attributes_class(object, errors);
}
