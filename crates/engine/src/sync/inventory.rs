//! What a unit has applied: before a run, on its way and after it, so that nothing is forgotten wherever it ends.

use std::collections::HashSet;

use model::{Inventory, ObjectKey};
use serde::{Deserialize, Serialize};

use crate::plan::{Action, Ownership, Plan, Step};

use super::progress::{Outcome, Progress};
use super::report::Ending;

/// What a unit has applied after a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Had {
    /// This: everything was applied.
    Exactly(Inventory),
    /// What it had before, with some differences.
    Before {
        /// This is there besides.
        made: Inventory,
        /// And this is not, though it was to be made.
        not_made: Vec<ObjectKey>,
    },
}

impl Had {
    /// What the unit has, if before the end of the run it had this or was about to.
    pub fn after(self, before: &Inventory) -> Inventory {
        match self {
            Had::Exactly(inventory) => inventory,
            Had::Before { made, not_made } => {
                let mut inventory = together(before, made);
                inventory.entries.retain(|entry| !not_made.contains(&entry.id.0));
                inventory
            }
        }
    }
}

/// What the unit has applied. After a run that failed before everything was applied, that is what was there before and what it has
/// written; what could not be deleted stays in it.
pub(super) fn inventory(ending: Ending, plan: &Plan, progress: &Progress) -> Had {
    let done = with_outcome(progress, |outcome| outcome != Outcome::Failed);
    let applied_all = match ending {
        Ending::Succeeded | Ending::PruneFailed | Ending::HealthFailed => true,
        Ending::ApplyFailed => false,
        // Whatever comes next plans with what is there now.
        Ending::Terminated | Ending::Superseded | Ending::Lost | Ending::Left => {
            let mut applied = plan
                .steps()
                .filter(|step| step.action.applies() && step.hook.is_none());
            applied.all(|step| done.contains(&step.key))
        }
    };
    if !applied_all {
        let tried = with_outcome(progress, |_| true);
        let not_made = chosen(plan, |step| is_made(step) && !tried.contains(&step.key));
        return Had::Before {
            made: written(plan, progress),
            not_made: not_made.entries.into_iter().map(|entry| entry.id.0).collect(),
        };
    }
    let survivors = plan
        .steps()
        .filter(|step| matches!(step.action, Action::Prune { .. }))
        .filter(|step| !done.contains(&step.key) || progress.still_there.contains(&step.key))
        .map(|step| step.key.clone());
    Had::Exactly(plan.inventory_with(survivors))
}

/// What a run is about to make the unit's, as far as it may be stored before that is done. What is there already may be
/// somebody else's until then: it is only in it if the unit's objects are marked, so that pruning sees whose it is.
pub fn to_be_made(plan: &Plan, ownership: &Ownership) -> Inventory {
    let marks = *ownership != Ownership::Inventory;
    chosen(plan, |step| is_made(step) || (marks && step.action.applies()))
}

/// What a run may have written so far. A write that failed may have arrived all the same.
pub fn written(plan: &Plan, progress: &Progress) -> Inventory {
    let tried = with_outcome(progress, |_| true);
    chosen(plan, |step| step.action.applies() && tried.contains(&step.key))
}

/// What is in either.
pub fn together(one: &Inventory, other: Inventory) -> Inventory {
    let known: HashSet<&ObjectKey> = one.entries.iter().map(|entry| &entry.id.0).collect();
    let new = other.entries.into_iter();
    let new = new.filter(|entry| !known.contains(&entry.id.0));
    Inventory {
        entries: one.entries.iter().cloned().chain(new).collect(),
    }
}

fn is_made(step: &Step) -> bool {
    step.action == Action::Create
}

/// The objects whose steps have ended like that.
fn with_outcome(progress: &Progress, like_that: impl Fn(Outcome) -> bool) -> HashSet<&ObjectKey> {
    let ended = progress.results.iter();
    let ended = ended.filter(|result| like_that(result.outcome));
    ended.map(|result| &result.key).collect()
}

/// The entries of a plan's inventory whose steps are like that. Hooks are never in it.
fn chosen(plan: &Plan, like_that: impl Fn(&Step) -> bool) -> Inventory {
    let steps = plan.steps().filter(|step| step.hook.is_none() && like_that(step));
    let keys: HashSet<&ObjectKey> = steps.map(|step| &step.key).collect();
    let entries = plan.inventory.entries.iter();
    let entries = entries.filter(|entry| keys.contains(&entry.id.0));
    Inventory {
        entries: entries.cloned().collect(),
    }
}
