//! What becomes of an object after a run: its conditions, and when it is looked at again. In one table.
//!
//! | outcome | conditions | observed generation | next |
//! |---|---|---|---|
//! | success | neither reconciling nor stalled | moves | after the interval |
//! | stalled | stalled, not reconciling | moves | when the object changes |
//! | waiting | reconciling with retry, not stalled | stays | after the wait |
//! | transient | reconciling with retry, not stalled | stays | after a growing wait |
//!
//! A success that leaves the object not ready, because another condition says otherwise, is tried again like a transient
//! failure.

use std::collections::BTreeMap;
use std::time::Duration;

use api::{ConditionStatus, ConditionType, Reason, ReconcileStatus};
use model::event::Severity;

use super::conditions::{Conditions, Stamp, Summary};
use super::queue::Done;
use super::recorder::Notice;

/// Why a run did not end well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What it means for the object.
    pub shape: Shape,
    /// Why, for programs.
    pub reason: Reason,
    /// Why, for people. It holds no secret. Empty where it has been told already.
    pub message: String,
}

/// What a failure means for the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Nothing will change until somebody changes the object.
    Stalled,
    /// Something else must come first; it is asked for again after this time, and when it is seen to change.
    Waiting(Duration),
    /// It may go well next time.
    Transient,
}

impl Failure {
    /// One that only a change of the object mends.
    pub fn stalled(reason: Reason, message: impl Into<String>) -> Self {
        Failure {
            shape: Shape::Stalled,
            reason,
            message: message.into(),
        }
    }

    /// One that something else must mend.
    pub fn waiting(wait: Duration, reason: Reason, message: impl Into<String>) -> Self {
        Failure {
            shape: Shape::Waiting(wait),
            reason,
            message: message.into(),
        }
    }

    /// One that may mend itself.
    pub fn transient(reason: Reason, message: impl Into<String>) -> Self {
        Failure {
            shape: Shape::Transient,
            reason,
            message: message.into(),
        }
    }
}

impl Failure {
    /// Logs it, in the words that controllers have for it. Waiting is no error.
    pub(super) fn log(&self) {
        match self.shape {
            Shape::Waiting(_) => tracing::info!("{}", self.message),
            Shape::Stalled | Shape::Transient => tracing::error!(error = self.message, "Reconciler error"),
        }
    }

    /// What is told of it. Waiting is of no interest to those who are notified.
    pub(crate) fn notice(&self) -> Notice {
        let severity = match self.shape {
            Shape::Waiting(_) => Severity::Trace,
            Shape::Stalled | Shape::Transient => Severity::Error,
        };
        Notice {
            severity,
            reason: self.reason,
            message: self.message.clone(),
            metadata: BTreeMap::new(),
        }
    }
}

/// Brings conditions and observed generation to what a run came to, and says when to run again.
pub fn conclude<S: ReconcileStatus>(
    status: &mut S,
    stamp: Stamp,
    summary: &Summary,
    result: Result<(), &Failure>,
    interval: Duration,
) -> Done {
    let done = match result {
        Ok(()) => {
            status.remove(ConditionType::RECONCILING);
            status.remove(ConditionType::STALLED);
            Done::After(interval)
        }
        Err(failure) => match failure.shape {
            Shape::Stalled => {
                status.set_stalled(stamp, failure.reason, &failure.message);
                Done::Forget
            }
            Shape::Waiting(wait) => {
                retrying(status, stamp);
                Done::After(wait)
            }
            Shape::Transient => {
                retrying(status, stamp);
                Done::Retry
            }
        },
    };
    status.summarise(stamp, summary);
    let settled = match result {
        Ok(()) => status.is_true(ConditionType::READY),
        Err(failure) => failure.shape == Shape::Stalled,
    };
    if settled {
        status.set_observed_generation(stamp.generation);
    }
    match result {
        Ok(()) if !settled => Done::Retry,
        _ => done,
    }
}

