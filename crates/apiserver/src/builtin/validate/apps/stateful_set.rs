//! Stateful sets.

use std::borrow::Cow;
use std::collections::BTreeSet;

use model::{Value, value};

use super::super::at::At;
use super::super::errors::Errors;
use super::super::name;
use super::super::pod::{runs_for_good, selected, template};
use super::super::selector::{annotations, is_empty, labels, selector};
use super::super::storage::claim;
use super::rollout::{not_above_100_percent, number, number_or_percent};
use super::{collisions, counts, parts_of_replicas};

/// A new stateful set.
pub(in super::super) fn stateful_set(object: &At, errors: &mut Errors) {
    check(object, Change::New, errors);
}

/// Parts that cannot change are checked once.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    New,
    Update,
}

fn check(object: &At, change: Change, errors: &mut Errors) {
    let spec = object.get("spec");
    let policy = spec.txt("podManagementPolicy");
    match policy.text() {
        "" => errors.required(&policy, ""),
        "OrderedReady" | "Parallel" => {}
        _ => errors.invalid(&policy, "must be 'OrderedReady' or 'Parallel'"),
    }
    strategy(&spec.get("updateStrategy"), errors);
    retention(&spec.get("persistentVolumeClaimRetentionPolicy"), errors);
    if change == Change::New {
        for one in spec.get("volumeClaimTemplates").items() {
            claim::spec(&one.get("spec"), errors);
        }
    }
    errors.not_negative(&spec.num("replicas"));
    errors.not_negative(&spec.num("minReadySeconds"));
    errors.not_negative(&spec.deep("ordinals.start"));
    let service = spec.txt("serviceName");
    if change == Change::New && !service.text().is_empty() {
        errors.each(&service, name::label(service.text()));
    }
    pods(&spec, errors);
    let pod = spec.get("template");
    runs_for_good(&pod, "StatefulSet", errors);
}

fn strategy(at: &At, errors: &mut Errors) {
    let rolling = at.get("rollingUpdate");
    match at.text_of("type") {
        "" => errors.required(at, ""),
        "OnDelete" => {
            if rolling.is_set() {
                let detail = "only allowed for updateStrategy 'RollingUpdate'";
                errors.invalid_as(&rolling, "apps.RollingUpdateStatefulSetStrategy", detail);
            }
        }
        "RollingUpdate" => {
            errors.not_negative(&rolling.num("partition"));
            let missing = rolling.get("maxUnavailable");
            if missing.is_set() {
                number_or_percent(&missing, errors);
                if number(&missing) == 0 {
                    errors.invalid(&missing, "cannot be 0");
                }
                not_above_100_percent(&missing, errors);
            }
        }
        _ => errors.invalid_as(
            at,
            "apps.StatefulSetUpdateStrategy",
            "must be 'RollingUpdate' or 'OnDelete'",
        ),
    }
}

fn retention(at: &At, errors: &mut Errors) {
    if at.is_set() {
        for when in ["whenDeleted", "whenScaled"] {
            let policy = at.txt(when);
            if !matches!(policy.text(), "Retain" | "Delete") {
                errors.not_supported(&policy, &["Retain", "Delete"]);
            }
        }
    }
}

fn pods(spec: &At, errors: &mut Errors) {
    let found_by = spec.get("selector");
    let mut usable = true;
    if !found_by.is_set() {
        errors.required(&found_by, "");
    } else {
        usable = selector(&found_by, errors);
        if is_empty(&found_by) {
            let detail = "empty selector is invalid for statefulset";
            errors.invalid_as(&found_by, "meta.LabelSelector", detail);
        }
    }
    if !usable {
        errors.invalid_as(&found_by, "meta.LabelSelector", "");
        return;
    }
    let pod = completed(spec);
    let at = spec.get("template");
    let at = at.with(&pod);
    if !is_empty(&found_by) {
        selected(&at, &found_by, errors);
    }
    template(&at, errors);
    // The real server looks at these twice.
    let metadata = at.get("metadata");
    let here = at.get("labels");
    labels(&here.with(metadata.get("labels").value()), errors);
    let here = at.get("annotations");
    annotations(&here.with(metadata.get("annotations").value()), errors);
}

/// The template as pods are made from it: with the volumes of the claims, without names that the set gives.
fn completed<'v>(spec: &At<'_, 'v>) -> Cow<'v, Value> {
    let (pod, claims) = (spec.get("template"), spec.get("volumeClaimTemplates"));
    let inner = pod.get("spec");
    if claims.is_empty() && !inner.has("subdomain") && !inner.has("hostname") {
        return Cow::Borrowed(pod.value());
    }
    let mut changed = pod.value().clone();
    changed.remove_at(&["spec", "subdomain"]);
    changed.remove_at(&["spec", "hostname"]);
    let name_of = |claim: &'v Value| claim.str_at(&["metadata", "name"]);
    let names: BTreeSet<&str> = claims.list().iter().map(name_of).collect();
    let made = names
        .iter()
        .map(|name| value!({ "name": (*name), "persistentVolumeClaim": { "claimName": (*name) } }));
    let kept = inner.get("volumes");
    let kept = kept
        .list()
        .iter()
        .filter(|volume| !names.contains(volume.str_at(&["name"])))
        .cloned();
    if !claims.is_empty() {
        let volumes: Vec<Value> = made.chain(kept).collect();
        changed.set_at(&["spec", "volumes"], volumes);
    }
    Cow::Owned(changed)
}

/// A changed stateful set.
pub(in super::super) fn stateful_set_update(object: &At, old: &At, errors: &mut Errors) {
    check(object, Change::Update, errors);
    let (spec, old_spec) = (object.get("spec"), old.get("spec"));
    let fixed = |(name, _): &(&str, &Value)| {
        !matches!(
            *name,
            "replicas"
                | "template"
                | "updateStrategy"
                | "minReadySeconds"
                | "ordinals"
                | "revisionHistoryLimit"
                | "persistentVolumeClaimRetentionPolicy"
        )
    };
    let parts = |at: &At| -> Vec<(String, Value)> {
        let all = at.map().into_iter().flat_map(|map| map.iter());
        all.filter(fixed)
            .map(|(name, value)| (name.to_owned(), value.clone()))
            .collect()
    };
    if spec.value() != old_spec.value() && parts(&spec) != parts(&old_spec) {
        errors.forbidden(
            &spec,
            "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', \
             'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
        );
    }
}

/// A changed status.
pub(in super::super) fn stateful_set_status(object: &At, old: &At, errors: &mut Errors) {
    let status = object.get("status");
    counts(
        &status,
        &[
            "replicas",
            "readyReplicas",
            "currentReplicas",
            "updatedReplicas",
            "availableReplicas",
            "observedGeneration",
            "collisionCount",
        ],
        errors,
    );
    parts_of_replicas(
        &status,
        &[
            "readyReplicas",
            "currentReplicas",
            "updatedReplicas",
            "availableReplicas",
        ],
        errors,
    );
    if status.int_of("availableReplicas") > status.int_of("readyReplicas") {
        let detail = "cannot be greater than status.readyReplicas";
        errors.invalid(&status.num("availableReplicas"), detail);
    }
    collisions(&status, old, errors);
}
