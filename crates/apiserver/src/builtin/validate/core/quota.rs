//! Quotas for what is made in a namespace.

use std::collections::{BTreeSet, HashMap};

use super::super::amount::{is_for_quotas, of_resource, quota_resource_name};
use super::super::at::At;
use super::super::errors::{Errors, IMMUTABLE};

/// A new quota.
pub(in super::super) fn quota(object: &At, errors: &mut Errors) {
    spec(&object.get("spec"), errors);
    status(object, errors);
}

fn spec(at: &At, errors: &mut Errors) {
    amounts(&at.get("hard"), errors);
    scopes(at, errors);
    if at.has("scopeSelector") {
        scope_selector(at, errors);
    }
}

fn amounts(at: &At, errors: &mut Errors) {
    for (name, one) in at.entries() {
        quota_resource_name(name, &one, errors);
        of_resource(name, &one, errors);
    }
}

fn status(object: &At, errors: &mut Errors) {
    let status = object.get("status");
    amounts(&status.get("hard"), errors);
    amounts(&status.get("used"), errors);
}

const SCOPES: [&str; 7] = [
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "VolumeAttributesClass",
    "CrossNamespacePodAffinity",
];

/// Whether objects of the resource can be in the scope.
fn fits(scope: &str, resource: &str) -> bool {
    let compute = matches!(
        resource,
        "cpu" | "memory" | "limits.cpu" | "limits.memory" | "requests.cpu" | "requests.memory"
    );
    match scope {
        "Terminating"
        | "NotTerminating"
        | "NotBestEffort"
        | "PriorityClass"
        | "CrossNamespacePodAffinity" => resource == "pods" || compute,
        "BestEffort" => resource == "pods",
        "VolumeAttributesClass" => matches!(resource, "persistentvolumeclaims" | "requests.storage"),
        _ => true,
    }
}

/// How many resources of a quota do not fit each scope that there is.
struct Misfits(HashMap<&'static str, usize>);

impl Misfits {
    fn of(spec: &At) -> Self {
        let hard = spec.get("hard");
        let count = |scope: &str| {
            let misfits = hard
                .entries()
                .filter(|(name, _)| is_for_quotas(name) && !fits(scope, name));
            misfits.count()
        };
        Misfits(SCOPES.iter().map(|scope| (*scope, count(scope))).collect())
    }

    fn count(&self, scope: &str) -> usize {
        self.0.get(scope).copied().unwrap_or_default()
    }
}

const OPPOSITES: [[&str; 2]; 2] = [["BestEffort", "NotBestEffort"], ["Terminating", "NotTerminating"]];

fn scopes(spec: &At, errors: &mut Errors) {
    let at = spec.get("scopes");
    let misfits = Misfits::of(spec);
    for scope in at.texts() {
        if !SCOPES.contains(&scope) {
            errors.invalid(&at, "unsupported scope");
        }
        for _ in 0..misfits.count(scope) {
            errors.invalid(&at, "unsupported scope applied to resource");
        }
    }
    for pair in OPPOSITES {
        if pair.iter().all(|scope| at.texts().any(|one| one == *scope)) {
            errors.invalid(&at, "conflicting scopes");
        }
    }
}

fn scope_selector(spec: &At, errors: &mut Errors) {
    let selector = spec.get("scopeSelector");
    let at = selector.get("matchExpressions");
    let mut names = BTreeSet::new();
    let misfits = Misfits::of(spec);
    for one in at.items() {
        // The real server does not tell which expression it means.
        let here = at.with(one.value());
        let (scope, operator, values) = (here.txt("scopeName"), here.txt("operator"), here.get("values"));
        if !SCOPES.contains(&scope.text()) {
            errors.invalid(&scope, "unsupported scope");
        }
        for _ in 0..misfits.count(scope.text()) {
            let detail = "unsupported scope applied to resource";
            errors.invalid_as(&at.with(selector.value()), "core.ScopeSelector", detail);
        }
        let takes_values = matches!(scope.text(), "PriorityClass" | "VolumeAttributesClass")
            || !SCOPES.contains(&scope.text());
        if !takes_values && operator.text() != "Exists" {
            errors.invalid(
                &operator,
                "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, \
                 ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or \
                 ResourceQuotaScopeCrossNamespacePodAffinity",
            );
        }
        match operator.text() {
            "In" | "NotIn" => {
                if values.is_empty() {
                    let detail =
                        "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
                    errors.required(&values, detail);
                }
            }
            "Exists" | "DoesNotExist" => {
                if !values.is_empty() {
                    let detail =
                        "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
                    errors.invalid(&values, detail);
                }
            }
            _ => errors.invalid(&operator, "not a valid selector operator"),
        }
        names.insert(scope.text());
    }
    for pair in OPPOSITES {
        if pair.iter().all(|scope| names.contains(scope)) {
            errors.invalid(&at.with(spec.get("scopes").value()), "conflicting scopes");
        }
    }
}

/// A changed quota.
pub(in super::super) fn quota_update(object: &At, old: &At, errors: &mut Errors) {
    spec(&object.get("spec"), errors);
    let (scopes, old_scopes) = (object.deep("spec.scopes"), old.deep("spec.scopes"));
    let set = |at: &At| {
        at.list()
            .iter()
            .filter_map(|one| one.as_str().map(str::to_owned))
            .collect::<BTreeSet<_>>()
    };
    if set(&scopes) != set(&old_scopes) {
        errors.invalid(&scopes, IMMUTABLE);
    }
}

/// A changed status.
pub(in super::super) fn quota_status(object: &At, _old: &At, errors: &mut Errors) {
    status(object, errors);
}
