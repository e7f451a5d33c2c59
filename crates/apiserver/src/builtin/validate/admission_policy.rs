//! `admissionregistration.k8s.io`: policies in CEL.
//!
//! **Deviation**: the expressions themselves are not read.

use crate::crd::cel::escape::RESERVED;
use std::collections::HashSet;

use model::label::key_problems;

use super::at::At;
use super::condition::conditions as status_conditions;
use super::errors::Errors;
use super::match_rule::{conditions, rule_with_operations};
use super::name::{self, path_segment};
use super::selector::selector;

/// A policy that checks objects.
pub(super) fn policy(object: &At, errors: &mut Errors) {
    let spec = object.get("spec");
    errors.one_of(&spec.txt("failurePolicy"), &["Fail", "Ignore"]);
    let kind = spec.get("paramKind");
    if kind.is_set() {
        param_kind(&kind, errors);
    }
    let constraints = spec.get("matchConstraints");
    if !constraints.is_set() {
        errors.required(&constraints, "");
    } else {
        match_resources(&constraints, errors);
        let rules = constraints.get("resourceRules");
        if rules.is_empty() {
            errors.required(&rules, "");
        }
    }
    conditions(&spec.get("matchConditions"), errors);
    variables(&spec.get("variables"), errors);
    let (validations, notes) = (spec.get("validations"), spec.get("auditAnnotations"));
    if validations.is_empty() && notes.is_empty() {
        let detail = "validations or auditAnnotations must contain at least one item";
        errors.required(&validations, detail);
        errors.required(&notes, detail);
    }
    for one in validations.items() {
        validation(&one, errors);
    }
    audit_annotations(object, &notes, errors);
}

fn param_kind(at: &At, errors: &mut Errors) {
    let (version, kind) = (at.txt("apiVersion"), at.txt("kind"));
    let text = version.text();
    if errors.require_text(&version) {
        let (group, short) = text.split_once('/').unwrap_or(("", text));
        if short.contains('/') {
            errors.invalid(&version, format!("unexpected GroupVersion string: {text}"));
        } else {
            let problems = name::subdomain(group);
            if !group.is_empty() && !problems.is_empty() {
                errors.invalid_value(&version, group, problems.join(","));
            }
            let problems = name::label_1035(short);
            if short.is_empty() {
                errors.invalid(&version, "version must be specified");
            } else if !problems.is_empty() {
                errors.invalid_value(&version, short, problems.join(","));
            }
        }
    }
    if errors.require_text(&kind) {
        let problems = name::label_1035(&kind.text().to_lowercase());
        if !problems.is_empty() {
            let detail = format!(
                "may have mixed case, but should otherwise match: {}",
                problems.join(",")
            );
            errors.invalid(&kind, detail);
        }
    }
}

fn match_resources(at: &At, errors: &mut Errors) {
    errors.one_of(&at.txt("matchPolicy"), &["Equivalent", "Exact"]);
    for name in ["namespaceSelector", "objectSelector"] {
        let one = at.get(name);
        match one.is_set() {
            true => drop(selector(&one, errors)),
            false => errors.required(&one, ""),
        }
    }
    for list in ["resourceRules", "excludeResourceRules"] {
        for rule in at.get(list).items() {
            let mut names = HashSet::new();
            for name_at in rule.get("resourceNames").items() {
                errors.each(&name_at, path_segment(name_at.text()));
                if !names.insert(name_at.text()) {
                    errors.duplicate(&name_at);
                }
            }
            rule_with_operations(&rule, errors);
        }
    }
}

fn variables(at: &At, errors: &mut Errors) {
    for one in at.items() {
        let (name_at, expression) = (one.txt("name"), one.txt("expression"));
        if name_at.text().trim().is_empty() {
            errors.required(&name_at, "name is not specified");
        } else if !is_identifier(name_at.text()) {
            errors.invalid(&name_at, "must be a valid CEL identifier");
        }
        if expression.text().trim().is_empty() {
            errors.required(&expression, "expression is not specified");
        }
    }
}

