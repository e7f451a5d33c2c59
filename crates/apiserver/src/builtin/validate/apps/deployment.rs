//! Deployments.

use super::super::at::At;
use super::super::errors::Errors;
use super::super::pod::template_of_replicas;
use super::super::selector::{is_empty, selector};
use super::rollout::{not_above_100_percent, number, number_or_percent};
use super::{collisions, counts, parts_of_replicas};

/// A deployment.
pub(in super::super) fn deployment(object: &At, errors: &mut Errors) {
    let spec = object.get("spec");
    errors.not_negative(&spec.num("replicas"));
    replicas(&spec, "deployment", errors);
    strategy(&spec.get("strategy"), errors);
    errors.not_negative(&spec.num("minReadySeconds"));
    errors.not_negative(&spec.num("revisionHistoryLimit"));
    let deadline = spec.get("progressDeadlineSeconds");
    if deadline.is_set() {
        errors.not_negative(&deadline);
        if deadline.int() <= spec.int_of("minReadySeconds") {
            errors.invalid(&deadline, "must be greater than minReadySeconds");
        }
    }
}

/// The selector and the template of pods that are alike.
pub(super) fn replicas(spec: &At, kind: &str, errors: &mut Errors) {
    let pods = spec.get("selector");
    let mut usable = true;
    if !pods.is_set() {
        errors.required(&pods, "");
    } else {
        usable = selector(&pods, errors);
        if is_empty(&pods) {
            let detail = format!("empty selector is invalid for {kind}");
            errors.invalid_as(&pods, "meta.LabelSelector", detail);
        }
    }
    if !usable {
        errors.invalid_as(&pods, "meta.LabelSelector", "invalid label selector");
        return;
    }
    let selects = (!is_empty(&pods)).then_some(&pods);
    template_of_replicas(&spec.get("template"), selects, "ReplicaSet", errors);
}

fn strategy(at: &At, errors: &mut Errors) {
    let rolling = at.get("rollingUpdate");
    match at.text_of("type") {
        "Recreate" => {
            if rolling.is_set() {
                let detail = "may not be specified when strategy `type` is 'Recreate'";
                errors.forbidden(&rolling, detail);
            }
        }
        "RollingUpdate" => {
            if !rolling.is_set() {
                errors.required(&rolling, "this should be defaulted and never be nil");
                return;
            }
            let (missing, extra) = (rolling.num("maxUnavailable"), rolling.num("maxSurge"));
            number_or_percent(&missing, errors);
            number_or_percent(&extra, errors);
            if number(&missing) == 0 && number(&extra) == 0 {
                errors.invalid(&missing, "may not be 0 when `maxSurge` is 0");
            }
            not_above_100_percent(&missing, errors);
        }
        _ => errors.not_supported_as(at, "apps.DeploymentStrategy", &["Recreate", "RollingUpdate"]),
    }
}

/// A changed deployment.
pub(in super::super) fn deployment_update(object: &At, old: &At, errors: &mut Errors) {
    deployment(object, errors);
    let (pods, old_pods) = (object.deep("spec.selector"), old.deep("spec.selector"));
    errors.immutable_as(&pods, &old_pods, "meta.LabelSelector");
}

/// A changed status.
pub(in super::super) fn deployment_status(object: &At, old: &At, errors: &mut Errors) {
    let status = object.get("status");
    counts(
        &status,
        &[
            "observedGeneration",
            "replicas",
            "updatedReplicas",
            "readyReplicas",
            "availableReplicas",
            "unavailableReplicas",
            "terminatingReplicas",
            "collisionCount",
        ],
        errors,
    );
    parts_of_replicas(
        &status,
        &["updatedReplicas", "readyReplicas", "availableReplicas"],
        errors,
    );
    if status.int_of("availableReplicas") > status.int_of("readyReplicas") {
        let detail = "cannot be greater than readyReplicas";
        errors.invalid(&status.num("availableReplicas"), detail);
    }
    collisions(&status, old, errors);
}
