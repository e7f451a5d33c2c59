//! Jobs, once and by the clock.

use model::Map;

use super::{Fields, pod};

pub(super) fn job(object: &mut Map) {
    object.within("spec", |spec| {
        if !spec.contains_key("parallelism") {
            spec.default("completions", 1);
            spec.insert("parallelism", 1);
        }
        let limit = if spec.contains_key("backoffLimitPerIndex") {
            i64::from(i32::MAX)
        } else {
            6
        };
        spec.default("backoffLimit", limit);
        spec.default("completionMode", "NonIndexed");
        spec.default("suspend", false);
        let replacement = if spec.contains_key("podFailurePolicy") {
            "Failed"
        } else {
            "TerminatingOrFailed"
        };
        spec.default("podReplacementPolicy", replacement);
        spec.default("manualSelector", false);
        job_spec(spec);
    });
}

pub(super) fn cron_job(object: &mut Map) {
    object.within("spec", |spec| {
        spec.default("concurrencyPolicy", "Allow");
        spec.default("suspend", false);
        spec.default("successfulJobsHistoryLimit", 3);
        spec.default("failedJobsHistoryLimit", 1);
        spec.within("jobTemplate", |template| template.within("spec", job_spec));
    });
}

/// What jobs have in common with the templates of jobs.
fn job_spec(spec: &mut Map) {
    spec.within("podFailurePolicy", |policy| {
        policy.each("rules", |rule| {
            rule.each("onPodConditions", |condition| condition.fill("status", "True"))
        });
    });
    pod::holder(spec);
}
