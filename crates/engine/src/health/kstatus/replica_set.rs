//! ReplicaSets: all replicas labelled, available and ready, and no more of them than wanted.

use model::Health;

use super::super::object::{Object, healthy, progressing};
use super::{too_few, too_many};

pub(super) fn assess(object: Object<'_>) -> Health {
    let failing = |kind: &str| kind == "ReplicaFailure";
    if object
        .conditions()
        .any(|condition| failing(condition.kind()) && condition.is_true())
    {
        return progressing("Replica Failure condition. Check Pods");
    }
    let status = |name: &str| object.int_or(&["status", name], 0);
    let wanted = object.int_or(&["spec", "replicas"], 1);
    let there = status("replicas");
    too_few("Labelled", status("fullyLabeledReplicas"), wanted)
        .or_else(|| too_few("Available", status("availableReplicas"), wanted))
        .or_else(|| too_few("Ready", status("readyReplicas"), wanted))
        .or_else(|| too_many(there, wanted))
        .unwrap_or_else(|| healthy(format!("ReplicaSet is available. Replicas: {there}")))
}
