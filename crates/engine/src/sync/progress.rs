//! How far a plan has been carried out: what a process that starts anew goes on from.

use jiff::Timestamp;
use model::ObjectKey;
use serde::{Deserialize, Serialize};

/// How far a plan has been carried out.
///
/// It is stored when something is waited for, not between stages. What was done since it was stored last is done again after a
/// crash, and may be: objects are applied, not created, and deletions name what exactly they are meant for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// The stage that is at work.
    pub stage: usize,
    /// How far its steps are.
    #[serde(default, skip_serializing_if = "Work::is_new")]
    pub work: Work,
    /// Whether a stage has failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// Whether somebody has terminated the run: only what cleans up is carried out from then on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub terminated: bool,
    /// What has become of each step so far, in the order they ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<StepResult>,
    /// What was to be gone by the end of a wait, and was not, and what was not deleted since another unit wants it: it stays in the
    /// inventory until that is settled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub still_there: Vec<ObjectKey>,
    /// What else went wrong: waits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

impl Progress {
    /// The identity of the hook that was made under this name.
    pub(super) fn made(&self, key: &ObjectKey) -> Option<&str> {
        let mut results = self.results.iter().rev();
        let made = results.find(|result| result.key == *key && !result.uid.is_empty())?;
        Some(&made.uid)
    }

    /// Whether an object was there when its step was carried out.
    pub(super) fn was_there(&self, key: &ObjectKey) -> bool {
        let mut results = self.results.iter();
        results.any(|result| result.outcome.is_there() && result.key == *key)
    }
}

/// How far the stage at work is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Work {
    /// Nothing was done yet.
    #[default]
    New,
    /// Its steps are being carried out, batch by batch.
    Steps {
        /// The batch at work.
        batch: u32,
        /// Steps that have deleted their object and apply it when it is gone, by their place in the stage.
        leaving: Vec<usize>,
        /// Since when something is waited for to be gone.
        since: Option<Timestamp>,
        /// Steps that the server has refused before the first was carried out, by their place in the stage.
        refused: Vec<usize>,
        /// Whether a step has failed.
        failed: bool,
    },
    /// All steps are done, and the stage waits.
    Waiting {
        /// Since when.
        since: Timestamp,
    },
}

/// What has become of one step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepResult {
    /// Which object.
    pub key: ObjectKey,
    /// What became of it.
    pub outcome: Outcome,
    /// The version that the object had afterwards; empty if it was not written.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub resource_version: String,
    /// The identity that a hook had afterwards: another object may get its name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// What went wrong, or what a person should know.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The server has refused a dry run, and nothing was sent after that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsent: bool,
}

/// What became of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Outcome {
    /// It was not there.
    Created,
    /// It was changed.
    Configured,
    /// It was as it should be.
    Unchanged,
    /// It was left alone.
    Skipped,
    /// It was deleted, or was gone.
    Deleted,
    /// It could not be changed.
    Failed,
}

impl Outcome {
    /// The word that Flux's change log has for it.
    pub fn word(self) -> &'static str {
        match self {
            Outcome::Created => "created",
            Outcome::Configured => "configured",
            Outcome::Unchanged => "unchanged",
            Outcome::Skipped => "skipped",
            Outcome::Deleted => "deleted",
            Outcome::Failed => "failed",
        }
    }

    /// Whether the object was written.
    pub fn applied(self) -> bool {
        matches!(self, Outcome::Created | Outcome::Configured)
    }

    /// Whether the object was there afterwards, as it should be.
    pub fn is_there(self) -> bool {
        matches!(self, Outcome::Created | Outcome::Configured | Outcome::Unchanged)
    }

    /// Whether the cluster was changed.
    pub fn changed(self) -> bool {
        matches!(self, Outcome::Created | Outcome::Configured | Outcome::Deleted)
    }
}

impl Work {
    /// Nothing of the steps is done, but all may be that were not refused.
    pub(super) fn begun(refused: Vec<usize>) -> Self {
        Work::Steps {
            batch: 0,
            leaving: Vec::new(),
            since: None,
            failed: !refused.is_empty(),
            refused,
        }
    }

    fn is_new(&self) -> bool {
        *self == Work::New
    }
}
