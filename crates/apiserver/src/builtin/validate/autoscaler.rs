//! `autoscaling`: how many pods there are by how much they do.

use std::collections::BTreeSet;

use model::Value;

use super::amount::{amount, container_resource_name, not_negative};
use super::at::At;
use super::errors::Errors;
use super::name::{self, path_segment};

/// A new autoscaler.
pub(super) fn autoscaler(object: &At, errors: &mut Errors) {
    check(object, None, errors);
}

/// A changed autoscaler.
pub(super) fn autoscaler_update(object: &At, old: &At, errors: &mut Errors) {
    check(object, Some(old), errors);
}

fn check(object: &At, old: Option<&At>, errors: &mut Errors) {
    let spec = object.get("spec");
    let (least, most) = (spec.get("minReplicas"), spec.num("maxReplicas"));
    if least.is_set() && least.int() < 1 {
        errors.invalid(&least, "must be greater than or equal to 1");
    }
    if most.int() < 1 {
        errors.invalid(&most, "must be greater than 0");
    }
    if least.is_set() && most.int() < least.int() {
        errors.invalid(&most, "must be greater than or equal to `minReplicas`");
    }
    let target = spec.get("scaleTargetRef");
    let same_kind = old.is_some_and(|old| {
        let before = old.deep("spec.scaleTargetRef");
        ["apiVersion", "kind"]
            .iter()
            .all(|name| before.text_of(name) == target.text_of(name))
    });
    reference(
        &target,
        if same_kind {
            Version::Any
        } else {
            Version::WithGroup
        },
        errors,
    );
    let metrics = spec.get("metrics");
    for one in metrics.items() {
        metric(&one, errors);
    }
    let scales = |kind: &str| metrics.items().any(|one| one.text_of("type") == kind);
    if least.value() == &Value::Int(0) && !scales("Object") && !scales("External") {
        let detail =
            "must specify at least one Object or External metric to support scaling to zero replicas";
        errors.forbidden(&metrics, detail);
    }
    let behavior = spec.get("behavior");
    for way in ["scaleUp", "scaleDown"] {
        let rules = behavior.get(way);
        if rules.is_set() {
            scaling_rules(&rules, errors);
        }
    }
}

/// What the version of a reference must be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    Any,
    Known,
    WithGroup,
}

fn reference(at: &At, version: Version, errors: &mut Errors) {
    for field in ["kind", "name"] {
        let part = at.txt(field);
        if errors.require_text(&part) {
            errors.each(&part, path_segment(part.text()));
        }
    }
    let full = at.txt("apiVersion");
    let text = full.text();
    match text.matches('/').count() {
        _ if version == Version::Any => {}
        0 if version == Version::WithGroup => errors.invalid(&full, "apiVersion must specify API group"),
        1 if version == Version::WithGroup && text.starts_with('/') => {
            errors.invalid(&full, "apiVersion must specify API group");
        }
        0 | 1 => {}
        _ => errors.invalid(&full, format!("unexpected GroupVersion string: {text}")),
    }
}

fn scaling_rules(at: &At, errors: &mut Errors) {
    let window = at.get("stabilizationWindowSeconds");
    if window.int() < 0 {
        errors.invalid(&window, "must be greater than or equal to zero");
    }
    if window.int() > 3600 {
        errors.invalid(&window, "must be less than or equal to 3600");
    }
    errors.one_of_if_set(&at.get("selectPolicy"), &["Disabled", "Max", "Min"]);
    let policies = at.get("policies");
    if policies.is_empty() {
        errors.required(&policies, "must specify at least one Policy");
    }
    for one in policies.items() {
        let kind = one.txt("type");
        if !matches!(kind.text(), "Pods" | "Percent") {
            errors.not_supported(&kind, &["Percent", "Pods"]);
        }
        errors.positive(&one.num("value"));
        let period = one.num("periodSeconds");
        errors.positive(&period);
        if period.int() > 1800 {
            errors.invalid(&period, "must be less than or equal to 1800");
        }
    }
    not_negative(&at.get("tolerance"), errors);
}

const METRICS: [&str; 5] = ["ContainerResource", "External", "Object", "Pods", "Resource"];
const SOURCES: [&str; 5] = ["object", "external", "pods", "resource", "containerResource"];

