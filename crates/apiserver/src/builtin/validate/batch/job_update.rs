//! What of a job may change.

use model::Value;

use super::super::at::At;
use super::super::errors::Errors;
use super::job::{check, with_selector};

/// A changed job.
pub(in super::super) fn job_update(object: &At, old: &At, errors: &mut Errors) {
    check(object, errors);
    let (spec, old_spec) = (object.get("spec"), old.get("spec"));
    with_selector(&spec, errors);
    completions(&spec, &old_spec, errors);
    errors.immutable_as(
        &spec.get("selector"),
        &old_spec.get("selector"),
        "meta.LabelSelector",
    );
    template(&spec, old, errors);
    errors.immutable(&spec.get("completionMode"), &old_spec.get("completionMode"));
    let policy = "*batch.PodFailurePolicy";
    errors.immutable_as(
        &spec.get("podFailurePolicy"),
        &old_spec.get("podFailurePolicy"),
        policy,
    );
    errors.immutable(
        &spec.get("backoffLimitPerIndex"),
        &old_spec.get("backoffLimitPerIndex"),
    );
    errors.immutable(&spec.get("managedBy"), &old_spec.get("managedBy"));
    let policy = "*batch.SuccessPolicy";
    errors.immutable_as(&spec.get("successPolicy"), &old_spec.get("successPolicy"), policy);
}

/// Only the pods of a job that have numbers can become more or fewer, all of them at the same time.
fn completions(spec: &At, old_spec: &At, errors: &mut Errors) {
    let (at, old) = (spec.get("completions"), old_spec.get("completions"));
    if spec.text_of("completionMode") != "Indexed" {
        errors.immutable(&at, &old);
        return;
    }
    if at.value() != old.value() && at.is_set() && at.int() != spec.int_of("parallelism") {
        errors.invalid(&at, "can only be modified in tandem with spec.parallelism");
    }
}

fn template(spec: &At, old: &At, errors: &mut Errors) {
    let at = spec.get("template");
    let old_spec = old.get("spec");
    let mut before = old_spec.get("template").value().clone();
    let waits = old_spec.flag_of("suspend") && !old.deep("status.startTime").is_set();
    if waits {
        take_over(&mut before, at.value());
    }
    if *at.value() != before {
        errors.invalid_as(&at, "core.PodTemplateSpec", super::super::errors::IMMUTABLE);
    }
}

/// What may still change before the first start: where pods run, and what they are labelled with.
fn take_over(old: &mut Value, new: &Value) {
    for path in [
        &["spec", "affinity", "nodeAffinity"][..],
        &["spec", "nodeSelector"],
        &["spec", "tolerations"],
        &["metadata", "annotations"],
        &["metadata", "labels"],
        &["spec", "schedulingGates"],
    ] {
        match new.at(path) {
            Some(value) => old.set_at(path, value.clone()),
            None => drop(old.remove_at(path)),
        }
    }
    let emptied = old.at(&["spec", "affinity"]).and_then(Value::as_object);
    if emptied.is_some_and(|map| map.is_empty()) && new.at(&["spec", "affinity"]).is_none() {
        old.remove_at(&["spec", "affinity"]);
    }
}
