//! Daemon sets.

use super::super::at::At;
use super::super::errors::Errors;
use super::super::pod::{runs_for_good, selected, template};
use super::super::selector::{is_empty, selector};
use super::rollout::{not_above_100_percent, number, number_or_percent};
use super::{collisions, counts};

/// A daemon set.
pub(in super::super) fn daemon_set(object: &At, errors: &mut Errors) {
    let spec = object.get("spec");
    let (pods, pod) = (spec.get("selector"), spec.get("template"));
    if selector(&pods, errors) {
        selected(&pod, &pods, errors);
    }
    if is_empty(&pods) {
        errors.invalid_as(
            &pods,
            "meta.LabelSelector",
            "empty selector is invalid for daemonset",
        );
    }
    template(&pod, errors);
    runs_for_good(&pod, "DaemonSet", errors);
    errors.not_negative(&spec.num("minReadySeconds"));
    strategy(&spec.get("updateStrategy"), errors);
    errors.not_negative(&spec.num("revisionHistoryLimit"));
}

fn strategy(at: &At, errors: &mut Errors) {
    match at.text_of("type") {
        "OnDelete" => {}
        "RollingUpdate" => {
            let rolling = at.get("rollingUpdate");
            match rolling.is_set() {
                true => rolling_update(&rolling, errors),
                false => errors.required(&rolling, ""),
            }
        }
        _ => errors.not_supported_as(at, "apps.DaemonSetUpdateStrategy", &["RollingUpdate", "OnDelete"]),
    }
}

fn rolling_update(at: &At, errors: &mut Errors) {
    let (missing, extra) = (at.num("maxUnavailable"), at.num("maxSurge"));
    number_or_percent(&missing, errors);
    number_or_percent(&extra, errors);
    not_above_100_percent(&missing, errors);
    not_above_100_percent(&extra, errors);
    match (number(&missing) != 0, number(&extra) != 0) {
        (true, true) => errors.invalid(&extra, "may not be set when maxUnavailable is non-zero"),
        (false, false) => errors.required(&missing, "cannot be 0 when maxSurge is 0"),
        _ => {}
    }
}

/// A changed daemon set.
pub(in super::super) fn daemon_set_update(object: &At, old: &At, errors: &mut Errors) {
    let (pods, old_pods) = (object.deep("spec.selector"), old.deep("spec.selector"));
    errors.immutable_as(&pods, &old_pods, "meta.LabelSelector");
    daemon_set(object, errors);
}

/// A changed status.
pub(in super::super) fn daemon_set_status(object: &At, old: &At, errors: &mut Errors) {
    let status = object.get("status");
    counts(
        &status,
        &[
            "currentNumberScheduled",
            "numberMisscheduled",
            "desiredNumberScheduled",
            "numberReady",
            "observedGeneration",
            "updatedNumberScheduled",
            "numberAvailable",
            "numberUnavailable",
            "collisionCount",
        ],
        errors,
    );
    collisions(&status, old, errors);
}
