//! Deployments: all replicas updated, available and ready, and the rollout over. One that missed its deadline has failed.

use model::Health;

use super::super::object::{Object, degraded, healthy, progressing};
use super::{too_few, too_many};

/// A deadline of this many seconds is none: the controller tells no progress then.
const NO_DEADLINE: i64 = i32::MAX as i64;

pub(super) fn assess(object: Object<'_>) -> Health {
    let deadline = object.int_or(&["spec", "progressDeadlineSeconds"], NO_DEADLINE);
    let mut is_rolled_out = deadline == NO_DEADLINE;
    let mut is_available = false;
    for condition in object.conditions() {
        match (condition.kind(), condition.reason()) {
            ("Progressing", "ProgressDeadlineExceeded") => return degraded("Progress deadline exceeded"),
            ("Progressing", "NewReplicaSetAvailable") => is_rolled_out |= condition.is_true(),
            ("Available", _) => is_available |= condition.is_true(),
            _ => {}
        }
    }
    let status = |name: &str| object.int_or(&["status", name], 0);
    let wanted = object.int_or(&["spec", "replicas"], 1);
    let (there, updated) = (status("replicas"), status("updatedReplicas"));
    too_few("Replicas", there, wanted)
        .or_else(|| too_few("Updated", updated, wanted))
        .or_else(|| too_many(there, wanted))
        .or_else(|| too_few("Available", status("availableReplicas"), updated))
        .or_else(|| too_few("Ready", status("readyReplicas"), wanted))
        .or_else(|| (!is_rolled_out).then(|| progressing("ReplicaSet not Available")))
        .or_else(|| (!is_available).then(|| progressing("Deployment not Available")))
        .unwrap_or_else(|| healthy(format!("Deployment is available. Replicas: {there}")))
}
