//! From a state to one action. One file for each state in which there is a choice.

mod absent;
mod drifted;
mod failed;
mod in_sync;
mod out_of_sync;
mod unmanaged;

use super::{ActionKind, History, Observed, Policy, State};

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A release is installed.
    Install,
    /// A release is made over the last one.
    Upgrade,
    /// The tests of the last one are run.
    Test,
    /// The release before is brought back.
    Rollback {
        /// Its version.
        to: i64,
    },
    /// The release is uninstalled since it failed.
    UninstallRemediation,
    /// The status of the last one is set to failed in storage.
    Unlock,
    /// Objects that were changed are set to what the release says.
    CorrectDrift,
}

impl Action {
    /// The name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Action::Install => "install",
            Action::Upgrade => "upgrade",
            Action::Test => "test",
            Action::Rollback { .. } => "rollback",
            Action::UninstallRemediation => "uninstall",
            Action::Unlock => "unlock",
            Action::CorrectDrift => "correct cluster drift",
        }
    }

    /// What kind of action it is: in one run none is done twice.
    pub fn kind(self) -> ActionKind {
        match self {
            Action::Install | Action::Upgrade => ActionKind::Release,
            Action::Test => ActionKind::Test,
            Action::Rollback { .. } | Action::UninstallRemediation => ActionKind::Remediate,
            Action::Unlock => ActionKind::Unlock,
            Action::CorrectDrift => ActionKind::DriftCorrection,
        }
    }
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// This is done.
    Do(Action),
    /// Nothing is left to do.
    Nothing,
    /// Objects have to be compared before more can be said.
    Compare,
    /// Nothing is done until something changes.
    Stall(Stall),
}

/// Why nothing is done any more, in Flux's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stall {
    /// It failed too often.
    #[error("exceeded maximum retries: {0}")]
    RetriesExceeded(&'static str),
    /// There is no release to go back to.
    #[error("missing target release for rollback: cannot remediate failed release")]
    MissingRollbackTarget,
}

impl Stall {
    /// The reason of the condition.
    pub fn reason(self) -> &'static str {
        match self {
            Stall::RetriesExceeded(_) => "RetriesExceeded",
            Stall::MissingRollbackTarget => "MissingRollbackTarget",
        }
    }
}

/// What comes next, and what is then remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// What comes next.
    pub next: Next,
    /// The history from now on: shorter, if some of it is of no use any more.
    pub history: History,
}

/// Decides what comes next in a state.
pub fn decide(state: &State, observed: &Observed<'_>) -> Decision {
    let mut history = observed.history.clone();
    let next = match state {
        State::Absent(_) => absent::next(observed),
        State::Locked(_) => Next::Do(Action::Unlock),
        State::Unmanaged(_) => unmanaged::next(&mut history),
        State::OutOfSync(_) => out_of_sync::next(observed),
        State::Untested => Next::Do(Action::Test),
        State::Failed(_) => failed::next(observed, &mut history),
        State::Drifted => drifted::next(observed.policy),
        State::NotCompared => Next::Compare,
        State::InSync => in_sync::next(observed, &mut history),
    };
    Decision { next, history }
}
