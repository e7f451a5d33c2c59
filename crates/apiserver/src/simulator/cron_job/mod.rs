//! CronJobs: a Job at each time of a schedule.

mod schedule;

use std::time::Duration;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use model::{Value, value};

use super::event::Level;
use super::facts::time;
use super::step::{deleting, flag};
use super::template::is_ending_namespace;
use super::{Kind, Step, children, condition};
use crate::server::time_text;
use crate::store::Key;
use crate::verbs::delete::{DeleteOptions, Propagation};
use schedule::Schedule;

/// When the Job was due.
const SCHEDULED: &str = "batch.kubernetes.io/cronjob-scheduled-timestamp";
/// Jobs are made a little after their time, as by the real controller.
const DELTA: Duration = Duration::from_millis(100);

/// A CronJob while it is looked at.
struct View<'a> {
    cron_job: &'a Value,
    jobs: Vec<Value>,
    /// The status as it shall be.
    status: Value,
}

pub(super) fn advance(step: &mut Step<'_>) {
    let Some(cron_job) = step.own() else { return };
    let uid = cron_job.str_at(&["metadata", "uid"]);
    let jobs = step.index.children(uid, Kind::Job);
    let jobs: Vec<Value> = jobs.filter_map(|key| step.read(Kind::Job, key)).collect();
    let mut view = View {
        cron_job: &cron_job,
        jobs,
        status: cron_job.get("status").cloned().unwrap_or_else(Value::object),
    };
    view.follow_jobs(step);
    if !deleting(&cron_job) {
        view.clean_up(step);
        if !flag(&cron_job, &["spec", "suspend"]) {
            view.start_job(step);
        }
    }
    let status = view.status;
    step.change_status(|cron_job| cron_job.set_at(&["status"], status.clone()));
}

/// Whether and how a Job ended.
fn end(job: &Value) -> Option<&'static str> {
    let status = job.get("status").unwrap_or(&Value::Null);
    ["Complete", "Failed"]
        .into_iter()
        .find(|kind| condition::holds(status, kind))
}

