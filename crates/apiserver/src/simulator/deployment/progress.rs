//! The status of a Deployment: counts, and the conditions that tell whether it is available and how it gets on.

use std::time::Duration;

use jiff::SignedDuration;
use model::Value;

use crate::simulator::Step;
use crate::simulator::condition::{self, Condition};
use crate::simulator::facts::time;
use crate::simulator::step::{flag, number, set_count};

use super::View;
use super::rollout::Limits;
use super::set::{REVISION, Set, Sets};

/// Whether a look tells how the exchange gets on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    Estimated,
    Ignored,
}

/// Whether an exchange that gets nowhere counts as failed after some time.
pub(super) fn has_deadline(deployment: &Value) -> bool {
    deadline(deployment).is_some()
}

fn deadline(deployment: &Value) -> Option<i64> {
    let seconds = deployment.at(&["spec", "progressDeadlineSeconds"])?.as_i64()?;
    (seconds < i64::from(i32::MAX)).then_some(seconds)
}

/// Whether a status tells that all is as wanted.
pub(super) fn is_complete(deployment: &Value, status: &Value) -> bool {
    let wanted = number(deployment, &["spec", "replicas"]);
    let counts = ["updatedReplicas", "replicas", "availableReplicas"];
    counts.iter().all(|field| number(status, &[field]) == wanted)
        && number(status, &["observedGeneration"]) >= number(deployment, &["metadata", "generation"])
}

/// Writes the status.
pub(super) fn write(step: &mut Step<'_>, mut view: View<'_>, sets: &Sets, progress: Progress) {
    view.count(sets, &step.now_text());
    if progress == Progress::Estimated {
        view.estimate(step, sets);
        view.copy_failure(sets);
    }
    let View { status, revision, .. } = &view;
    step.change_status(|deployment| {
        deployment.set_at(&["status"], (*status).clone());
        if let Some(revision) = revision {
            deployment.set_at(&["metadata", "annotations", REVISION], revision.as_str());
        }
    });
    if progress == Progress::Estimated {
        view.watch_deadline(step);
    }
}

