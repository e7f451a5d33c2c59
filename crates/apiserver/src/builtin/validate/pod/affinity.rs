//! Which nodes and neighbours a pod wants.

use model::label::value_problems;

use super::super::at::At;
use super::super::errors::Errors;
use super::super::name;
use super::super::selector::{label_key, selector};
use super::spread::label_keys;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// What a pod wants.
pub(super) fn affinity(at: &At, errors: &mut Errors) {
    if !at.is_set() {
        return;
    }
    let nodes = at.get("nodeAffinity");
    let required = nodes.get(REQUIRED);
    if required.is_set() {
        node_selector(&required, errors);
    }
    for term in nodes.get(PREFERRED).items() {
        weight(&term, errors);
        node_term(&term.get("preference"), Values::Any, errors);
    }
    for name in ["podAffinity", "podAntiAffinity"] {
        let pods = at.get(name);
        for term in pods.get(REQUIRED).items() {
            pod_term(&term, errors);
        }
        for term in pods.get(PREFERRED).items() {
            weight(&term, errors);
            pod_term(&term.get("podAffinityTerm"), errors);
        }
    }
}

fn weight(term: &At, errors: &mut Errors) {
    let at = term.num("weight");
    if !(1..=100).contains(&at.int()) {
        errors.invalid(&at, "must be in the range 1-100");
    }
}

/// A choice of nodes.
pub(in super::super) fn node_selector(at: &At, errors: &mut Errors) {
    let terms = at.get("nodeSelectorTerms");
    if terms.is_empty() {
        errors.required(&terms, "must have at least one node selector term");
    }
    for term in terms.items() {
        node_term(&term, Values::Labels, errors);
    }
}

/// What the values of a requirement must be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Values {
    Labels,
    Any,
}

fn node_term(term: &At, allowed: Values, errors: &mut Errors) {
    for requirement in term.get("matchExpressions").items() {
        node_requirement(&requirement, allowed, errors);
    }
    for requirement in term.get("matchFields").items() {
        node_field(&requirement, errors);
    }
}

fn node_requirement(at: &At, allowed: Values, errors: &mut Errors) {
    let values = at.get("values");
    match (at.text_of("operator"), values.len()) {
        ("In" | "NotIn", 0) => {
            errors.required(&values, "must be specified when `operator` is 'In' or 'NotIn'");
        }
        ("Exists" | "DoesNotExist", 1..) => errors.forbidden(
            &values,
            "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
        ),
        ("Gt" | "Lt", count) if count != 1 => errors.required(
            &values,
            "must be specified single value when `operator` is 'Lt' or 'Gt'",
        ),
        ("In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt", _) => {}
        _ => errors.invalid(&at.txt("operator"), "not a valid selector operator"),
    }
    label_key(&at.txt("key"), errors);
    if allowed == Values::Labels {
        for value in values.items() {
            errors.each(&value, value_problems(value.text()));
        }
    }
}

fn node_field(at: &At, errors: &mut Errors) {
    let values = at.get("values");
    match at.text_of("operator") {
        "In" | "NotIn" => {
            if values.len() != 1 {
                let detail =
                    "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
                errors.required(&values, detail);
            }
        }
        _ => errors.invalid(&at.txt("operator"), "not a valid selector operator"),
    }
    let key = at.txt("key");
    if key.text() != "metadata.name" {
        errors.invalid(&key, "not a valid field selector key");
        return;
    }
    for value in values.items() {
        errors.each(&value, name::subdomain(value.text()));
    }
}

fn pod_term(at: &At, errors: &mut Errors) {
    selector(&at.get("labelSelector"), errors);
    selector(&at.get("namespaceSelector"), errors);
    for namespace in at.get("namespaces").texts() {
        for problem in name::label(namespace) {
            errors.invalid_value(&at.get("namespace"), namespace, problem);
        }
    }
    label_keys(at, errors);
    let key = at.txt("topologyKey");
    if key.text().is_empty() {
        errors.required(&key, "can not be empty");
    }
    label_key(&key, errors);
}