/// Brings a status to what it is while the object is suspended: what it says is said of the generation at hand, nothing is
/// stalled, and what goes on does so no sooner than somebody resumes it. Of what nobody has worked on yet nothing is said.
pub(super) fn suspend<S: ReconcileStatus>(status: &mut S, stamp: Stamp, summary: &Summary) {
    if status.conditions().is_empty() {
        return;
    }
    status.remove(ConditionType::STALLED);
    if status.condition(ConditionType::RECONCILING).is_some() {
        retrying(status, stamp);
    }
    status.summarise(stamp, summary);
    status.set_observed_generation(stamp.generation);
}

/// The work goes on, after a failure.
fn retrying<S: ReconcileStatus>(status: &mut S, stamp: Stamp) {
    status.remove(ConditionType::STALLED);
    let message = status
        .condition(ConditionType::RECONCILING)
        .map(|reconciling| reconciling.message.clone());
    let message = message.unwrap_or_else(|| "reconciliation in progress".into());
    status.set(
        stamp,
        ConditionType::RECONCILING,
        ConditionStatus::True,
        Reason::PROGRESSING_WITH_RETRY.as_str(),
        &message,
    );
}

#[cfg(test)]
mod tests {
    use api::source::GitRepositoryStatus;

    use super::*;

    const SUMMARY: Summary = Summary {
        order: &[
            ConditionType::FETCH_FAILED,
            ConditionType::ARTIFACT_IN_STORAGE,
            ConditionType::STALLED,
            ConditionType::RECONCILING,
        ],
        negative: &[
            ConditionType::FETCH_FAILED,
            ConditionType::STALLED,
            ConditionType::RECONCILING,
        ],
        decisive: &[],
    };

    const MINUTE: Duration = Duration::from_secs(60);

    fn shown(status: &GitRepositoryStatus) -> Vec<String> {
        let conditions = status.conditions.iter();
        conditions
            .map(|one| format!("{}={:?}/{}", one.kind, one.status, one.reason))
            .collect()
    }

    #[test]
    fn every_outcome_has_its_conditions_its_generation_and_its_next_run() {
        let stamp = Stamp {
            generation: 3,
            now: "2026-01-02T03:04:05Z".parse().unwrap(),
        };
        let url = Failure::stalled(Reason::URL_INVALID, "no scheme");
        let wait = Failure::waiting(MINUTE / 2, Reason::NO_SOURCE_ARTIFACT, "no artifact");
        let fetch = Failure::transient(Reason::GIT_OPERATION_FAILED, "no route");
        type Case<'a> = (Result<(), &'a Failure>, bool, &'a [&'a str], Option<i64>, Done);
        let cases: [Case<'_>; 5] = [
            (
                Ok(()),
                true,
                &["Ready=True/Succeeded", "ArtifactInStorage=True/Succeeded"],
                Some(3),
                Done::After(MINUTE),
            ),
            (
                Err(&url),
                false,
                &["Stalled=True/URLInvalid", "Ready=False/URLInvalid"],
                Some(3),
                Done::Forget,
            ),
            (
                Err(&wait),
                false,
                &[
                    "Reconciling=True/ProgressingWithRetry",
                    "Ready=False/ProgressingWithRetry",
                ],
                None,
                Done::After(MINUTE / 2),
            ),
            (
                Err(&fetch),
                false,
                &[
                    "Reconciling=True/ProgressingWithRetry",
                    "Ready=False/ProgressingWithRetry",
                ],
                None,
                Done::Retry,
            ),
            (Ok(()), false, &["Ready=Unknown/Progressing"], None, Done::Retry),
        ];
        for (result, stored, conditions, generation, next) in cases {
            let mut status = GitRepositoryStatus::default();
            status.set_progress(stamp, false, "reconciliation in progress");
            if stored {
                status.set_true(
                    stamp,
                    ConditionType::ARTIFACT_IN_STORAGE,
                    Reason::SUCCEEDED,
                    "stored",
                );
            }
            let done = conclude(&mut status, stamp, &SUMMARY, result, MINUTE);
            assert_eq!(shown(&status), conditions, "{result:?}");
            assert_eq!(status.observed_generation, generation, "{result:?}");
            assert_eq!(done, next, "{result:?}");
        }
    }
}
