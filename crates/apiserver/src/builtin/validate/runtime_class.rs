//! `node.k8s.io`: what containers are run with.

use std::collections::HashSet;

use super::at::At;
use super::errors::Errors;
use super::name;
use super::pod::{overhead, tolerations};
use super::selector::labels;

/// A new class.
pub(super) fn runtime_class(object: &At, errors: &mut Errors) {
    let handler = object.txt("handler");
    errors.each(&handler, name::label(handler.text()));
    let cost = object.get("overhead");
    overhead(&cost, &cost.get("podFixed"), errors);
    let scheduling = object.get("scheduling");
    labels(&scheduling.get("nodeSelector"), errors);
    let list = scheduling.get("tolerations");
    tolerations(&list, errors);
    let mut seen = HashSet::new();
    for one in list.items() {
        let key = ["key", "operator", "value", "effect"].map(|name| one.text_of(name));
        if !seen.insert(key) {
            errors.duplicate_as(&one, "core.Toleration", "");
        }
    }
}

/// A changed class.
pub(super) fn runtime_class_update(object: &At, old: &At, errors: &mut Errors) {
    runtime_class(object, errors);
    errors.immutable(&object.txt("handler"), &old.txt("handler"));
}
