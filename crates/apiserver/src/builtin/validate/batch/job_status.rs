//! The status of a job.
//!
//! Most rules hold only when something they are about changes, so that a status that was wrong can still be written.

use std::collections::HashSet;

use model::Value;

use super::super::at::At;
use super::super::errors::Errors;
use super::indexes;

/// A changed status.
pub(in super::super) fn job_status(object: &At, old: &At, errors: &mut Errors) {
    let change = Change {
        spec: &object.get("spec"),
        new: &object.get("status"),
        old: &old.get("status"),
    };
    counts(&change, errors);
    ends(&change, errors);
    pods(&change, errors);
    index_lists(&change, errors);
    others(&change, errors);
    backwards(&change, errors);
}

struct Change<'p, 'v> {
    spec: &'p At<'p, 'v>,
    new: &'p At<'p, 'v>,
    old: &'p At<'p, 'v>,
}

fn is_true(status: &At, kind: &str) -> bool {
    let conditions = status.get("conditions");
    conditions
        .items()
        .any(|one| one.text_of("type") == kind && one.text_of("status") == "True")
}

fn is_finished(status: &At) -> bool {
    is_true(status, "Complete") || is_true(status, "Failed")
}

impl Change<'_, '_> {
    /// Whether the new status has the condition.
    fn is(&self, kind: &str) -> bool {
        is_true(self.new, kind)
    }

    /// Whether one of the conditions came or went.
    fn turned(&self, kinds: &[&str]) -> bool {
        kinds
            .iter()
            .any(|kind| is_true(self.new, kind) != is_true(self.old, kind))
    }

    /// Whether the job finished or was no longer finished.
    fn finished_turned(&self) -> bool {
        is_finished(self.new) != is_finished(self.old)
    }

    /// Whether one of the fields changed.
    fn changed(&self, names: &[&str]) -> bool {
        names
            .iter()
            .any(|name| self.new.get(name).value() != self.old.get(name).value())
    }
}

fn counts(change: &Change, errors: &mut Errors) {
    for name in ["active", "succeeded", "failed", "ready", "terminating"] {
        errors.not_negative(&change.new.num(name));
    }
    let uncounted = change.new.get("uncountedTerminatedPods");
    let mut seen = HashSet::new();
    for list in ["succeeded", "failed"] {
        for uid in uncounted.get(list).items() {
            if uid.text().is_empty() {
                errors.invalid(&uid, "must not be empty");
            } else if !seen.insert(uid.text()) {
                errors.duplicate(&uid);
            }
        }
    }
}

/// Conditions that exclude or need one another, and the times that go with them.
fn ends(change: &Change, errors: &mut Errors) {
    let status = change.new;
    let conditions = status.get("conditions");
    let complete = change.is("Complete");
    if change.turned(&["Complete", "Failed"]) && complete && change.is("Failed") {
        errors.invalid_hidden(&conditions, "cannot set Complete=True and Failed=true conditions");
    }
    if change.turned(&["Complete", "FailureTarget"]) && complete && change.is("FailureTarget") {
        let detail = "cannot set Complete=True and FailureTarget=true conditions";
        errors.invalid_hidden(&conditions, detail);
    }
    let (start, end) = (status.get("startTime"), status.get("completionTime"));
    if change.turned(&["Complete"]) || change.changed(&["completionTime"]) {
        if end.is_set() && !complete {
            let detail = "cannot set completionTime when there is no Complete=True condition";
            invalid_time(&end, detail, errors);
        }
        if !end.is_set() && complete {
            errors.required(&end, "completionTime is required for Complete jobs");
        }
    }
    let moved = change.changed(&["startTime", "completionTime"]);
    if moved && start.is_set() && end.is_set() && end.text() < start.text() {
        invalid_time(&end, "must be equal to or after `startTime`", errors);
    }
    let failed = change.turned(&["Failed"]) || change.changed(&["failedIndexes"]);
    if failed && change.is("Failed") && !change.is("FailureTarget") {
        let detail = "cannot set Failed=True condition without the FailureTarget=true condition";
        errors.invalid_hidden(&conditions, detail);
    }
    if change.turned(&["Complete", "SuccessCriteriaMet"]) && complete && !change.is("SuccessCriteriaMet") {
        let detail = "cannot set Complete=True condition without the SuccessCriteriaMet=true condition";
        errors.invalid_hidden(&conditions, detail);
    }
}

/// Times are shown as JSON shows them.
fn invalid_time(at: &At, detail: &str, errors: &mut Errors) {
    errors.invalid_as(at, "t", detail);
}

/// A finished job has no more pods.
fn pods(change: &Change, errors: &mut Errors) {
    let status = change.new;
    let finished = is_finished(status);
    let turned = change.finished_turned();
    if (turned || change.changed(&["active"])) && status.int_of("active") > 0 && finished {
        errors.invalid(&status.num("active"), "active>0 is invalid for finished job");
    }
    let nothing_to_do =
        change.spec.flag_of("suspend") && change.spec.get("completions").value() == &Value::Int(0);
    let started = status.get("startTime");
    if (turned || change.changed(&["startTime"])) && !nothing_to_do && !started.is_set() && finished {
        errors.required(&started, "startTime is required for finished job");
    }
    let uncounted = status.get("uncountedTerminatedPods");
    let some = !uncounted.get("failed").is_empty() || !uncounted.get("succeeded").is_empty();
    if (turned || change.changed(&["uncountedTerminatedPods"])) && finished && some {
        let ty = "batch.UncountedTerminatedPods";
        errors.invalid_as(&uncounted, ty, "must be empty for finished job");
    }
}

