//! The rules of kstatus, as Flux goes by them: first what all objects have in common, then the rules of a kind, then a
//! `Ready` condition. An object of which nothing is known is done.
//!
//! Jobs are Flux's: a job is done when it has completed, not when it has started.

mod custom_resource_definition;
mod daemon_set;
mod deployment;
mod job;
mod persistent_volume_claim;
mod pod;
mod replica_set;
mod service;
mod stateful_set;

use jiff::Timestamp;
use model::health::State;
use model::{Health, Value};

use super::object::{Object, degraded, healthy, progressing};

/// How an object is doing at this time.
pub fn assess(object: &Value, now: Timestamp) -> Health {
    let object = Object(object);
    if let Some(health) = common(object) {
        return health;
    }
    match object.group_kind() {
        ("", "Service") => service::assess(object),
        ("", "Pod") => pod::assess(object, now),
        ("", "PersistentVolumeClaim") => persistent_volume_claim::assess(object),
        ("", "Secret" | "ConfigMap") | ("batch", "CronJob") => healthy("Resource is always ready"),
        ("apps", "StatefulSet") => stateful_set::assess(object),
        ("apps" | "extensions", "DaemonSet") => daemon_set::assess(object),
        ("apps" | "extensions", "Deployment") => deployment::assess(object),
        ("apps" | "extensions", "ReplicaSet") => replica_set::assess(object),
        // That its controller has seen it is all there is to know.
        ("policy", "PodDisruptionBudget") => healthy("AllowedDisruptions has been computed."),
        ("batch", "Job") => job::assess(object),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => custom_resource_definition::assess(object),
        _ => by_ready(object).unwrap_or_else(|| healthy("Resource is current")),
    }
}

/// What can be told of an object of any kind.
fn common(object: Object<'_>) -> Option<Health> {
    if object.is_being_deleted() {
        return Some(Health::because(
            State::Terminating,
            "Resource scheduled for deletion",
        ));
    }
    let generation = object.int(&["metadata", "generation"]);
    let observed = object.int(&["status", "observedGeneration"]);
    if let (Some(generation), Some(observed)) = (generation, observed)
        && generation != observed
    {
        let (_, kind) = object.group_kind();
        return Some(progressing(format!(
            "{kind} generation is {generation}, but latest observed generation is {observed}"
        )));
    }
    let mut conditions = object.conditions().filter(|condition| condition.is_true());
    conditions.find_map(|condition| match condition.kind() {
        "Reconciling" => Some(progressing(condition.message())),
        "Stalled" => Some(degraded(condition.message())),
        _ => None,
    })
}

/// What a `Ready` condition tells. One that is false may become true: whether it will, nobody says.
fn by_ready(object: Object<'_>) -> Option<Health> {
    let mut ready = object
        .conditions()
        .filter(|condition| condition.kind() == "Ready");
    ready.find_map(|condition| match condition.status() {
        "True" => Some(healthy("Resource is Ready")),
        "False" | "Unknown" => Some(progressing(condition.message())),
        _ => None,
    })
}

/// Whether fewer are there than should be: the message that says so.
fn too_few(what: &str, have: i64, want: i64) -> Option<Health> {
    (want > have).then(|| progressing(format!("{what}: {have}/{want}")))
}

/// Whether more are there than should be.
fn too_many(have: i64, want: i64) -> Option<Health> {
    (have > want).then(|| progressing(format!("Pending termination: {}", have.saturating_sub(want))))
}
