//! `rbac.authorization.k8s.io`: roles and who has them.

use super::at::At;
use super::errors::Errors;
use super::name::{self, path_segment};
use super::selector::selector;

const GROUP: &str = "rbac.authorization.k8s.io";

/// A role of a namespace.
pub(super) fn role(object: &At, errors: &mut Errors) {
    for rule in object.get("rules").items() {
        policy_rule(&rule, Scope::Namespace, errors);
    }
}

/// A role of the cluster.
pub(super) fn cluster_role(object: &At, errors: &mut Errors) {
    for rule in object.get("rules").items() {
        policy_rule(&rule, Scope::Cluster, errors);
    }
    let aggregation = object.get("aggregationRule");
    if !aggregation.is_set() {
        return;
    }
    let selectors = aggregation.get("clusterRoleSelectors");
    if selectors.is_empty() {
        let detail = "at least one clusterRoleSelector required if aggregationRule is non-nil";
        errors.required(&selectors, detail);
    }
    for one in selectors.items() {
        if !selector(&one, errors) {
            // What the real server shows here is the selector that it could not make.
            errors.invalid(&one.with(&model::Value::Null), "invalid label selector.");
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    Namespace,
    Cluster,
}

fn policy_rule(rule: &At, scope: Scope, errors: &mut Errors) {
    let list = |name| rule.get(name);
    if list("verbs").is_empty() {
        errors.required(&list("verbs"), "verbs must contain at least one value");
    }
    let urls = list("nonResourceURLs");
    if !urls.is_empty() {
        if scope == Scope::Namespace {
            errors.invalid(&urls, "namespaced rules cannot apply to non-resource URLs");
        }
        if ["apiGroups", "resources", "resourceNames"]
            .iter()
            .any(|name| !rule.get(name).is_empty())
        {
            let detail = "rules cannot apply to both regular resources and non-resource URLs";
            errors.invalid(&urls, detail);
        }
        return;
    }
    if list("apiGroups").is_empty() {
        errors.required(
            &list("apiGroups"),
            "resource rules must supply at least one api group",
        );
    }
    if list("resources").is_empty() {
        errors.required(
            &list("resources"),
            "resource rules must supply at least one resource",
        );
    }
}

/// A binding in a namespace.
pub(super) fn role_binding(object: &At, errors: &mut Errors) {
    binding(object, Scope::Namespace, errors);
}

/// A binding in the cluster.
pub(super) fn cluster_role_binding(object: &At, errors: &mut Errors) {
    binding(object, Scope::Cluster, errors);
}

fn binding(object: &At, scope: Scope, errors: &mut Errors) {
    let role = object.get("roleRef");
    let group = role.txt("apiGroup");
    if group.text() != GROUP {
        errors.not_supported(&group, &[GROUP]);
    }
    let kinds: &[&str] = match scope {
        Scope::Namespace => &["Role", "ClusterRole"],
        Scope::Cluster => &["ClusterRole"],
    };
    let kind = role.txt("kind");
    if !kinds.contains(&kind.text()) {
        errors.not_supported(&kind, kinds);
    }
    let name_at = role.txt("name");
    if errors.require_text(&name_at) {
        errors.each(&name_at, path_segment(name_at.text()));
    }
    for one in object.get("subjects").items() {
        subject(&one, scope, errors);
    }
}

fn subject(at: &At, scope: Scope, errors: &mut Errors) {
    let (name_at, group) = (at.txt("name"), at.txt("apiGroup"));
    errors.require_text(&name_at);
    match at.text_of("kind") {
        "ServiceAccount" => {
            if !name_at.text().is_empty() {
                errors.each(&name_at, name::subdomain(name_at.text()));
            }
            if !group.text().is_empty() {
                errors.not_supported(&group, &[""]);
            }
            if scope == Scope::Cluster {
                errors.require_text(&at.txt("namespace"));
            }
        }
        "User" | "Group" => {
            if group.text() != GROUP {
                errors.not_supported(&group, &[GROUP]);
            }
        }
        _ => errors.not_supported(&at.txt("kind"), &["ServiceAccount", "User", "Group"]),
    }
}

/// A changed binding in a namespace.
pub(super) fn role_binding_update(object: &At, old: &At, errors: &mut Errors) {
    role_binding(object, errors);
    same_role(object, old, errors);
}

/// A changed binding in the cluster.
pub(super) fn cluster_role_binding_update(object: &At, old: &At, errors: &mut Errors) {
    cluster_role_binding(object, errors);
    same_role(object, old, errors);
}

fn same_role(object: &At, old: &At, errors: &mut Errors) {
    let role = object.get("roleRef");
    if role.value() != old.get("roleRef").value() {
        errors.invalid_as(&role, "rbac.RoleRef", "cannot change roleRef");
    }
}
