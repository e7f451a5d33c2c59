//! The end of a Job: how it is decided, what the status says of it, and when the Job itself goes.

use std::time::Duration;

use jiff::SignedDuration;
use model::Value;

use super::{Present, View};
use crate::metadata;
use crate::simulator::condition::{self, Condition};
use crate::simulator::event::Level;
use crate::simulator::facts::{Phase, TRACKING, time};
use crate::simulator::step::number;
use crate::simulator::{Kind, Step};
use crate::verbs::delete::{DeleteOptions, Propagation};

/// How a Job ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Complete,
    BackoffLimit,
    Deadline,
}

impl Verdict {
    fn is_success(self) -> bool {
        self == Verdict::Complete
    }

    fn words(self) -> (&'static str, &'static str) {
        match self {
            Verdict::Complete => ("CompletionsReached", "Reached expected number of succeeded pods"),
            Verdict::BackoffLimit => (
                "BackoffLimitExceeded",
                "Job has reached the specified backoff limit",
            ),
            Verdict::Deadline => (
                "DeadlineExceeded",
                "Job was active longer than specified deadline",
            ),
        }
    }

    /// Says so in the status: at once that the end is decided, and that it is there when all pods are gone.
    pub(super) fn enact(self, status: &mut Value, present: &Present, now: &str) {
        let (reason, message) = self.words();
        let (decided, there) = match self.is_success() {
            true => ("SuccessCriteriaMet", "Complete"),
            false => ("FailureTarget", "Failed"),
        };
        let mut say = |kind: &str| {
            let condition = Condition {
                kind,
                status: "True",
                reason,
                message,
            };
            if !condition::holds(status, kind) {
                condition.replace(status, now, |condition| condition.set_at(&["lastProbeTime"], now));
            }
        };
        say(decided);
        if present.terminating > 0 || present.active > 0 {
            return;
        }
        say(there);
        if self.is_success() {
            status.set_at(&["completionTime"], now);
        }
    }
}

/// Whether the end of a Job is there.
pub(super) fn is_finished(job: &Value) -> bool {
    let status = job.get("status").unwrap_or(&Value::Null);
    condition::holds(status, "Complete") || condition::holds(status, "Failed")
}

/// Records the events of a change of status.
pub(super) fn tell(step: &mut Step<'_>, job: &Value, old: &Value, new: &Value) {
    for kind in ["Complete", "Failed"] {
        if condition::holds(old, kind) || !condition::holds(new, kind) {
            continue;
        }
        if kind == "Complete" {
            step.event(job, Level::Normal, "Completed", "Job completed");
        } else if let Some(failed) = condition::find(new, kind) {
            let (reason, message) = (failed.str_at(&["reason"]), failed.str_at(&["message"]));
            step.event(job, Level::Warning, reason, message);
        }
    }
}

/// Deletes a finished Job when its time is over.
pub(super) fn expire(step: &mut Step<'_>, job: &Value) {
    let Some(ttl) = job
        .at(&["spec", "ttlSecondsAfterFinished"])
        .and_then(Value::as_i64)
    else {
        return;
    };
    if crate::simulator::step::deleting(job) {
        return;
    }
    let status = job.get("status").unwrap_or(&Value::Null);
    let ends = ["Complete", "Failed"];
    let end = ends.iter().find_map(|kind| condition::find(status, kind));
    let end = end.and_then(|end| time(end.str_at(&["lastTransitionTime"])));
    let Some(end) = end else { return };
    let left = SignedDuration::from_secs(ttl) - step.now.duration_since(end);
    if left.is_positive() {
        return step.look_again(left.unsigned_abs());
    }
    let options = DeleteOptions {
        propagation: Some(Propagation::Foreground),
        ..DeleteOptions::default()
    };
    step.delete(Kind::Job, step.key, &options);
}

impl View<'_> {
    /// The end that is decided already, or that the pods or the clock decide now.
    pub(super) fn judge(&self, step: &mut Step<'_>) -> Option<Verdict> {
        let status = self.job.get("status").unwrap_or(&Value::Null);
        if condition::holds(status, "SuccessCriteriaMet") {
            return Some(Verdict::Complete);
        }
        if let Some(target) = condition::find(status, "FailureTarget") {
            return Some(match target.str_at(&["reason"]) {
                "DeadlineExceeded" => Verdict::Deadline,
                _ => Verdict::BackoffLimit,
            });
        }
        let limit = number(self.job, &["spec", "backoffLimit"]);
        if self.failed > limit || self.restarted_too_often(limit) {
            return Some(Verdict::BackoffLimit);
        }
        self.is_late(step).then_some(Verdict::Deadline)
    }

    /// Containers that start anew count like pods that fail.
    fn restarted_too_often(&self, limit: i64) -> bool {
        if self.job.str_at(&["spec", "template", "spec", "restartPolicy"]) != "OnFailure" {
            return false;
        }
        let running = self.pods.iter();
        let running = running.filter(|pod| matches!(pod.phase, Phase::Pending | Phase::Running));
        let restarts: i64 = running.map(|pod| pod.restarts).sum();
        restarts > 0 && restarts >= limit
    }

    fn is_late(&self, step: &mut Step<'_>) -> bool {
        let deadline = self
            .job
            .at(&["spec", "activeDeadlineSeconds"])
            .and_then(Value::as_i64);
        let started = self.started.as_deref().and_then(time);
        let (Some(deadline), Some(started), false) = (deadline, started, self.suspended) else {
            return false;
        };
        let left = SignedDuration::from_secs(deadline) - step.now.duration_since(started);
        if left.is_positive() {
            step.look_again(left.unsigned_abs().max(Duration::from_millis(1)));
        }
        !left.is_positive()
    }

    /// Whether enough pods ended well.
    pub(super) fn completion(&self, present: &Present) -> Option<Verdict> {
        let enough = match self.job.at(&["spec", "completions"]).and_then(Value::as_i64) {
            Some(completions) => self.succeeded >= completions,
            None => self.succeeded > 0,
        };
        (enough && present.active == 0 && !self.suspended).then_some(Verdict::Complete)
    }

    /// Lets go of the pods that are counted now; all of them at the end of the Job.
    pub(super) fn count_off(&self, step: &Step<'_>, verdict: Option<Verdict>) {
        let ends = verdict.is_some() || crate::simulator::step::deleting(self.job);
        let counted = self.newly_succeeded.iter().chain(&self.newly_failed);
        let others = self.pods.iter().filter(|pod| pod.tracked && ends);
        for pod in counted.chain(others) {
            step.change(Kind::Pod, pod.key(), |pod| {
                metadata::retain_finalizers(pod, |name| name != TRACKING);
            });
        }
    }
}
