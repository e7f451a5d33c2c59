//! Jobs: complete, failed or suspended; whatever else is under way.

use model::Health;

use super::super::object::{Object, degraded, healthy, progressing, suspended};

pub(super) fn assess(object: Object<'_>) -> Health {
    if let Some(failed) = object.condition("Failed") {
        return degraded(failed.message());
    }
    let pause = object.condition("Suspended");
    if let Some(pause) = pause.filter(|condition| condition.is_true()) {
        return suspended(pause.message());
    }
    // A job that was resumed keeps the condition, and Argo CD takes it for done. Here it is under way.
    match object.condition("Complete") {
        Some(complete) => healthy(complete.message()),
        None => progressing(""),
    }
}
