//! CustomResourceDefinitions: the API server serves the kind. Names that clash with those of another have failed.

use model::Health;

use super::super::object::{Object, degraded, healthy, progressing};

pub(super) fn assess(object: Object<'_>) -> Health {
    let told = object.conditions().find_map(|condition| match condition.kind() {
        "NamesAccepted" if condition.is_false() => Some(degraded(condition.message())),
        "Established" if condition.is_true() => Some(healthy("CRD is established")),
        "Established" if condition.is_false() && condition.reason() != "Installing" => {
            Some(degraded(condition.message()))
        }
        _ => None,
    });
    told.unwrap_or_else(|| progressing("Install in progress"))
}