impl View<'_> {
    /// Takes Jobs that ended or went off the list of active ones.
    fn follow_jobs(&mut self, step: &mut Step<'_>) {
        let mut active = self.status.list_at(&["active"]).to_vec();
        active.retain(|reference| {
            let uid = reference.str_at(&["uid"]);
            let name = reference.str_at(&["name"]);
            let mut jobs = self.jobs.iter();
            match jobs.find(|job| job.str_at(&["metadata", "uid"]) == uid) {
                None => {
                    let message = format!("Active job went missing: {name}");
                    step.event(self.cron_job, Level::Normal, "MissingJob", &message);
                    false
                }
                Some(job) => match end(job) {
                    Some(end) => {
                        let message = format!("Saw completed job: {name}, condition: {end}");
                        step.event(self.cron_job, Level::Normal, "SawCompletedJob", &message);
                        false
                    }
                    None => true,
                },
            }
        });
        self.set_active(active);
        let ends = self
            .jobs
            .iter()
            .filter(|job| end(job) == Some("Complete"))
            .map(|job| job.str_at(&["status", "completionTime"]));
        // Texts of times order as the times do.
        if let Some(last) = ends.max()
            && last > self.status.str_at(&["lastSuccessfulTime"])
        {
            let last = last.to_owned();
            self.status.set_at(&["lastSuccessfulTime"], last);
        }
    }

    fn set_active(&mut self, active: Vec<Value>) {
        match active.is_empty() {
            true => drop(self.status.remove_at(&["active"])),
            false => self.status.set_at(&["active"], active),
        }
    }

    /// Deletes the oldest Jobs beyond the limits.
    fn clean_up(&mut self, step: &mut Step<'_>) {
        for (kind, field) in [
            ("Complete", "successfulJobsHistoryLimit"),
            ("Failed", "failedJobsHistoryLimit"),
        ] {
            let limit = self.cron_job.at(&["spec", field]).and_then(Value::as_i64);
            let Some(limit) = limit.and_then(|limit| usize::try_from(limit).ok()) else {
                continue;
            };
            let mut ended: Vec<&Value> = self
                .jobs
                .iter()
                .filter(|job| end(job) == Some(kind) && !deleting(job))
                .collect();
            ended.sort_by_key(|job| {
                (
                    job.str_at(&["status", "startTime"]),
                    job.str_at(&["metadata", "name"]),
                )
            });
            let surplus = ended.len().saturating_sub(limit);
            for job in ended.into_iter().take(surplus) {
                delete(step, self.cron_job, job.str_at(&["metadata", "name"]));
            }
        }
    }

    /// Makes the Job that is due, and wants a look at the time of the next one.
    fn start_job(&mut self, step: &mut Step<'_>) {
        let text = self.cron_job.str_at(&["spec", "schedule"]);
        let zone = self.cron_job.str_at(&["spec", "timeZone"]);
        let zone = match zone {
            "" => TimeZone::UTC,
            name => match TimeZone::get(name) {
                Ok(zone) => zone,
                Err(error) => {
                    let message = format!("invalid timeZone: {name:?}: {error}");
                    return step.event(self.cron_job, Level::Warning, "UnknownTimeZone", &message);
                }
            },
        };
        let schedule = match Schedule::parse(text) {
            Ok(schedule) => schedule,
            Err(error) => {
                let message = format!("unparseable schedule: {text:?} : {error}");
                return step.event(self.cron_job, Level::Warning, "UnparseableSchedule", &message);
            }
        };
        if let Some(due) = self.due(step.now, &schedule, &zone) {
            self.run(step, due, &zone);
        }
        if let Some(next) = schedule.next(step.now, &zone) {
            step.look_again(next.duration_since(step.now).unsigned_abs() + DELTA);
        }
    }

    /// The latest time at which a Job was due and that is not too long ago.
    fn due(&self, now: Timestamp, schedule: &Schedule, zone: &TimeZone) -> Option<Timestamp> {
        let last = time(self.status.str_at(&["lastScheduleTime"]));
        let created = time(self.cron_job.str_at(&["metadata", "creationTimestamp"]));
        let mut from = last.or(created)?;
        let deadline = self
            .cron_job
            .at(&["spec", "startingDeadlineSeconds"])
            .and_then(Value::as_i64);
        if let Some(deadline) = deadline {
            let earliest = now.checked_sub(SignedDuration::from_secs(deadline)).ok()?;
            from = from.max(earliest);
        }
        // A clock that was stopped for long must not make for many steps.
        from = from.max(now.checked_sub(SignedDuration::from_hours(24 * 366)).ok()?);
        let first = schedule.next(from, zone).filter(|time| *time <= now)?;
        let mut due = first;
        let mut hop = SignedDuration::from_hours(24 * 32);
        // In ever smaller hops towards now, so that a schedule for each minute is not counted through.
        while hop >= SignedDuration::from_mins(1) {
            let near = now.checked_sub(hop).ok()?;
            if near > due
                && let Some(later) = schedule.next(near, zone).filter(|time| *time <= now)
            {
                due = later;
            }
            hop /= 2;
        }
        while let Some(later) = schedule.next(due, zone).filter(|time| *time <= now) {
            due = later;
        }
        Some(due)
    }

    fn run(&mut self, step: &mut Step<'_>, due: Timestamp, zone: &TimeZone) {
        let name = format!("{}-{}", step.key.name(), due.as_second() / 60);
        let mut active = self.status.list_at(&["active"]).to_vec();
        match self.cron_job.str_at(&["spec", "concurrencyPolicy"]) {
            "Forbid" if !active.is_empty() => {
                let message =
                    "Not starting job because prior execution is running and concurrency policy is Forbid";
                return step.event(self.cron_job, Level::Normal, "JobAlreadyActive", message);
            }
            "Replace" => {
                for reference in active.drain(..) {
                    delete(step, self.cron_job, reference.str_at(&["name"]));
                }
            }
            _ => {}
        }
        match step.create(Kind::Job, self.job(&name, due, zone)) {
            Ok(job) => {
                let message = format!("Created job {name}");
                step.event(self.cron_job, Level::Normal, "SuccessfulCreate", &message);
                active.push(value!({
                    "apiVersion": "batch/v1", "kind": "Job", "name": name, "namespace": (step.key.namespace()),
                    "uid": (job.str_at(&["metadata", "uid"])),
                    "resourceVersion": (job.str_at(&["metadata", "resourceVersion"])),
                }));
            }
            Err(error) if error.code == 409 || is_ending_namespace(&error) => {}
            Err(error) => {
                let message = format!("Error creating job: {}", error.message);
                step.event(self.cron_job, Level::Warning, "FailedCreate", &message);
                return self.set_active(active);
            }
        }
        self.set_active(active);
        self.status.set_at(&["lastScheduleTime"], time_text(due));
    }

    fn job(&self, name: &str, due: Timestamp, zone: &TimeZone) -> Value {
        let empty = Value::Null;
        let template = self.cron_job.at(&["spec", "jobTemplate"]).unwrap_or(&empty);
        let mut job = value!({
            "metadata": {
                "name": name,
                "namespace": (self.cron_job.str_at(&["metadata", "namespace"])),
                "ownerReferences": [(children::reference(self.cron_job))],
            },
            "spec": (template.get("spec").cloned().unwrap_or_default()),
        });
        for field in ["labels", "annotations"] {
            if let Some(value) = template.at(&["metadata", field]) {
                job.set_at(&["metadata", field], value.clone());
            }
        }
        let local = due.to_zoned(zone.clone());
        let text = match local.offset().seconds() {
            0 => local.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            _ => local.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        };
        job.set_at(&["metadata", "annotations", SCHEDULED], text);
        job
    }
}

fn delete(step: &mut Step<'_>, cron_job: &Value, name: &str) {
    let options = DeleteOptions {
        propagation: Some(Propagation::Background),
        ..DeleteOptions::default()
    };
    step.delete(Kind::Job, &Key::new(step.key.namespace(), name), &options);
    let message = format!("Deleted job {name}");
    step.event(cron_job, Level::Normal, "SuccessfulDelete", &message);
}