fn is_identifier(text: &str) -> bool {
    const FURTHER: [&str; 3] = ["var", "void", "while"];
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !RESERVED.contains(&text)
        && !FURTHER.contains(&text)
}

fn validation(at: &At, errors: &mut Errors) {
    let (expression, message) = (at.txt("expression"), at.txt("message"));
    if expression.text().trim().is_empty() {
        errors.required(&expression, "expression is not specified");
    }
    let message_expression = at.txt("messageExpression");
    for one in [&message_expression, &message] {
        if !one.text().is_empty() && one.text().trim().is_empty() {
            errors.invalid(one, "must be non-empty if specified");
        }
    }
    if message.text().trim().contains(['\n', '\r']) {
        errors.invalid(&message, "must not contain line breaks");
    }
    errors.one_of_if_set(
        &at.get("reason"),
        &["Forbidden", "Invalid", "RequestEntityTooLarge"],
    );
}

fn audit_annotations(object: &At, at: &At, errors: &mut Errors) {
    if at.len() > 20 {
        errors.invalid(at, "must not have more than 20 auditAnnotations");
    }
    let own_name = object.deep("metadata.name").text();
    let mut keys = HashSet::new();
    for one in at.items() {
        let (key, value) = (one.txt("key"), one.txt("valueExpression"));
        let full = format!("{own_name}/{}", key.text());
        for problem in key_problems(&full) {
            errors.invalid_value(&key, full.as_str(), problem);
        }
        match value.text().trim().len() {
            0 => errors.required(&value, "valueExpression is not specified"),
            5121.. => errors.required(&value, "must not exceed 5120 bytes in length"),
            _ => {}
        }
        if !keys.insert(key.text()) {
            errors.duplicate(&key);
        }
    }
}

/// A changed status of a policy.
pub(super) fn policy_status(object: &At, _old: &At, errors: &mut Errors) {
    status_conditions(&object.deep("status.conditions"), errors);
}

/// Where a policy holds.
pub(super) fn binding(object: &At, errors: &mut Errors) {
    let spec = object.get("spec");
    let policy = spec.txt("policyName");
    if errors.require_text(&policy) {
        errors.each(&policy, name::subdomain(policy.text()));
    }
    let params = spec.get("paramRef");
    if params.is_set() {
        param_ref(&params, errors);
    }
    let resources = spec.get("matchResources");
    if resources.is_set() {
        match_resources(&resources, errors);
    }
    actions(&spec.get("validationActions"), errors);
}

fn param_ref(at: &At, errors: &mut Errors) {
    let (name_at, found_by) = (at.txt("name"), at.get("selector"));
    const BOTH: &str = "name and selector are mutually exclusive";
    let named = !name_at.text().is_empty();
    errors.each(&name_at, path_segment(name_at.text()));
    if named && found_by.is_set() {
        errors.forbidden(&name_at, BOTH);
    }
    selector(&found_by, errors);
    if named && found_by.is_set() {
        errors.forbidden(&found_by, BOTH);
    }
    if !named && !found_by.is_set() {
        errors.required(at, "one of name or selector must be specified");
    }
    errors.one_of(&at.txt("parameterNotFoundAction"), &["Deny", "Allow"]);
}

fn actions(at: &At, errors: &mut Errors) {
    let mut seen = HashSet::new();
    for action in at.items() {
        errors.one_of_if_set(&action, &["Audit", "Deny", "Warn"]);
        if !seen.insert(action.text()) {
            errors.duplicate(&action);
        }
    }
    if seen.contains("Deny") && seen.contains("Warn") {
        let detail = "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)";
        errors.invalid(at, detail);
    }
    if seen.is_empty() {
        errors.required(at, "at least one validation action is required");
    }
}
