//! Steps that have no stage yet.

use std::sync::Arc;

use model::Value;

use super::hooks::DeletePolicy;
use super::input::Live;
use super::refusal::Refusal;
use super::steps::{Action, Awaited, Phase, Step, Target, Until};

/// A step with what is needed to find its stage.
#[derive(Clone, Debug)]
pub(super) struct Task {
    pub(super) step: Step,
    /// When it is done, if there are phases.
    pub(super) phase: Phase,
    /// In which wave, if there are waves.
    pub(super) wave: i64,
    /// The desired object; nothing for what is pruned.
    pub(super) object: Option<Arc<Value>>,
    /// Why it cannot be done as things are now. A stage before may change that.
    pub(super) failure: Option<Refusal>,
    /// Whether it cannot even be tried before another object is there: its definition or its namespace.
    pub(super) needs_definition: bool,
    /// When it is deleted, if it is a hook.
    pub(super) delete_policy: Option<DeletePolicy>,
    /// What is there of a hook.
    pub(super) earlier: Option<Live>,
    /// Whether it is deleted only with an approval.
    pub(super) needs_approval: bool,
    /// Whether it is pruned after everything else.
    pub(super) prune_last: bool,
    /// Whether it is being deleted already.
    pub(super) leaving: bool,
    /// Whether it is in no inventory.
    pub(super) implied: bool,
}

impl Task {
    pub(super) fn new(step: Step) -> Self {
        Task {
            step,
            phase: Phase::Sync,
            wave: 0,
            object: None,
            failure: None,
            needs_definition: false,
            delete_policy: None,
            earlier: None,
            needs_approval: false,
            prune_last: false,
            leaving: false,
            implied: false,
        }
    }

    pub(super) fn is_hook(&self) -> bool {
        self.step.hook.is_some()
    }

    /// Whether it is about an object that is no longer desired.
    pub(super) fn is_prune(&self) -> bool {
        self.object.is_none()
    }

    /// What is waited for when it is done: the object's health, the hook's end, the pruned object's. Nothing for what is left
    /// alone.
    pub(super) fn awaited(&self) -> Option<Awaited> {
        let until = match self.step.action {
            Action::Skip if self.leaving => Until::Gone,
            Action::Skip | Action::Yield { .. } | Action::Gone | Action::Fail { .. } => return None,
            Action::Prune { .. } | Action::DeleteHook { .. } => Until::Gone,
            _ if self.is_hook() => Until::Completed,
            _ => Until::Healthy,
        };
        Some(Awaited {
            key: self.step.key.clone(),
            until,
            may_vanish: until != Until::Gone && self.object.as_deref().is_some_and(deletes_itself),
            target: self.target(),
        })
    }

    /// What exactly it deletes, if that is known.
    fn target(&self) -> Option<Target> {
        match &self.step.action {
            Action::Prune { target, .. } => Some(target.clone()),
            Action::DeleteHook { target, .. } => target.clone(),
            _ => None,
        }
    }
}

/// Whether it is a Job that deletes itself when it is done.
fn deletes_itself(object: &Value) -> bool {
    object.str_at(&["kind"]) == "Job"
        && object.str_at(&["apiVersion"]).starts_with("batch/")
        && object
            .at(&["spec", "ttlSecondsAfterFinished"])
            .is_some_and(|seconds| !seconds.is_null())
}