fn index_lists(change: &Change, errors: &mut Errors) {
    let (spec, status) = (change.spec, change.new);
    let (done, failed) = (status.txt("completedIndexes"), status.get("failedIndexes"));
    let completions = spec.get("completions");
    let per_index = spec.has("backoffLimitPerIndex");
    if change.changed(&["completedIndexes"])
        && completions.is_set()
        && let Err(problem) = indexes::count(done.text(), completions.int())
    {
        errors.invalid(&done, format!("error parsing completedIndexes: {problem}"));
    }
    if change.changed(&["failedIndexes"])
        && (completions.is_set() && per_index && failed.is_set())
        && let Err(problem) = indexes::count(failed.text(), completions.int())
    {
        errors.invalid(&failed, format!("error parsing failedIndexes: {problem}"));
    }
    if change.changed(&["completedIndexes"])
        && !done.text().is_empty()
        && spec.text_of("completionMode") != "Indexed"
    {
        let detail = "cannot set non-empty completedIndexes when non-indexed completion mode";
        errors.invalid(&done, detail);
    }
    if change.changed(&["failedIndexes"]) && !per_index && failed.is_set() {
        let detail = "cannot set non-null failedIndexes when backoffLimitPerIndex is null";
        errors.invalid(&failed, detail);
    }
    if change.changed(&["failedIndexes", "completedIndexes"])
        && completions.is_set()
        && let Some(index) = indexes::overlap(done.text(), failed.text(), completions.int())
    {
        let detail = format!("failedIndexes and completedIndexes overlap at index: {index}");
        errors.invalid(&failed, detail);
    }
}

fn others(change: &Change, errors: &mut Errors) {
    let status = change.new;
    let terminating = status.get("terminating");
    if (change.finished_turned() || change.changed(&["terminating"]))
        && terminating.int() > 0
        && is_finished(status)
    {
        errors.invalid(&terminating, "terminating>0 is invalid for finished job");
    }
    let ready = status.get("ready");
    if change.changed(&["ready", "active"]) && ready.int() > status.int_of("active") {
        errors.invalid(&ready, "cannot set more ready pods than active");
    }
    let conditions = status.get("conditions");
    for other in ["Failed", "FailureTarget"] {
        if change.is("SuccessCriteriaMet") && change.is(other) {
            let detail = format!("cannot set SuccessCriteriaMet=True and {other}=true conditions");
            errors.invalid_hidden(&conditions, detail);
        }
    }
    if change.spec.has("successPolicy") && !change.is("SuccessCriteriaMet") && change.is("Complete") {
        let detail = "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True";
        errors.invalid_hidden(&conditions, detail);
    }
}

/// What happened has happened.
fn backwards(change: &Change, errors: &mut Errors) {
    let (spec, status, old) = (change.spec, change.new, change.old);
    let conditions = status.get("conditions");
    for kind in ["Failed", "Complete", "FailureTarget"] {
        if is_true(old, kind) && !change.is(kind) {
            let detail = format!("cannot disable the terminal {kind}=True condition");
            errors.invalid_hidden(&conditions, detail);
        }
    }
    if status.int_of("failed") < old.int_of("failed") {
        errors.invalid(&status.num("failed"), "cannot decrease the failed counter");
    }
    let elastic = spec.text_of("completionMode") == "Indexed"
        && spec.get("completions").value() == spec.get("parallelism").value();
    if !elastic && status.int_of("succeeded") < old.int_of("succeeded") {
        errors.invalid(&status.num("succeeded"), "cannot decrease the succeeded counter");
    }
    let (end, old_end) = (status.get("completionTime"), old.get("completionTime"));
    if end.is_set() && old_end.is_set() && end.value() != old_end.value() {
        invalid_time(&end, super::super::errors::IMMUTABLE, errors);
    }
    let (start, old_start) = (status.get("startTime"), old.get("startTime"));
    let resumes = is_true(old, "Suspended") && {
        let now = conditions.items().find(|one| one.text_of("type") == "Suspended");
        now.is_some_and(|one| one.text_of("status") == "False")
    };
    if old_start.is_set() && start.value() != old_start.value() && !spec.flag_of("suspend") && !resumes {
        errors.required(&start, "startTime cannot be removed for unsuspended job");
    }
    if is_true(old, "SuccessCriteriaMet") && !change.is("SuccessCriteriaMet") {
        let detail = "cannot disable the SuccessCriteriaMet=True condition";
        errors.invalid_hidden(&conditions, detail);
    }
    if is_true(old, "Complete") && !is_true(old, "SuccessCriteriaMet") && change.is("SuccessCriteriaMet") {
        let detail = "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions";
        errors.invalid_hidden(&conditions, detail);
    }
}
