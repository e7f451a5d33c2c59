//! Replica sets, and the replication controllers that came before them.

use super::super::at::At;
use super::super::errors::Errors;
use super::super::pod::{selected_by_labels, template_of_replicas};
use super::deployment::replicas;
use super::{counts, parts_of_replicas};

/// A replica set.
pub(in super::super) fn replica_set(object: &At, errors: &mut Errors) {
    let spec = object.get("spec");
    errors.not_negative(&spec.num("replicas"));
    errors.not_negative(&spec.num("minReadySeconds"));
    replicas(&spec, "deployment", errors);
}

/// A changed replica set.
pub(in super::super) fn replica_set_update(object: &At, old: &At, errors: &mut Errors) {
    replica_set(object, errors);
    let (pods, old_pods) = (object.deep("spec.selector"), old.deep("spec.selector"));
    errors.immutable_as(&pods, &old_pods, "meta.LabelSelector");
}

/// A changed status.
pub(in super::super) fn replica_set_status(object: &At, _old: &At, errors: &mut Errors) {
    let status = object.get("status");
    counts(
        &status,
        &[
            "replicas",
            "fullyLabeledReplicas",
            "readyReplicas",
            "availableReplicas",
            "observedGeneration",
            "terminatingReplicas",
        ],
        errors,
    );
    replicas_of(&status, errors);
}

fn replicas_of(status: &At, errors: &mut Errors) {
    parts_of_replicas(
        status,
        &["fullyLabeledReplicas", "readyReplicas", "availableReplicas"],
        errors,
    );
    if status.int_of("availableReplicas") > status.int_of("readyReplicas") {
        let detail = "cannot be greater than readyReplicas";
        errors.invalid(&status.num("availableReplicas"), detail);
    }
}

/// A replication controller.
pub(in super::super) fn replication_controller(object: &At, errors: &mut Errors) {
    let spec = object.get("spec");
    errors.not_negative(&spec.num("minReadySeconds"));
    let pods = spec.get("selector");
    if pods.is_empty() {
        errors.required(&pods, "");
    }
    let count = spec.get("replicas");
    match count.is_set() {
        true => errors.not_negative(&count),
        false => errors.required(&count, ""),
    }
    let template = spec.get("template");
    if !template.is_set() {
        errors.required(&template, "");
        return;
    }
    selected_by_labels(&template, &pods, errors);
    template_of_replicas(&template, None, "ReplicationController", errors);
}

/// A changed status.
pub(in super::super) fn replication_controller_status(object: &At, _old: &At, errors: &mut Errors) {
    let status = object.get("status");
    counts(
        &status,
        &[
            "replicas",
            "fullyLabeledReplicas",
            "readyReplicas",
            "availableReplicas",
            "observedGeneration",
        ],
        errors,
    );
    replicas_of(&status, errors);
}
