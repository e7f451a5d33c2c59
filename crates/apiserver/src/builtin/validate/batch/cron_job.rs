//! Jobs that start at set times.

use super::super::at::At;
use super::super::errors::Errors;
use super::{job, schedule, time_zone::time_zone};

/// A new cron job.
pub(in super::super) fn cron_job(object: &At, errors: &mut Errors) {
    check(object, None, errors);
    let metadata = object.get("metadata");
    let name_at = metadata.txt("name");
    // Jobs get eleven more characters.
    if name_at.text().len() > 52 {
        errors.invalid(&name_at, "must be no more than 52 characters");
    }
}

/// A changed cron job.
pub(in super::super) fn cron_job_update(object: &At, old: &At, errors: &mut Errors) {
    check(object, Some(old), errors);
}

fn check(object: &At, old: Option<&At>, errors: &mut Errors) {
    let spec = object.get("spec");
    let when = spec.txt("schedule");
    if errors.require_text(&when) {
        if let Err(problem) = schedule::check(when.text()) {
            errors.invalid(&when, problem);
        }
        let had_zone = old.is_some_and(|old| old.deep("spec.schedule").text().contains("TZ"));
        if when.text().contains("TZ") && !had_zone {
            let detail = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";
            errors.invalid(&when, detail);
        } else if when.text().contains("TZ") && spec.has("timeZone") {
            let detail = "cannot use both timeZone field and TZ or CRON_TZ in schedule";
            errors.invalid(&when, detail);
        }
    }
    errors.not_negative(&spec.num("startingDeadlineSeconds"));
    let zone = spec.get("timeZone");
    if old.is_none_or(|old| old.deep("spec.timeZone").value() != zone.value()) {
        time_zone(&zone, errors);
    }
    errors.one_of(&spec.txt("concurrencyPolicy"), &["Allow", "Forbid", "Replace"]);
    template(&spec.get("jobTemplate"), errors);
    errors.not_negative(&spec.num("successfulJobsHistoryLimit"));
    errors.not_negative(&spec.num("failedJobsHistoryLimit"));
}

fn template(at: &At, errors: &mut Errors) {
    let spec = at.get("spec");
    job::spec(&spec, errors);
    let found_by = spec.get("selector");
    if found_by.is_set() {
        errors.invalid_as(
            &found_by,
            "meta.LabelSelector",
            "`selector` will be auto-generated",
        );
    }
    if spec.flag_of("manualSelector") {
        errors.not_supported(&spec.get("manualSelector"), &["nil", "false"]);
    }
}
