//! Classes of ingresses.

use super::super::at::At;
use super::super::errors::Errors;
use super::super::name::{self, domain_path, path_segment};

/// A class of ingresses.
pub(in super::super) fn ingress_class(object: &At, errors: &mut Errors) {
    let spec = object.get("spec");
    let controller = spec.txt("controller");
    if controller.text().len() > 250 {
        errors.too_long(&controller, 250);
    }
    domain_path(&controller, errors);
    let at = spec.get("parameters");
    if !at.is_set() {
        return;
    }
    reference(&at, errors);
    let (scope, namespace) = (at.get("scope"), at.get("namespace"));
    match scope.text() {
        _ if !scope.is_set() => errors.required(&scope, ""),
        "Namespace" => match namespace.is_set() {
            false => errors.required(&namespace, "`parameters.scope` is set to 'Namespace'"),
            true => errors.each(&namespace, name::label(namespace.text())),
        },
        "Cluster" => {
            if namespace.is_set() {
                errors.forbidden(&namespace, "`parameters.scope` is set to 'Cluster'");
            }
        }
        _ => errors.not_supported(&scope, &["Cluster", "Namespace"]),
    }
}

/// A reference to an object of some kind.
pub(super) fn reference(at: &At, errors: &mut Errors) {
    let group = at.get("apiGroup");
    if group.is_set() {
        errors.each(&group, name::subdomain(group.text()));
    }
    for field in ["kind", "name"] {
        let part = at.txt(field);
        if errors.require_text(&part) {
            errors.each(&part, path_segment(part.text()));
        }
    }
}

/// A changed class.
pub(in super::super) fn ingress_class_update(object: &At, old: &At, errors: &mut Errors) {
    let (spec, old_spec) = (object.get("spec"), old.get("spec"));
    errors.immutable(&spec.txt("controller"), &old_spec.txt("controller"));
    ingress_class(object, errors);
}
