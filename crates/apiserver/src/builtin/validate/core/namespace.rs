//! Namespaces.

use super::super::at::At;
use super::super::errors::Errors;
use super::super::selector::label_key;

/// A new namespace.
pub(in super::super) fn namespace(object: &At, errors: &mut Errors) {
    let finalizers = object.deep("spec.finalizers");
    for one in finalizers.items() {
        let here = finalizers.with(one.value());
        label_key(&here, errors);
        let known = matches!(one.text(), "kubernetes" | "orphan" | "foregroundDeletion");
        if !one.text().contains('/') && !known {
            let detail = "name is neither a standard finalizer name nor is it fully qualified";
            errors.invalid(&here, detail);
        }
    }
}

/// A changed status.
pub(in super::super) fn namespace_status(object: &At, _old: &At, errors: &mut Errors) {
    let status = object.get("status");
    let phase = status.txt("phase");
    let ends = object.deep("metadata.deletionTimestamp").is_set();
    let (expected, is) = if ends {
        ("Terminating", "not empty")
    } else {
        ("Active", "empty")
    };
    if phase.text() != expected {
        let detail = format!("may only be '{expected}' if `deletionTimestamp` is {is}");
        errors.invalid(&phase.called("Phase"), detail);
    }
}
