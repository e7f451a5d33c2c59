//! One run: actions one after the other, none of a kind twice, and none after one that undid something.

use std::time::Duration;

use super::{Action, Observed, Stall};

/// What kind of action it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionKind {
    /// It makes a release.
    Release,
    /// It undoes one that failed.
    Remediate,
    /// It runs tests.
    Test,
    /// It frees a release that was left behind.
    Unlock,
    /// It sets objects right.
    DriftCorrection,
}

impl ActionKind {
    /// The name in messages.
    pub fn name(self) -> &'static str {
        match self {
            ActionKind::Release => "release",
            ActionKind::Remediate => "remediate",
            ActionKind::Test => "test",
            ActionKind::Unlock => "unlock",
            ActionKind::DriftCorrection => "drift correction",
        }
    }
}

/// What was done in this run so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run(Vec<ActionKind>);

/// How a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// With another one at once.
    Requeue,
    /// With another one after a while.
    RetryAfter(Duration),
    /// With nothing until something changes.
    Stall(Stall),
    /// With the next one at its time.
    Done,
}

impl Run {
    /// How the run ends before an action, if it must not be done any more. The policy, counters and last action are those of now.
    pub fn before(&self, action: Action, observed: &Observed<'_>) -> Option<Outcome> {
        if !self.0.contains(&action.kind()) {
            return None;
        }
        if let Some(interval) = observed.policy.retry_interval(observed.last_action) {
            return Some(Outcome::RetryAfter(interval));
        }
        let active = observed.policy.active(observed.last_action);
        Some(match active {
            Some(active) if active.is_exhausted(&observed.counters) => Outcome::Done,
            _ => Outcome::Requeue,
        })
    }

    /// Takes note of an action that was done, and tells how the run ends with it, if it does. The counters are those after it.
    pub fn after(&mut self, action: Action, observed: &Observed<'_>) -> Option<Outcome> {
        self.0.push(action.kind());
        if action.kind() != ActionKind::Remediate {
            return None;
        }
        if let Some(interval) = observed.policy.retry_interval(observed.last_action) {
            return Some(Outcome::RetryAfter(interval));
        }
        let active = observed.policy.active(observed.last_action);
        Some(match active {
            Some(active)
                if active.is_exhausted(&observed.counters) && !active.is_uninstall_after_upgrade() =>
            {
                Outcome::Stall(Stall::RetriesExceeded("cannot remediate failed release"))
            }
            _ => Outcome::Requeue,
        })
    }

    /// How the run ends with an action that failed without leaving a release behind: with another try after a while, if there is an
    /// interval for that. Without one the error is told, and tried again with growing delays.
    pub fn after_error(observed: &Observed<'_>) -> Option<Outcome> {
        let interval = observed.policy.retry_interval(observed.last_action)?;
        Some(Outcome::RetryAfter(interval))
    }
}
