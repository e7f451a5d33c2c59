//! Jobs: completed, or suspended. These are Flux's rules: to kstatus itself a job that has begun is done.

use model::Health;

use super::super::object::{Object, degraded, healthy, progressing, suspended};

pub(super) fn assess(object: Object<'_>) -> Health {
    if object.is_true(&["spec", "suspend"]) {
        return suspended("Job is suspended");
    }
    let status = |name: &str| object.int_or(&["status", name], 0);
    let parallelism = object.int_or(&["spec", "parallelism"], 1);
    let completions = object.int_or(&["spec", "completions"], parallelism);
    let (succeeded, failed) = (status("succeeded"), status("failed"));
    let mut ended = object.conditions().filter(|condition| condition.is_true());
    let ended = ended.find_map(|condition| match condition.kind() {
        "Complete" => Some(healthy(format!(
            "Job Completed. succeeded: {succeeded}/{completions}"
        ))),
        "Failed" => Some(degraded(format!("Job Failed. failed: {failed}/{completions}"))),
        _ => None,
    });
    ended.unwrap_or_else(|| match object.text(&["status", "startTime"]) {
        "" => progressing(format!("Job not started. active: 0/{parallelism}")),
        _ => progressing(format!(
            "Job in progress. success:{succeeded}, active: {}, failed: {failed}",
            status("active")
        )),
    })
}
