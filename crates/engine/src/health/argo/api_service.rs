//! APIServices: somebody answers for the group.

use model::Health;

use super::super::object::{Object, healthy, progressing};

pub(super) fn assess(object: Object<'_>) -> Health {
    let Some(available) = object.condition("Available") else {
        return progressing("Waiting to be processed");
    };
    let message = format!("{}: {}", available.reason(), available.message());
    match available.is_true() {
        true => healthy(message),
        false => progressing(message),
    }
}
