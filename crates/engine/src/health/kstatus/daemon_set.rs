//! DaemonSets: a pod of the newest kind, available and ready, on every node that is to have one.

use model::Health;

use super::super::object::{Object, healthy, progressing};
use super::too_few;

pub(super) fn assess(object: Object<'_>) -> Health {
    // Its controller sets both: without them it has not seen the object.
    for path in [["metadata", "generation"], ["status", "observedGeneration"]] {
        if object.int(&path).is_none() {
            return progressing(format!("DaemonSet {} not found", path.join(".")));
        }
    }
    let status = |name: &str| object.int_or(&["status", name], 0);
    let Some(wanted) = object.int(&["status", "desiredNumberScheduled"]) else {
        return progressing("Missing .status.desiredNumberScheduled");
    };
    too_few("Current", status("currentNumberScheduled"), wanted)
        .or_else(|| too_few("Updated", status("updatedNumberScheduled"), wanted))
        .or_else(|| too_few("Available", status("numberAvailable"), wanted))
        .or_else(|| too_few("Ready", status("numberReady"), wanted))
        .unwrap_or_else(|| healthy(format!("All replicas scheduled as expected. Replicas: {wanted}")))
}
