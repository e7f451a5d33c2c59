//! Jobs.

use model::Map;

use super::super::at::At;
use super::super::errors::Errors;
use super::super::name::{self, domain_path};
use super::super::pod::{selected, template};
use super::super::selector::{selector, selects};
use super::job_policy::{failure_policy, success_policy};

const COMPLETIONS_WITHOUT_LIMIT: i64 = 100_000;
const MOST_WITH_MANY_COMPLETIONS: i64 = 10_000;

/// A new job.
pub(in super::super) fn job(object: &At, errors: &mut Errors) {
    check(object, errors);
}

/// What holds for new jobs and for changed ones.
pub(super) fn check(object: &At, errors: &mut Errors) {
    generated(object, errors);
    let spec_at = object.get("spec");
    with_selector(&spec_at, errors);
    let completions = spec_at.int_of("completions");
    if spec_at.text_of("completionMode") == "Indexed" && completions > 0 {
        let metadata = object.get("metadata");
        let name_at = metadata.txt("name");
        let last = format!("{}-{}", name_at.text(), completions - 1);
        if !name::label(&last).is_empty() {
            let detail = format!("will not able to create pod with invalid DNS label: {last}");
            errors.invalid(&name_at, detail);
        }
    }
}

/// Pods of a job are found by labels that the server gives, unless the job says otherwise.
fn generated(object: &At, errors: &mut Errors) {
    let spec_at = object.get("spec");
    let found_by = spec_at.get("selector");
    if spec_at.flag_of("manualSelector") || !found_by.is_set() {
        return;
    }
    let metadata = object.get("metadata");
    let (uid, own_name) = (metadata.txt("uid"), metadata.text_of("name"));
    if uid.text().is_empty() {
        errors.required(&uid, "");
    }
    let labels = spec_at.deep("template.metadata.labels");
    let mut expected = Map::new();
    for (label, value) in [
        ("controller-uid", uid.text()),
        ("job-name", own_name),
        ("batch.kubernetes.io/controller-uid", uid.text()),
        ("batch.kubernetes.io/job-name", own_name),
    ] {
        let at = labels.key(label);
        if !at.is_set() {
            errors.required(&at, format!("must be '{value}'"));
        } else if at.text() != value {
            errors.invalid(&at.with(labels.value()), format!("must be '{value}'"));
        }
        expected.insert(label, value);
    }
    if selector(&found_by, &mut Errors::default()) && !selects(&found_by, &expected.into()) {
        errors.invalid_as(&found_by, "meta.LabelSelector", "`selector` not auto-generated");
    }
}

/// A spec whose pods are found by a selector.
pub(super) fn with_selector(at: &At, errors: &mut Errors) {
    spec(at, errors);
    let found_by = at.get("selector");
    if !found_by.is_set() {
        errors.required(&found_by, "");
    } else if !selector(&found_by, errors) {
        return;
    }
    selected(&at.get("template"), &found_by, errors);
}

/// A spec.
pub(super) fn spec(at: &At, errors: &mut Errors) {
    for field in [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
    ] {
        errors.not_negative(&at.num(field));
    }
    let failed = at.get("maxFailedIndexes");
    if failed.is_set() {
        errors.not_negative(&failed);
        if !at.has("backoffLimitPerIndex") {
            let detail = "when maxFailedIndexes is specified";
            errors.required(&at.get("backoffLimitPerIndex"), detail);
        }
    }
    managed_by(&at.get("managedBy"), errors);
    errors.one_of_if_set(&at.get("completionMode"), &["NonIndexed", "Indexed"]);
    match at.text_of("completionMode") {
        "Indexed" => indexed(at, errors),
        "" | "NonIndexed" => {
            for field in ["backoffLimitPerIndex", "maxFailedIndexes"] {
                if at.has(field) {
                    errors.invalid(&at.get(field), "requires indexed completion mode");
                }
            }
        }
        _ => {}
    }
    if at.has("podFailurePolicy") {
        failure_policy(at, errors);
    }
    let success = at.get("successPolicy");
    if success.is_set() {
        match at.text_of("completionMode") {
            "Indexed" => success_policy(at, errors),
            _ => errors.invalid_as(
                &success,
                "batch.SuccessPolicy",
                "requires indexed completion mode",
            ),
        }
    }
    let replacement = at.get("podReplacementPolicy");
    match at.has("podFailurePolicy") {
        true => errors.one_of_if_set(&replacement, &["Failed"]),
        false => errors.one_of_if_set(&replacement, &["Failed", "TerminatingOrFailed"]),
    }
    let pod = at.get("template");
    template(&pod, errors);
    restart_policy(at, &pod, errors);
}

fn managed_by(at: &At, errors: &mut Errors) {
    if at.is_set() {
        domain_path(at, errors);
        if at.text().len() > 63 {
            errors.too_long(at, 63);
        }
    }
}

fn indexed(at: &At, errors: &mut Errors) {
    let (completions, parallelism) = (at.get("completions"), at.get("parallelism"));
    let failed = at.get("maxFailedIndexes");
    if !completions.is_set() {
        errors.required(&completions, "when completion mode is Indexed");
    }
    if parallelism.int() > 100_000 {
        let detail = "must be less than or equal to 100000 when completion mode is Indexed";
        errors.invalid(&parallelism, detail);
    }
    if completions.is_set() && failed.is_set() && failed.int() > completions.int() {
        errors.invalid(&failed, "must be less than or equal to completions");
    }
    if failed.int() > 100_000 {
        errors.invalid(&failed, "must be less than or equal to 100000");
    }
    if completions.int() <= COMPLETIONS_WITHOUT_LIMIT || !at.has("backoffLimitPerIndex") {
        return;
    }
    if !failed.is_set() {
        let detail = format!("must be specified when completions is above {COMPLETIONS_WITHOUT_LIMIT}");
        errors.required(&failed, detail);
    }
    for one in [parallelism, failed] {
        if one.int() > MOST_WITH_MANY_COMPLETIONS {
            let detail = format!(
                "must be less than or equal to {MOST_WITH_MANY_COMPLETIONS} when completions are above \
                 {COMPLETIONS_WITHOUT_LIMIT} and used with backoff limit per index"
            );
            errors.invalid(&one, detail);
        }
    }
}

fn restart_policy(spec: &At, pod: &At, errors: &mut Errors) {
    let inner = pod.get("spec");
    let at = inner.txt("restartPolicy");
    match at.text() {
        "" | "Always" => errors.required(&at, "valid values: \"OnFailure\", \"Never\""),
        "OnFailure" if spec.has("podFailurePolicy") => {
            let detail = "only \"Never\" is supported when podFailurePolicy is specified";
            errors.invalid(&at, detail);
        }
        "OnFailure" | "Never" => {}
        _ => errors.not_supported(&at, &["OnFailure", "Never"]),
    }
}
