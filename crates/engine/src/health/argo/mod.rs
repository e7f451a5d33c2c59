//! The rules of Argo CD. Kinds that it has no rule for have no health, which a sync counts as well.

mod api_service;
mod daemon_set;
mod deployment;
mod horizontal_pod_autoscaler;
mod job;
mod persistent_volume_claim;
mod pod;
mod replica_set;
mod stateful_set;
mod workflow;

use model::health::State;
use model::{Health, Value};

use super::object::{Object, progressing};

/// What keeps a hook until its result was seen: such an object is still looked at while it is being deleted.
const HOOK_FINALIZER: &str = "argocd.argoproj.io/hook-finalizer";

/// How an object is doing, if there is a rule for its kind.
pub fn assess(object: &Value) -> Option<Health> {
    if is_leaving(object) {
        return Some(progressing("Pending deletion"));
    }
    let object = Object(object);
    Some(match object.group_kind() {
        ("apps", "Deployment") => deployment::assess(object),
        ("apps", "StatefulSet") => stateful_set::assess(object),
        ("apps", "ReplicaSet") => replica_set::assess(object),
        ("apps", "DaemonSet") => daemon_set::assess(object),
        ("extensions" | "networking.k8s.io", "Ingress") => balanced(object),
        ("", "Service") if object.text(&["spec", "type"]) == "LoadBalancer" => balanced(object),
        ("", "Service") => Health::new(State::Healthy),
        ("", "PersistentVolumeClaim") => persistent_volume_claim::assess(object),
        ("", "Pod") => pod::assess(object),
        ("batch", "Job") => job::assess(object),
        ("autoscaling", "HorizontalPodAutoscaler") => horizontal_pod_autoscaler::assess(object),
        ("apiregistration.k8s.io", "APIService") => api_service::assess(object),
        ("argoproj.io", "Workflow") => workflow::assess(object),
        _ => return None,
    })
}

/// Whether an object is being deleted and nobody waits for its result any more.
pub(super) fn is_leaving(object: &Value) -> bool {
    let object = Object(object);
    let mut finalizers = object.list(&["metadata", "finalizers"]).iter();
    object.is_being_deleted() && !finalizers.any(|one| one.as_str() == Some(HOOK_FINALIZER))
}

/// What is reached from outside has an address there.
fn balanced(object: Object<'_>) -> Health {
    let addresses = object.list(&["status", "loadBalancer", "ingress"]);
    Health::new(match addresses.is_empty() {
        true => State::Progressing,
        false => State::Healthy,
    })
}

/// Whether the controller of an object has not seen its newest version yet.
fn is_behind(object: Object<'_>) -> bool {
    let observed = object.int_or(&["status", "observedGeneration"], 0);
    object.int_or(&["metadata", "generation"], 0) > observed
}
