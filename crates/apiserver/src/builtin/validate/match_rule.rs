//! Which requests webhooks and policies are about.

use std::collections::HashSet;

use super::at::At;
use super::errors::Errors;
use super::selector::label_key;

const OPERATIONS: [&str; 5] = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];

/// Operations on resources.
pub(super) fn rule_with_operations(at: &At, errors: &mut Errors) {
    let operations = at.get("operations");
    not_empty(&operations, errors);
    alone(&operations, "operations", errors);
    for operation in operations.items() {
        errors.one_of_if_set(&operation, &OPERATIONS);
    }
    let (groups, versions) = (at.get("apiGroups"), at.get("apiVersions"));
    not_empty(&groups, errors);
    alone(&groups, "API groups", errors);
    not_empty(&versions, errors);
    alone(&versions, "API versions", errors);
    for version in versions.items() {
        errors.require_text(&version);
    }
    resources(&at.get("resources"), errors);
    errors.one_of_if_set(&at.get("scope"), &["*", "Cluster", "Namespaced"]);
}

fn not_empty(at: &At, errors: &mut Errors) {
    if at.is_empty() {
        errors.required(at, "");
    }
}

/// All and something besides makes no sense.
fn alone(at: &At, what: &str, errors: &mut Errors) {
    if at.len() > 1 && at.texts().any(|one| one == "*") {
        errors.invalid(at, format!("if '*' is present, must not specify other {what}"));
    }
}

fn resources(at: &At, errors: &mut Errors) {
    not_empty(at, errors);
    let (mut of_resource, mut of_part) = (HashSet::new(), HashSet::new());
    let mut has_plain = false;
    for one in at.items() {
        let text = one.text();
        let Some((resource, part)) = text.split_once('/') else {
            match text {
                "" => errors.required(&one, ""),
                _ => has_plain = text != "*",
            }
            continue;
        };
        if of_resource.contains(resource) {
            let detail = format!("if '{resource}/*' is present, must not specify {text}");
            errors.invalid(&one, detail);
        }
        if of_part.contains(part) {
            errors.invalid(&one, format!("if '*/{part}' is present, must not specify {text}"));
        }
        if part == "*" {
            of_resource.insert(resource);
        }
        if resource == "*" {
            of_part.insert(part);
        }
    }
    if at.len() > 1 && at.texts().any(|one| one == "*/*") {
        errors.invalid(at, "if '*/*' is present, must not specify other resources");
    }
    if has_plain && at.texts().any(|one| one == "*") {
        let detail = "if '*' is present, must not specify other resources without subresources";
        errors.invalid(at, detail);
    }
}

/// Conditions in CEL.
///
/// **Deviation**: the expressions themselves are not read.
pub(super) fn conditions(at: &At, errors: &mut Errors) {
    if at.len() > 64 {
        errors.too_many(at, 64);
    }
    let mut names = HashSet::new();
    for one in at.items() {
        let expression = one.txt("expression");
        if expression.text().trim().is_empty() {
            errors.required(&expression, "");
        }
        let name_at = one.txt("name");
        if errors.require_text(&name_at) {
            label_key(&name_at, errors);
            if !names.insert(name_at.text()) {
                errors.duplicate(&name_at);
            }
        }
    }
}
