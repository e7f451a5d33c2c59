//! `scheduling.k8s.io`: which pods come first.

use super::at::At;
use super::errors::Errors;

const HIGHEST: i64 = 1_000_000_000;

/// A new class.
pub(super) fn priority_class(object: &At, errors: &mut Errors) {
    let metadata = object.get("metadata");
    let (name_at, value) = (metadata.get("name"), object.num("value"));
    if name_at.text().starts_with("system-") {
        if let Err(why) = known(object, name_at.text()) {
            let detail = format!(
                "priority class names with 'system-' prefix are reserved for system use only. error: {why}"
            );
            errors.forbidden(&name_at, detail);
        }
    } else if value.int() > HIGHEST {
        let detail = format!("maximum allowed value of a user defined priority is {HIGHEST}");
        errors.forbidden(&value, detail);
    }
    let policy = object.get("preemptionPolicy");
    if policy.is_set() {
        errors.one_of(&policy, &["PreemptLowerPriority", "Never"]);
    }
}

/// The classes that every cluster has are as they are.
fn known(object: &At, name: &str) -> Result<(), String> {
    let expected = match name {
        "system-node-critical" => 2 * HIGHEST + 1000,
        "system-cluster-critical" => 2 * HIGHEST,
        _ => return Err(format!("{name} is not a known system priority class")),
    };
    if object.int_of("value") != expected {
        return Err(format!("value of {name} PriorityClass must be {expected}"));
    }
    match object.flag_of("globalDefault") {
        true => Err(format!("globalDefault of {name} PriorityClass must be false")),
        false => Ok(()),
    }
}

/// A changed class.
pub(super) fn priority_class_update(object: &At, old: &At, errors: &mut Errors) {
    let value = object.num("value");
    if value.int() != old.int_of("value") {
        errors.forbidden(&value, "may not be changed in an update.");
    }
    errors.immutable(&object.get("preemptionPolicy"), &old.get("preemptionPolicy"));
}
