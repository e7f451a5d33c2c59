//! What of a pod may change.

use std::collections::HashMap;

use model::Value;

use super::super::at::At;
use super::super::diff;
use super::super::errors::Errors;
use super::super::text::range;
use super::{annotation, container, pod_itself, toleration};

/// A changed pod.
pub(in super::super) fn update(pod: &At, old: &At, errors: &mut Errors) {
    pod_itself(pod, errors);
    let (metadata, old_metadata) = (pod.get("metadata"), old.get("metadata"));
    let notes = metadata.get("annotations");
    annotation::update(&notes, &old_metadata.get("annotations"), errors);
    let (spec, old_spec) = (pod.get("spec"), old.get("spec"));
    annotation::annotations(&notes, &spec, errors);
    for list in ["containers", "initContainers"] {
        if !containers(&spec.get(list), &old_spec.get(list), errors) {
            return;
        }
    }
    if !deadline(
        &spec.get("activeDeadlineSeconds"),
        &old_spec.get("activeDeadlineSeconds"),
        errors,
    ) {
        return;
    }
    added_tolerations(&spec.get("tolerations"), &old_spec.get("tolerations"), errors);
    removed_gates(
        &spec.get("schedulingGates"),
        &old_spec.get("schedulingGates"),
        errors,
    );
    if spec.value() == old_spec.value() {
        return;
    }
    let mut rest = with_old_parts(spec.value(), old_spec.value());
    if !old_spec.get("schedulingGates").is_empty() {
        waiting(&spec, &old_spec, &mut rest, errors);
    }
    if rest != *old_spec.value() {
        let difference = diff::of_values("core.PodSpec", old_spec.value(), &rest);
        errors.forbidden(
            &spec,
            format!(
                "pod updates may not change fields other than `spec.containers[*].image`,\
                 `spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to \
                 existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was \
                 previously negative)\n{difference}"
            ),
        );
    }
}

/// Containers are neither added nor removed. Returns whether to go on.
fn containers(at: &At, old: &At, errors: &mut Errors) -> bool {
    if at.len() != old.len() {
        errors.forbidden(at, "pod updates may not add or remove containers");
        return false;
    }
    for one in at.items() {
        errors.require_text(&one.txt("image"));
        container::image_spaces(&one, errors);
    }
    true
}

/// The deadline may only come nearer. Returns whether to go on.
fn deadline(at: &At, old: &At, errors: &mut Errors) -> bool {
    let most = i64::from(i32::MAX);
    match (at.is_set(), old.is_set()) {
        (true, _) if !(0..=most).contains(&at.int()) => errors.invalid(at, range(0, most)),
        (true, true) if old.int() < at.int() => {
            errors.invalid(at, "must be less than or equal to previous value");
        }
        (false, true) => {
            errors.invalid(at, "must not update from a positive integer to nil value");
            return true;
        }
        _ => return true,
    }
    false
}

fn added_tolerations(at: &At, old: &At, errors: &mut Errors) {
    let without_time = |toleration: &Value| {
        let mut toleration = toleration.clone();
        toleration.remove_at(&["tolerationSeconds"]);
        model::json::to_string(&toleration)
    };
    if at.value() == old.value() {
        return toleration::tolerations(at, errors);
    }
    let kept: Vec<String> = at.list().iter().map(without_time).collect();
    if old
        .list()
        .iter()
        .any(|toleration| !kept.contains(&without_time(toleration)))
    {
        let detail = "existing toleration can not be modified except its tolerationSeconds";
        errors.forbidden(at, detail);
        return;
    }
    toleration::tolerations(at, errors);
}

fn removed_gates(at: &At, old: &At, errors: &mut Errors) {
    let mut added: HashMap<&str, usize> = HashMap::new();
    for (index, gate) in at.items().enumerate() {
        added.insert(gate.text_of("name"), index);
    }
    for gate in old.items() {
        added.remove(gate.text_of("name"));
    }
    let mut added: Vec<_> = added.into_iter().collect();
    added.sort_by_key(|(_, index)| *index);
    for (name, index) in added {
        let gate = at.index(index);
        let detail = format!("only deletion is allowed, but found new scheduling gate '{name}'");
        errors.forbidden(&gate.get("name"), detail);
    }
}

/// The new spec with the old values of all that may change.
fn with_old_parts(spec: &Value, old: &Value) -> Value {
    let mut rest = spec.clone();
    for list in ["containers", "initContainers"] {
        let images = old.list_at(&[list]).iter().map(|one| one.get("image"));
        let new = rest.get_mut(list).and_then(Value::as_array_mut);
        for (container, image) in new.into_iter().flatten().zip(images) {
            put(container, "image", image);
        }
    }
    for name in ["activeDeadlineSeconds", "schedulingGates", "tolerations"] {
        put(&mut rest, name, old.get(name));
    }
    let grace = "terminationGracePeriodSeconds";
    let number = |spec: &Value| spec.get(grace).and_then(Value::as_i64);
    if number(old).is_some_and(|grace| grace < 0) && number(&rest) == Some(1) {
        put(&mut rest, grace, old.get(grace));
    }
    rest
}

fn put(object: &mut Value, name: &str, value: Option<&Value>) {
    match value {
        Some(value) => object.set_at(&[name], value.clone()),
        None => drop(object.remove_at(&[name])),
    }
}

/// A pod that waits at a gate may be bound to fewer nodes.
fn waiting(spec: &At, old: &At, rest: &mut Value, errors: &mut Errors) {
    let (nodes, old_nodes) = (spec.get("nodeSelector"), old.get("nodeSelector"));
    if old_nodes
        .entries()
        .any(|(key, value)| nodes.key(key).value() != value.value())
    {
        let detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
        errors.invalid(&nodes, detail);
    }
    put(rest, "nodeSelector", old.value().get("nodeSelector"));
    let wishes = spec.get("affinity");
    let (affinity, old_affinity) = (wishes.get("nodeAffinity"), old.deep("affinity.nodeAffinity"));
    if affinity.value() == old_affinity.value() {
        return;
    }
    narrower(&affinity, &old_affinity, errors);
    let has_others = wishes.has("podAffinity") || wishes.has("podAntiAffinity");
    match old_affinity.is_set() {
        true => rest.set_at(&["affinity", "nodeAffinity"], old_affinity.value().clone()),
        false if !old.has("affinity") && !has_others => drop(rest.remove_at(&["affinity"])),
        false => drop(rest.remove_at(&["affinity", "nodeAffinity"])),
    }
}

fn narrower(affinity: &At, old: &At, errors: &mut Errors) {
    let required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution");
    let terms = required.get("nodeSelectorTerms");
    let old_terms = old.deep("requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms");
    if !old_terms.is_empty() && old_terms.len() != terms.len() {
        let detail = "no additions/deletions to non-empty NodeSelectorTerms list are allowed";
        errors.invalid_as(&terms, "[]core.NodeSelectorTerm", detail);
        return;
    }
    for (term, old_term) in terms.items().zip(old_terms.items()) {
        let grows = |name: &str| term.get(name).list().starts_with(old_term.get(name).list());
        let was_empty = old_term.get("matchExpressions").is_empty() && old_term.get("matchFields").is_empty();
        let is_empty = term.get("matchExpressions").is_empty() && term.get("matchFields").is_empty();
        if (was_empty && !is_empty) || !grows("matchExpressions") || !grows("matchFields") {
            let detail = "only additions are allowed (no mutations or deletions)";
            errors.invalid_as(&term, "core.NodeSelectorTerm", detail);
        }
    }
}
