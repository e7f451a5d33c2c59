//! Jobs and cron jobs.

use jiff::Timestamp;
use model::Value;

use crate::table::cell::{self, NONE, UNSET};
use crate::table::column::{AGE, Layout, NAME, flag, number, text, wide};
use crate::table::{duration, selector};

pub(super) const JOBS: Layout = Layout {
    columns: &[
        NAME,
        text("Status"),
        text("Completions"),
        text("Duration"),
        AGE,
        wide("Containers"),
        wide("Images"),
        wide("Selector"),
    ],
    cells: |object, now| {
        let [names, images] = cell::containers(object, &["spec", "template", "spec", "containers"]);
        vec![
            cell::name(object),
            Value::str(status(object)),
            Value::from(completions(object)),
            Value::from(run_time(object, now)),
            cell::age(object, now),
            names,
            images,
            selector::selector_or_none(object, &["spec", "selector"]),
        ]
    },
};

pub(super) const CRON_JOBS: Layout = Layout {
    columns: &[
        NAME,
        text("Schedule"),
        text("Timezone"),
        flag("Suspend"),
        number("Active"),
        text("Last Schedule"),
        AGE,
        wide("Containers"),
        wide("Images"),
        wide("Selector"),
    ],
    cells: |object, now| {
        const JOB: [&str; 3] = ["spec", "jobTemplate", "spec"];
        let [names, images] = cell::containers(
            object,
            &[JOB[0], JOB[1], JOB[2], "template", "spec", "containers"],
        );
        let last = object
            .at(&["status", "lastScheduleTime"])
            .filter(|time| !time.is_null());
        vec![
            cell::name(object),
            cell::text(object, &["spec", "schedule"]),
            cell::text_or(object, &["spec", "timeZone"], NONE),
            Value::str(match object.at(&["spec", "suspend"]).and_then(Value::as_bool) {
                Some(true) => "True",
                Some(false) => "False",
                None => UNSET,
            }),
            cell::len(object, &["status", "active"]),
            Value::from(last.map_or(NONE.to_owned(), |time| duration::since(Some(time), now))),
            cell::age(object, now),
            names,
            images,
            selector::selector_or_none(object, &[JOB[0], JOB[1], JOB[2], "selector"]),
        ]
    },
};

fn status(job: &Value) -> &'static str {
    let is = |kind| cell::condition_is_true(job, kind);
    if is("Complete") {
        "Complete"
    } else if is("Failed") {
        "Failed"
    } else if cell::is_deleted(job) {
        "Terminating"
    } else if is("Suspended") {
        "Suspended"
    } else if is("FailureTarget") {
        "FailureTarget"
    } else if is("SuccessCriteriaMet") {
        "SuccessCriteriaMet"
    } else {
        "Running"
    }
}

fn completions(job: &Value) -> String {
    let done = cell::int(job, &["status", "succeeded"]);
    if let Some(wanted) = job.at(&["spec", "completions"]).and_then(Value::as_i64) {
        return format!("{done}/{wanted}");
    }
    match cell::int(job, &["spec", "parallelism"]) {
        parallelism @ 2.. => format!("{done}/1 of {parallelism}"),
        _ => format!("{done}/1"),
    }
}

/// How long the job took, or takes already.
fn run_time(job: &Value, now: Timestamp) -> String {
    let Some(start) = duration::time(job.at(&["status", "startTime"])) else {
        return String::new();
    };
    let end = duration::time(job.at(&["status", "completionTime"])).unwrap_or(now);
    duration::human(end.duration_since(start))
}

#[cfg(test)]
mod tests {
    use model::value;

    use super::*;

    #[test]
    fn the_most_final_condition_names_the_status() {
        let job = |conditions: &[&str]| {
            let conditions = conditions
                .iter()
                .map(|kind| value!({ "type": (*kind), "status": "True" }));
            value!({ "status": { "conditions": (conditions.collect::<Value>()) } })
        };
        assert_eq!(status(&job(&[])), "Running");
        assert_eq!(status(&job(&["SuccessCriteriaMet"])), "SuccessCriteriaMet");
        assert_eq!(status(&job(&["FailureTarget", "Failed"])), "Failed");
        assert_eq!(status(&job(&["SuccessCriteriaMet", "Complete"])), "Complete");
    }

    #[test]
    fn a_job_runs_until_it_is_complete() {
        let now = "2026-01-01T01:00:00Z".parse().unwrap();
        let started = value!({ "status": { "startTime": "2026-01-01T00:59:00Z" } });
        assert_eq!(run_time(&started, now), "60s");
        let done = value!({
            "status": { "startTime": "2026-01-01T00:00:00Z", "completionTime": "2026-01-01T00:00:07Z" }
        });
        assert_eq!(run_time(&done, now), "7s");
    }
}
