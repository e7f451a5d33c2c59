//! The pods of a Job: as many as are wanted, and after failures not at once.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::Timestamp;
use model::{Value, value};

use super::{Present, View};
use crate::metadata;
use crate::simulator::facts::{Phase, PodFacts, TRACKING};
use crate::simulator::step::number;
use crate::simulator::{Kind, Step, replica_set, template};

/// So many pods are made in one look.
const BURST: i64 = 500;
/// Failed pods are replaced after at most this time.
const LONGEST_BACKOFF: Duration = Duration::from_secs(600);
/// After a pod could not be created, it is tried again.
const TRY_AGAIN: Duration = Duration::from_secs(5);
const INDEX: &str = "batch.kubernetes.io/job-completion-index";

impl View<'_> {
    /// Brings the number of running pods to what is wanted.
    pub(super) fn manage(&self, step: &mut Step<'_>, present: &mut Present) {
        let wanted = match self.suspended {
            true => 0,
            false => self.wanted(present.active),
        };
        if present.active > wanted {
            let mut active: Vec<&PodFacts> = self.active().collect();
            replica_set::rank(&mut active);
            let surplus = usize::try_from(present.active - wanted).unwrap_or(0);
            for pod in active.into_iter().take(surplus) {
                self.give_up(step, pod, present);
            }
            return;
        }
        let replaces_failed_only = self.job.str_at(&["spec", "podReplacementPolicy"]) == "Failed";
        let leaving = if replaces_failed_only {
            present.terminating
        } else {
            0
        };
        let missing = (wanted - present.active - leaving).min(BURST);
        if missing <= 0 {
            return;
        }
        if let Some(left) = self.backoff(step.options.retry_delay, step.now) {
            return step.look_again(left);
        }
        present.active += self.create(step, missing);
    }

    /// How many pods shall run.
    fn wanted(&self, active: i64) -> i64 {
        let parallelism = number(self.job, &["spec", "parallelism"]);
        match self.job.at(&["spec", "completions"]).and_then(Value::as_i64) {
            Some(completions) => (completions - self.succeeded).min(parallelism).max(0),
            // One that ended well is enough; the others run to their end.
            None if self.succeeded > 0 => active,
            None => parallelism,
        }
    }

    /// How long to wait after failures; `None` where that is over.
    fn backoff(&self, first: Duration, now: Timestamp) -> Option<Duration> {
        let last_success = self.pods.iter().filter(|pod| pod.phase == Phase::Succeeded);
        let last_success = last_success.filter_map(|pod| pod.finished).max();
        let failures = self.pods.iter();
        let failures = failures.filter(|pod| pod.phase == Phase::Failed || pod.is_terminating());
        let failures: Vec<Timestamp> = failures
            .filter_map(|pod| pod.finished)
            .filter(|end| last_success.is_none_or(|success| *end > success))
            .collect();
        let last = failures.iter().max()?;
        let doublings = u32::try_from(failures.len().clamp(1, 16) - 1).unwrap_or(0);
        let delay = first.saturating_mul(1 << doublings);
        let delay = delay.min(LONGEST_BACKOFF.max(first));
        let passed = now.duration_since(*last);
        let passed = if passed.is_negative() {
            Duration::ZERO
        } else {
            passed.unsigned_abs()
        };
        delay.checked_sub(passed).filter(|left| !left.is_zero())
    }

    fn create(&self, step: &mut Step<'_>, missing: i64) -> i64 {
        let indexes: Vec<Option<i64>> = match &self.indexes {
            None => (0..missing).map(|_| None).collect(),
            Some(done) => {
                let taken: BTreeSet<i64> = self.active().filter_map(|pod| pod.completion_index).collect();
                let completions = number(self.job, &["spec", "completions"]);
                let free = (0..completions).filter(|index| !done.contains(*index) && !taken.contains(index));
                free.take(usize::try_from(missing).unwrap_or(0))
                    .map(Some)
                    .collect()
            }
        };
        let mut made = 0;
        for index in indexes {
            match template::create(step, self.job, self.pod(index)) {
                Ok(Some(_)) => made += 1,
                Ok(None) => break,
                Err(_) => {
                    step.look_again(TRY_AGAIN);
                    break;
                }
            }
        }
        made
    }

    fn pod(&self, index: Option<i64>) -> Value {
        let empty = Value::Null;
        let source = self.job.at(&["spec", "template"]).unwrap_or(&empty);
        let mut pod = template::pod(source, self.job);
        metadata::add_finalizer(&mut pod, TRACKING);
        let Some(index) = index else { return pod };
        let name = self.job.str_at(&["metadata", "name"]);
        let text = index.to_string();
        pod.set_at(&["metadata", "annotations", INDEX], text.as_str());
        pod.set_at(&["metadata", "labels", INDEX], text.as_str());
        pod.set_at(&["metadata", "generateName"], format!("{name}-{index}-"));
        pod.set_at(&["spec", "hostname"], format!("{name}-{index}"));
        for list in ["initContainers", "containers"] {
            let containers = pod.at_mut(&["spec", list]).and_then(Value::as_array_mut);
            for container in containers.into_iter().flatten() {
                tell_index(container);
            }
        }
        pod
    }

    /// Deletes a pod without counting it as failed.
    fn give_up(&self, step: &mut Step<'_>, pod: &PodFacts, present: &mut Present) {
        step.change(Kind::Pod, pod.key(), |pod| {
            metadata::retain_finalizers(pod, |name| name != TRACKING);
        });
        template::delete(step, self.job, pod.key());
        self.note_deleted(pod, present);
    }

    /// Deletes what runs when the end of the Job is decided.
    pub(super) fn delete_active(&self, step: &mut Step<'_>, present: &mut Present) {
        for pod in self.active() {
            template::delete(step, self.job, pod.key());
            self.note_deleted(pod, present);
        }
    }

    fn note_deleted(&self, pod: &PodFacts, present: &mut Present) {
        present.active -= 1;
        present.ready -= i64::from(pod.is_ready());
        // A pod that is on no node is gone at once.
        present.terminating += i64::from(!pod.node.is_empty());
    }
}

/// Lets a container know its index, as the real controller does.
fn tell_index(container: &mut Value) {
    const NAME: &str = "JOB_COMPLETION_INDEX";
    let mut variables = container.list_at(&["env"]).to_vec();
    if variables
        .iter()
        .any(|variable| variable.str_at(&["name"]) == NAME)
    {
        return;
    }
    let field = format!("metadata.labels['{INDEX}']");
    variables.push(value!({"name": NAME, "valueFrom": {"fieldRef": {"fieldPath": field}}}));
    container.set_at(&["env"], variables);
}
