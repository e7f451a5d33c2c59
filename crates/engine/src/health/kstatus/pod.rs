//! Pods: ready, or at their end, whichever way they ended. One that crashes again and again, or that finds no node, has failed.

use jiff::{SignedDuration, Timestamp};
use model::Health;
use model::health::State;

use super::super::object::{Object, degraded, healthy, progressing};

/// How long a pod may look for a node.
const SCHEDULE_WINDOW: SignedDuration = SignedDuration::from_secs(15);

pub(super) fn assess(object: Object<'_>, now: Timestamp) -> Health {
    match object.text(&["status", "phase"]) {
        "Succeeded" => healthy("Pod has completed successfully"),
        "Failed" => healthy("Pod has completed, but not successfully"),
        "Running" => running(object),
        "Pending" => pending(object, now),
        "" => progressing("Pod phase not available"),
        other => Health::because(State::Unknown, format!("unknown phase {other}")),
    }
}

fn running(object: Object<'_>) -> Health {
    let mut conditions = object.conditions();
    if conditions.any(|condition| condition.kind() == "Ready" && condition.is_true()) {
        return healthy("Pod is Ready");
    }
    let containers = object.list(&["status", "containerStatuses"]).iter();
    let crashing = containers
        .filter(|container| container.str_at(&["state", "waiting", "reason"]) == "CrashLoopBackOff")
        .filter_map(|container| container.get("name")?.as_str());
    let crashing: Vec<&str> = crashing.collect();
    match crashing.is_empty() {
        true => progressing("Pod is running but is not Ready"),
        false => degraded(format!("Containers in CrashLoop state: {}", crashing.join(","))),
    }
}

fn pending(object: Object<'_>, now: Timestamp) -> Health {
    let mut conditions = object.conditions();
    let unscheduled = conditions.find(|condition| condition.kind() == "PodScheduled" && condition.is_false());
    if unscheduled.is_none_or(|condition| condition.reason() != "Unschedulable") {
        return progressing("Pod is in the Pending phase");
    }
    let created = object
        .text(&["metadata", "creationTimestamp"])
        .parse::<Timestamp>();
    match created.is_ok_and(|created| now.duration_since(created) < SCHEDULE_WINDOW) {
        true => progressing("Pod has not been scheduled"),
        false => degraded("Pod could not be scheduled"),
    }
}
