//! When a job has failed, and when it has succeeded.

use std::collections::HashSet;

use super::super::at::At;
use super::super::errors::Errors;
use super::super::selector::label_key;
use super::indexes;

const ACTIONS: [&str; 4] = ["Count", "FailIndex", "FailJob", "Ignore"];

/// What the end of a pod means for the job.
pub(super) fn failure_policy(spec: &At, errors: &mut Errors) {
    let at = spec.get("podFailurePolicy");
    let rules = at.get("rules");
    if rules.len() > 20 {
        errors.too_many(&rules, 20);
    }
    let pod = spec.deep("template.spec");
    let (main, init) = (pod.get("containers"), pod.get("initContainers"));
    let containers: HashSet<&str> = main
        .items()
        .chain(init.items())
        .map(|one| one.text_of("name"))
        .collect();
    for rule in rules.items() {
        let action = rule.txt("action");
        match action.text() {
            "" => errors.required(&action, format!("valid values: {ACTIONS:?}").replace(", ", " ")),
            "FailIndex" if !spec.has("backoffLimitPerIndex") => {
                errors.invalid(&action, "requires the backoffLimitPerIndex to be set");
            }
            text if !ACTIONS.contains(&text) => errors.not_supported(&action, &ACTIONS),
            _ => {}
        }
        let (codes, conditions) = (rule.get("onExitCodes"), rule.get("onPodConditions"));
        if codes.is_set() {
            exit_codes(&codes, &containers, errors);
        }
        pod_conditions(&conditions, errors);
        match (codes.is_set(), !conditions.is_empty()) {
            (true, true) => {
                let detail = "specifying both OnExitCodes and OnPodConditions is not supported";
                errors.invalid_hidden(&rule, detail);
            }
            (false, false) => {
                let detail = "specifying one of OnExitCodes and OnPodConditions is required";
                errors.invalid_hidden(&rule, detail);
            }
            _ => {}
        }
    }
}

fn pod_conditions(at: &At, errors: &mut Errors) {
    if at.len() > 20 {
        errors.too_many(at, 20);
    }
    for pattern in at.items() {
        label_key(&pattern.txt("type"), errors);
        let status = pattern.txt("status");
        match status.text() {
            "" => errors.required(&status, "valid values: [\"False\" \"True\" \"Unknown\"]"),
            "False" | "True" | "Unknown" => {}
            _ => errors.not_supported(&status, &["False", "True", "Unknown"]),
        }
    }
}

fn exit_codes(at: &At, containers: &HashSet<&str>, errors: &mut Errors) {
    let operator = at.txt("operator");
    match operator.text() {
        "" => errors.required(&operator, "valid values: [\"In\" \"NotIn\"]"),
        "In" | "NotIn" => {}
        _ => errors.not_supported(&operator, &["In", "NotIn"]),
    }
    let container = at.get("containerName");
    if container.is_set() && !containers.contains(container.text()) {
        let detail = "must be one of the container or initContainer names in the pod template";
        errors.invalid(&container, detail);
    }
    let values = at.get("values");
    if values.is_empty() {
        errors.invalid(&values, "at least one value is required");
    } else if values.len() > 255 {
        errors.too_many(&values, 255);
    }
    let mut seen = HashSet::new();
    let mut ordered = true;
    let mut last = i64::MIN;
    for value in values.items() {
        let code = value.int();
        if operator.text() == "In" && code == 0 {
            errors.invalid(&value, "must not be 0 for the In operator");
        }
        if !seen.insert(code) {
            errors.duplicate(&value);
        }
        ordered &= last <= code;
        last = code;
    }
    if !ordered {
        errors.invalid(&values, "must be ordered");
    }
}

/// Which pods must have succeeded.
pub(super) fn success_policy(spec: &At, errors: &mut Errors) {
    let at = spec.get("successPolicy");
    let rules = at.get("rules");
    if rules.is_empty() {
        let detail = "at least one rules must be specified when the successPolicy is specified";
        errors.required(&rules, detail);
    }
    if rules.len() > 20 {
        errors.too_many(&rules, 20);
    }
    let completions = spec.int_of("completions");
    for rule in rules.items() {
        success_rule(&rule, completions, errors);
    }
}

fn success_rule(rule: &At, completions: i64, errors: &mut Errors) {
    let (count, indexes_at) = (rule.get("succeededCount"), rule.get("succeededIndexes"));
    if !count.is_set() && !indexes_at.is_set() {
        let detail = "at least one of succeededCount or succeededIndexes must be specified";
        errors.required(rule, detail);
    }
    let mut total = 0;
    if indexes_at.is_set() {
        const MOST_BYTES: usize = 64 * 1024;
        if indexes_at.text().len() > MOST_BYTES {
            errors.too_long(&indexes_at, MOST_BYTES);
        }
        match indexes::count(indexes_at.text(), completions) {
            Ok(count) => total = count,
            Err(problem) => {
                errors.invalid(&indexes_at, format!("error parsing succeededIndexes: {problem}"));
            }
        }
    }
    if !count.is_set() {
        return;
    }
    errors.not_negative(&count);
    if count.int() > completions {
        let detail =
            format!("must be less than or equal to {completions} (the number of specified completions)");
        errors.invalid(&count, detail);
    }
    if indexes_at.is_set() && count.int() > total {
        let detail = format!(
            "must be less than or equal to {total} (the number of indexes in the specified succeededIndexes field)"
        );
        errors.invalid(&count, detail);
    }
}
