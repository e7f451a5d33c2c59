//! Workflows of Argo: at their end.

use model::Health;
use model::health::State;

use super::super::object::Object;

pub(super) fn assess(object: Object<'_>) -> Health {
    let state = match object.text(&["status", "phase"]) {
        "" | "Pending" | "Running" => State::Progressing,
        "Succeeded" => State::Healthy,
        "Failed" | "Error" => State::Degraded,
        _ => State::Unknown,
    };
    Health::because(state, object.text(&["status", "message"]))
}
