//! Requests for certificates: what is asked for never changes, and approval has a subresource of its own.

use model::{Map, Value};

use crate::builtin::fields::Fields;

/// A request cannot claim to come from somebody else. Who made it is set by [`crate::builtin::set_requester`].
pub(super) fn create(object: &mut Map) {
    object.within("spec", |spec| {
        for key in ["username", "uid", "groups", "extra"] {
            spec.remove(key);
        }
    });
}

/// Approval and denial cannot be changed here.
pub(super) fn update_status(object: &mut Map, old: &Value) {
    let is_decision = |condition: &Value| matches!(condition.str_at(&["type"]), "Approved" | "Denied");
    let status = object.make("status");
    let mut conditions: Vec<Value> = status
        .items("conditions")
        .iter()
        .filter(|condition| !is_decision(condition))
        .cloned()
        .collect();
    conditions.extend(
        old.list_at(&["status", "conditions"])
            .iter()
            .filter(|one| is_decision(one))
            .cloned(),
    );
    match conditions.is_empty() {
        true => drop(status.remove("conditions")),
        false => drop(status.insert("conditions", conditions)),
    }
}