impl View<'_> {
    /// Tells when a Deployment is paused or resumed, so that the time in between does not count.
    pub(super) fn tell_pause(&mut self, now: &str) {
        if !has_deadline(self.deployment) {
            return;
        }
        let reason = condition::find(self.status, "Progressing").map(|c| c.str_at(&["reason"]).to_owned());
        let reason = reason.as_deref();
        if reason == Some("ProgressDeadlineExceeded") {
            return;
        }
        let paused = flag(self.deployment, &["spec", "paused"]);
        let told = reason == Some("DeploymentPaused");
        match (paused, told) {
            (true, false) => {
                self.set_progressing("Unknown", "DeploymentPaused", "Deployment is paused", now);
            }
            (false, true) => {
                self.set_progressing("Unknown", "DeploymentResumed", "Deployment is resumed", now);
            }
            _ => {}
        }
    }

    fn count(&mut self, sets: &Sets, now: &str) {
        let limits = Limits::of(self.deployment);
        let available = sets.sum(Set::available);
        let counts = [
            (
                "observedGeneration",
                number(self.deployment, &["metadata", "generation"]),
            ),
            ("replicas", sets.sum(Set::actual)),
            ("updatedReplicas", sets.new.as_ref().map_or(0, Set::actual)),
            (
                "readyReplicas",
                sets.sum(|set| number(&set.value, &["status", "readyReplicas"])),
            ),
            ("availableReplicas", available),
            ("unavailableReplicas", (sets.sum(Set::wanted) - available).max(0)),
        ];
        for (field, count) in counts {
            set_count(self.status, field, count);
        }
        let terminating = sets.sum(|set| number(&set.value, &["status", "terminatingReplicas"]));
        self.status.set_at(&["terminatingReplicas"], terminating);
        let is_available = available >= limits.least_available();
        let condition = match is_available {
            true => Condition {
                kind: "Available",
                status: "True",
                reason: "MinimumReplicasAvailable",
                message: "Deployment has minimum availability.",
            },
            false => Condition {
                kind: "Available",
                status: "False",
                reason: "MinimumReplicasUnavailable",
                message: "Deployment does not have minimum availability.",
            },
        };
        condition.append(self.status, now, |condition| {
            condition.set_at(&["lastUpdateTime"], now)
        });
    }

    /// Tells whether the exchange is done, gets on, or takes too long.
    fn estimate(&mut self, step: &Step<'_>, sets: &Sets) {
        if !has_deadline(self.deployment) {
            condition::remove(self.status, "Progressing");
            return;
        }
        let now = step.now_text();
        let empty = Value::Null;
        let old = self.deployment.get("status").unwrap_or(&empty);
        let counts = |status: &Value| {
            let count = |field: &str| number(status, &[field]);
            let updated = count("updatedReplicas");
            (updated, count("replicas") - updated)
        };
        let reason_before = condition::find(old, "Progressing").map_or("", |c| c.str_at(&["reason"]));
        let (updated, outdated) = counts(self.status);
        if outdated == 0 && reason_before == "NewReplicaSetAvailable" && self.says("NewReplicaSetAvailable") {
            return;
        }
        let what = match &sets.new {
            Some(new) => format!("ReplicaSet \"{}\"", new.name()),
            None => format!("Deployment \"{}\"", step.key.name()),
        };
        let grew = |field: &str| number(self.status, &[field]) > number(old, &[field]);
        let (updated_before, outdated_before) = counts(old);
        let progressed = updated > updated_before
            || outdated < outdated_before
            || grew("readyReplicas")
            || grew("availableReplicas");
        if is_complete(self.deployment, self.status) {
            let message = format!("{what} has successfully progressed.");
            self.set_progressing("True", "NewReplicaSetAvailable", &message, &now);
        } else if progressed {
            let message = format!("{what} is progressing.");
            self.renew_progressing("ReplicaSetUpdated", &message, &now);
        } else if self.is_late(step) {
            let message = format!("{what} has timed out progressing.");
            self.set_progressing("False", "ProgressDeadlineExceeded", &message, &now);
        }
    }

    fn says(&self, reason: &str) -> bool {
        let condition = condition::find(self.status, "Progressing");
        condition.is_some_and(|condition| condition.str_at(&["reason"]) == reason)
    }

    /// Sets the condition anew even where it says the same: the time of its update is what the deadline counts from.
    fn renew_progressing(&mut self, reason: &str, message: &str, now: &str) {
        let condition = Condition {
            kind: "Progressing",
            status: "True",
            reason,
            message,
        };
        let before = condition::find(self.status, "Progressing");
        let mut renewed = condition.value(condition.since(before, now));
        renewed.set_at(&["lastUpdateTime"], now);
        condition::remove(self.status, "Progressing");
        let mut all = self.status.list_at(&["conditions"]).to_vec();
        all.push(renewed);
        self.status.set_at(&["conditions"], all);
    }

    /// How long the exchange may still take without progress; `None` where that does not matter.
    fn time_left(&self, step: &Step<'_>) -> Option<SignedDuration> {
        let condition = condition::find(self.status, "Progressing")?;
        let updated = time(condition.str_at(&["lastUpdateTime"]))?;
        let deadline = SignedDuration::from_secs(deadline(self.deployment)?);
        Some(deadline - step.now.duration_since(updated))
    }

    fn is_late(&self, step: &Step<'_>) -> bool {
        if self.says("NewReplicaSetAvailable") {
            return false;
        }
        self.says("ProgressDeadlineExceeded") || self.time_left(step).is_some_and(|left| left.is_negative())
    }

    /// Wants a look at the time at which the exchange takes too long.
    fn watch_deadline(&self, step: &mut Step<'_>) {
        if is_complete(self.deployment, self.status) || self.says("ProgressDeadlineExceeded") {
            return;
        }
        if let Some(left) = self.time_left(step) {
            let left = if left.is_negative() {
                Duration::ZERO
            } else {
                left.unsigned_abs()
            };
            // Times in objects have whole seconds.
            step.look_again(left + Duration::from_secs(1));
        }
    }

    /// Tells what keeps a ReplicaSet from making pods.
    fn copy_failure(&mut self, sets: &Sets) {
        let empty = Value::Null;
        let failure = |set: &Set| {
            let status = set.value.get("status").unwrap_or(&empty);
            condition::find(status, "ReplicaFailure").cloned()
        };
        let of_new = sets.new.as_ref().and_then(failure);
        match of_new.or_else(|| sets.old.iter().find_map(failure)) {
            Some(failure) => Condition {
                kind: "ReplicaFailure",
                status: failure.str_at(&["status"]),
                reason: failure.str_at(&["reason"]),
                message: failure.str_at(&["message"]),
            }
            .append(
                self.status,
                failure.str_at(&["lastTransitionTime"]),
                |condition| {
                    condition.set_at(&["lastUpdateTime"], failure.str_at(&["lastTransitionTime"]));
                },
            ),
            None => condition::remove(self.status, "ReplicaFailure"),
        }
    }
}