fn metric(at: &At, errors: &mut Errors) {
    let kind = at.txt("type");
    if kind.text().is_empty() {
        errors.required(&kind, "must specify a metric source type");
    }
    let known = METRICS.contains(&kind.text());
    if !known {
        errors.not_supported(&kind, &METRICS);
    }
    let mut present: BTreeSet<&str> = BTreeSet::new();
    for name in SOURCES {
        let source = at.get(name);
        if source.is_set() {
            if present.is_empty() {
                metric_source(name, &source, errors);
            }
            present.insert(name);
        }
    }
    let expected = SOURCES
        .iter()
        .find(|name| name.eq_ignore_ascii_case(kind.text()))
        .filter(|_| known);
    match expected {
        Some(name) if !present.contains(name) => {
            errors.required(
                &at.get(name),
                "must populate information for the given metric source",
            );
        }
        Some(_) => {}
        None => errors.not_supported(&kind, &METRICS),
    }
    if present.len() != 1 {
        for name in present.into_iter().filter(|name| Some(name) != expected) {
            errors.forbidden(&at.get(name), "must populate the given metric source only");
        }
    }
}

fn metric_source(name: &str, at: &At, errors: &mut Errors) {
    let target = at.get("target");
    let (has_value, has_average) = (target.has("value"), target.has("averageValue"));
    let has_utilization = target.has("averageUtilization");
    match name {
        "object" => {
            reference(&at.get("describedObject"), Version::Known, errors);
            identifier(&at.get("metric"), errors);
        }
        "external" | "pods" => identifier(&at.get("metric"), errors),
        _ => {
            let name_at = at.txt("name");
            let is_container = name == "containerResource";
            if name_at.text().is_empty() {
                errors.required(&name_at, "must specify a resource name");
            } else if is_container {
                container_resource_name(name_at.text(), &name_at, errors);
            }
            let container = at.txt("container");
            if is_container && container.text().is_empty() {
                errors.required(&container, "must specify a container");
            } else if is_container {
                errors.each(&container, name::label(container.text()));
            }
        }
    }
    metric_target(&target, errors);
    let (value, average) = (target.get("value"), target.get("averageValue"));
    match name {
        "object" if !has_value && !has_average => {
            errors.required(&average, "must set either a target value or averageValue");
        }
        "external" if !has_value && !has_average => {
            let detail = "must set either a target value for metric or a per-pod target";
            errors.required(&average, detail);
        }
        "external" if has_value && has_average => {
            let detail = "may not set both a target value for metric and a per-pod target";
            errors.forbidden(&value, detail);
        }
        "pods" if !has_average => errors.required(&average, "must specify a positive target averageValue"),
        "resource" | "containerResource" if !has_utilization && !has_average => {
            let detail = "must set either a target raw value or a target utilization";
            errors.required(&target.get("averageUtilization"), detail);
        }
        "resource" | "containerResource" if has_utilization && has_average => {
            let detail = "may not set both a target raw value and a target utilization";
            errors.forbidden(&average, detail);
        }
        _ => {}
    }
}

fn identifier(at: &At, errors: &mut Errors) {
    let name_at = at.txt("name");
    match name_at.text() {
        "" => errors.required(&name_at, "must specify a metric name"),
        text => errors.each(&name_at, path_segment(text)),
    }
}

fn metric_target(at: &At, errors: &mut Errors) {
    let kind = at.txt("type");
    if kind.text().is_empty() {
        errors.required(&kind, "must specify a metric target type");
    }
    if !matches!(kind.text(), "Utilization" | "Value" | "AverageValue") {
        errors.invalid(&kind, "must be either Utilization, Value, or AverageValue");
    }
    for field in ["value", "averageValue"] {
        let one = at.get(field);
        let worth = amount(one.value());
        if one.is_set() && (worth.is_zero() || worth.is_negative()) {
            errors.invalid(&one, "must be positive");
        }
    }
    let utilization = at.get("averageUtilization");
    if utilization.is_set() && utilization.int() < 1 {
        errors.invalid(&utilization, "must be greater than 0");
    }
}

/// A changed status.
pub(super) fn autoscaler_status(object: &At, _old: &At, errors: &mut Errors) {
    let status = object.get("status");
    errors.not_negative(&status.num("currentReplicas"));
    errors.not_negative(&status.num("desiredReplicas"));
}
