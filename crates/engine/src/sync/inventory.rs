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
        /// And this is not: it was to be made and was not, or was deleted.
        gone: Vec<ObjectKey>,
    },
}

impl Had {
    /// What the unit has, if before the end of the run it had this or was about to.
    pub fn after(self, before: &Inventory) -> Inventory {
        match self {
            Had::Exactly(inventory) => inventory,
            Had::Before { made, gone } => {
                let mut inventory = together(before, made);
                inventory.entries.retain(|entry| !gone.contains(&entry.id.0));
                inventory
            }
        }
    }
}

/// What the unit has applied. After a run that failed before everything was applied, that is what was there before and what it has
/// written, without what it has deleted; what could not be deleted stays in it.
pub(super) fn inventory(ending: Ending, plan: &Plan, progress: &Progress) -> Had {
    let done = done(progress);
    // Whatever else it ended with, stages that were still to come were never begun, and what is there of their objects may be somebody else's.
    let applied_all = ending == Ending::Succeeded || {
        let mut applied = plan
            .steps()
            .filter(|step| step.action.applies() && step.hook.is_none());
        applied.all(|step| done.contains(&step.key))
    };
    let pruned = |step: &Step| done.contains(&step.key) && !progress.still_there.contains(&step.key);
    let prunes = plan
        .steps()
        .filter(|step| matches!(step.action, Action::Prune { .. }));
    if !applied_all {
        let tried = tried(progress);
        let is_new = |step: &Step| is_made(step) && !step.apply.had;
        let not_made = chosen(plan, |step| is_new(step) && !tried.contains(&step.key));
        let not_made = not_made.entries.into_iter().map(|entry| entry.id.0);
        let pruned = prunes.filter(|step| pruned(step)).map(|step| step.key.clone());
        return Had::Before {
            made: written(plan, progress),
            gone: not_made.chain(pruned).collect(),
        };
    }
    let survivors = prunes.filter(|step| !pruned(step)).map(|step| step.key.clone());
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
    let tried = tried(progress);
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

/// The objects whose steps have not failed.
fn done(progress: &Progress) -> HashSet<&ObjectKey> {
    let ended = progress.results.iter();
    let done = ended.filter(|result| result.outcome != Outcome::Failed);
    done.map(|result| &result.key).collect()
}

/// The objects whose steps were carried out, well or not.
fn tried(progress: &Progress) -> HashSet<&ObjectKey> {
    let ended = progress.results.iter();
    ended
        .filter(|result| !result.unsent)
        .map(|result| &result.key)
        .collect()
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
