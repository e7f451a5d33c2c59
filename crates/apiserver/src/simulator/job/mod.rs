//! Jobs: pods that run until enough of them ended well.
//!
//! As in the real controller, a pod carries a finalizer until it is counted, so that none is counted twice or lost.
//!
//! **Deviation**: pods are counted in one write, so `uncountedTerminatedPods` is always empty. Pod failure policies,
//! success policies and limits per index are not followed.

mod finish;
mod indexes;
mod pods;

use model::Value;

use super::condition;
use super::facts::{Phase, PodFacts};
use super::step::{deleting, flag, number, set_count};
use super::{Kind, Step, children, selectors};
use finish::Verdict;
use indexes::Indexes;

/// A Job while it is looked at.
struct View<'a> {
    job: &'a Value,
    pods: Vec<&'a PodFacts>,
    suspended: bool,
    /// Pods that ended since the last look.
    newly_succeeded: Vec<&'a PodFacts>,
    newly_failed: Vec<&'a PodFacts>,
    succeeded: i64,
    failed: i64,
    /// The indexes that are done, in an indexed job.
    indexes: Option<Indexes>,
    /// Since when it runs.
    started: Option<String>,
}

/// How many pods there are after a look.
struct Present {
    active: i64,
    ready: i64,
    terminating: i64,
}

pub(super) fn advance(step: &mut Step<'_>) {
    let Some(job) = step.own() else { return };
    let manager = job.str_at(&["spec", "managedBy"]);
    if !matches!(manager, "" | "kubernetes.io/job-controller") {
        return;
    }
    if finish::is_finished(&job) {
        return finish::expire(step, &job);
    }
    let Some(selector) = selectors::of_object(step.kind, &job) else {
        return;
    };
    let keys = children::of(step, &job, Kind::Pod, &selector);
    let index = step.index;
    let pods = keys.iter().filter_map(|key| index.pod(key)).collect();
    let mut view = View::new(&job, pods);
    if view.started.is_none() && !view.suspended {
        view.started = Some(step.now_text());
    }
    let mut present = view.present();
    let verdict = view.judge(step);
    match verdict {
        Some(_) => view.delete_active(step, &mut present),
        None if !deleting(&job) => view.manage(step, &mut present),
        None => {}
    }
    let verdict = verdict.or_else(|| view.completion(&present));
    view.write_status(step, &present, verdict);
    view.count_off(step, verdict);
}

impl<'a> View<'a> {
    fn new(job: &'a Value, pods: Vec<&'a PodFacts>) -> Self {
        let indexed = job.str_at(&["spec", "completionMode"]) == "Indexed";
        let completions = number(job, &["spec", "completions"]);
        let counts = |pod: &&PodFacts| {
            let in_range = |index: i64| (0..completions).contains(&index);
            pod.tracked && (!indexed || pod.completion_index.is_some_and(in_range))
        };
        let replaces_failed_only = job.str_at(&["spec", "podReplacementPolicy"]) == "Failed";
        let has_failed = |pod: &&PodFacts| match pod.phase {
            Phase::Failed => true,
            Phase::Succeeded => false,
            _ => pod.deleting() && !replaces_failed_only,
        };
        let tracked = || pods.iter().copied().filter(counts);
        let newly_succeeded: Vec<_> = tracked().filter(|pod| pod.phase == Phase::Succeeded).collect();
        let newly_failed: Vec<_> = tracked().filter(has_failed).collect();
        let indexes = indexed.then(|| {
            let mut indexes = Indexes::parse(job.str_at(&["status", "completedIndexes"]), completions);
            indexes.extend(newly_succeeded.iter().filter_map(|pod| pod.completion_index));
            indexes
        });
        let succeeded = match &indexes {
            Some(indexes) => indexes.len(),
            None => number(job, &["status", "succeeded"]) + newly_succeeded.len() as i64,
        };
        let started = job.str_at(&["status", "startTime"]);
        View {
            job,
            suspended: flag(job, &["spec", "suspend"]),
            succeeded,
            failed: number(job, &["status", "failed"]) + newly_failed.len() as i64,
            newly_succeeded,
            newly_failed,
            indexes,
            started: (!started.is_empty()).then(|| started.to_owned()),
            pods,
        }
    }

    fn active(&self) -> impl Iterator<Item = &'a PodFacts> {
        self.pods.iter().copied().filter(|pod| pod.is_active())
    }

    fn present(&self) -> Present {
        Present {
            active: self.active().count() as i64,
            ready: self.active().filter(|pod| pod.is_ready()).count() as i64,
            terminating: self.pods.iter().filter(|pod| pod.is_terminating()).count() as i64,
        }
    }

    fn write_status(&self, step: &mut Step<'_>, present: &Present, verdict: Option<Verdict>) {
        let now = step.now_text();
        let old = self.job.get("status").cloned().unwrap_or_else(Value::object);
        let mut status = old.clone();
        set_count(&mut status, "active", present.active);
        set_count(&mut status, "succeeded", self.succeeded);
        set_count(&mut status, "failed", self.failed);
        status.set_at(&["ready"], present.ready);
        status.set_at(&["terminating"], present.terminating);
        status.set_at(&["uncountedTerminatedPods"], Value::object());
        if let Some(indexes) = &self.indexes {
            let text = indexes.to_string();
            match text.is_empty() {
                true => drop(status.remove_at(&["completedIndexes"])),
                false => status.set_at(&["completedIndexes"], text),
            }
        }
        if let Some(started) = &self.started {
            status.set_at(&["startTime"], started.as_str());
        }
        self.tell_suspension(step, &mut status, verdict, &now);
        if let Some(verdict) = verdict {
            verdict.enact(&mut status, present, &now);
        }
        step.change_status(|job| job.set_at(&["status"], status.clone()));
        finish::tell(step, self.job, &old, &status);
    }

    /// Says whether the job is held back.
    fn tell_suspension(&self, step: &mut Step<'_>, status: &mut Value, verdict: Option<Verdict>, now: &str) {
        let was = condition::holds(status, "Suspended");
        if verdict.is_some() || was == self.suspended || deleting(self.job) {
            return;
        }
        let (value, reason, message, event) = match self.suspended {
            true => ("True", "JobSuspended", "Job suspended", "Suspended"),
            false => ("False", "JobResumed", "Job resumed", "Resumed"),
        };
        let condition = condition::Condition {
            kind: "Suspended",
            status: value,
            reason,
            message,
        };
        condition.replace(status, now, |condition| condition.set_at(&["lastProbeTime"], now));
        match self.suspended {
            true => drop(status.remove_at(&["startTime"])),
            false => status.set_at(&["startTime"], now),
        }
        step.event(self.job, super::event::Level::Normal, event, message);
    }
}
