//! `policy`: how many pods may be missing.

use super::apps::{not_above_100_percent, number_or_percent};
use super::at::At;
use super::condition::conditions;
use super::errors::Errors;
use super::selector::selector;

/// A disruption budget.
pub(super) fn budget(object: &At, errors: &mut Errors) {
    let spec = object.get("spec");
    let (least, most) = (spec.get("minAvailable"), spec.get("maxUnavailable"));
    if least.is_set() && most.is_set() {
        let detail = "minAvailable and maxUnavailable cannot be both set";
        errors.invalid_as(&spec, "policy.PodDisruptionBudgetSpec", detail);
    }
    for one in [least, most] {
        if one.is_set() {
            number_or_percent(&one, errors);
            not_above_100_percent(&one, errors);
        }
    }
    selector(&spec.get("selector"), errors);
    errors.one_of_if_set(
        &spec.get("unhealthyPodEvictionPolicy"),
        &["AlwaysAllow", "IfHealthyBudget"],
    );
}

/// A changed status.
pub(super) fn budget_status(object: &At, _old: &At, errors: &mut Errors) {
    let status = object.get("status");
    conditions(&status.get("conditions"), errors);
    for name in [
        "disruptionsAllowed",
        "currentHealthy",
        "desiredHealthy",
        "expectedPods",
    ] {
        errors.not_negative(&status.num(name));
    }
}
