//! What somebody asks to be done, and how far it is.

use std::collections::BTreeSet;

use jiff::Timestamp;
use model::{Digest, Inventory, ObjectKey};
use serde::{Deserialize, Serialize};

use crate::plan::Plan;
use crate::sync::{Outcome, Progress};

/// What somebody asks to be done now.
///
/// It is written to the store, and the engine is told:
///
/// ```
/// use engine::Engine;
/// use engine::unit::{Failure, Operation, SyncUnitStore};
///
/// /// Whether it is asked for: somebody else may have asked for something that is not answered yet.
/// async fn sync_now(engine: &Engine, store: &impl SyncUnitStore, id: &str) -> Result<bool, Failure> {
///     let operation = Operation { by: "me".to_owned(), ..Operation::default() };
///     let is_asked = store.set_operation(id, None, Some(operation)).await?;
///     engine.refresh(id);
///     Ok(is_asked)
/// }
/// ```
///
/// The engine takes it out of the store when it is done, whatever became of it: [`Engine::on_sync_completed`](crate::Engine::on_sync_completed) tells
/// that.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Operation {
    /// The revision to apply, if it is not the one of the source. An automatic unit goes back to that of its source right after; one that
    /// is not is out of sync.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// Only these objects; all others are left as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<BTreeSet<ObjectKey>>,
    /// Plans and tells, and changes nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// Deletes all that the unit has, since the unit itself is about to go. The request stays until then, so that nothing is
    /// applied again. It is waited for until its objects are gone; when the inventory is empty and the operation has succeeded, the unit can be taken out of its store.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub delete: bool,
    /// Whether what asks for approval has it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub approved: bool,
    /// Who asks.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub by: String,
    /// Tells it apart from others that ask for the same: a time, or a number. Requests that are equal in all are one, and answered
    /// once, for as long as the first is not answered.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub number: String,
}

/// How far an operation is. It is part of the unit's status, so that another process can go on with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperationState {
    /// How it goes.
    pub phase: Phase,
    /// What is done. Of an operation that has ended only its revision and notes are left, unless it was a dry run.
    pub plan: Plan,
    /// How far it is. Of an operation that has ended there are no results of objects that were as they should be.
    pub progress: Progress,
    /// What it was begun for: a digest of the objects, of where they go and of how they are applied. An operation is only gone on with
    /// while that is the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basis: Option<Digest>,
    /// How often it was begun before and ended because somebody had deleted what it counts on. After a few times it has failed.
    #[serde(default, skip_serializing_if = "is_none")]
    pub losses: u32,
    /// What somebody has asked for, if it was not begun by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Operation>,
    /// When it began.
    pub started: Timestamp,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished: Option<Timestamp>,
    /// What is waited for, or what has become of it, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

fn is_none(number: &u32) -> bool {
    *number == 0
}

impl OperationState {
    /// What is kept of an operation that has ended: its plan is not gone on with, and what it found unchanged is in the inventory.
    #[must_use]
    pub(crate) fn ended(mut self) -> Self {
        self.plan.stages = Vec::new();
        self.plan.inventory = Inventory::default();
        let results = &mut self.progress.results;
        results.retain(|result| result.outcome != Outcome::Unchanged);
        results.shrink_to_fit();
        self
    }
}

/// How an operation goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Phase {
    /// It is under way, or waits.
    Running,
    /// Somebody has to approve it.
    Pending,
    /// All is as it should be.
    Succeeded,
    /// It has failed.
    Failed,
    /// Somebody has ended it.
    Terminated,
    /// Something newer is to be done.
    Superseded,
}

impl Phase {
    /// Whether nothing more will be done.
    pub fn is_final(self) -> bool {
        !matches!(self, Phase::Running | Phase::Pending)
    }
}
