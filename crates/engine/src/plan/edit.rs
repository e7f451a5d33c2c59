//! A plan that somebody has changed before it is carried out.

use std::collections::{HashMap, HashSet};

use model::inventory::{Entry, Id};
use model::object_key::split_api_version;
use model::{Inventory, ObjectKey};

use super::steps::{Action, Plan, Step};

/// What a step does to an object, as far as an inventory goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// It is written.
    Applies,
    /// It is as it should be.
    Keeps,
    /// It is deleted, or gone.
    Deletes,
    /// Nothing, or nothing that we do.
    Nothing,
}

impl Plan {
    /// The plan as somebody has changed it: what the unit has afterwards follows from the steps that are left, whatever its inventory
    /// says. An object whose step was taken out, or is to do nothing, is in the inventory if it was in `previous`, and nothing
    /// waits for it.
    ///
    /// All that is not done any more is in [`left_out`](Plan::left_out).
    #[must_use]
    pub fn edited(&self, edited: Plan, previous: &Inventory) -> Plan {
        let (before, after) = (lasting(self), lasting(&edited));
        let had: HashMap<&ObjectKey, &Entry> = previous.entries.iter().map(|e| (&e.id.0, e)).collect();
        let (mut changed, mut entries, mut left_out) = (HashSet::new(), Vec::new(), Vec::new());
        // In the order of the plan, so that the same edit makes the same inventory.
        let added = edited.steps().filter(|step| !before.contains_key(&step.key));
        for Step { key, .. } in self.steps().chain(added).filter(|step| step.hook.is_none()) {
            let (was, is) = (before.get(key), after.get(key));
            if effect(was) == effect(is) || !changed.insert(key) {
                continue;
            }
            entries.extend(match (effect(is), is) {
                (Effect::Applies, Some(step)) => Some(recorded(step)),
                (Effect::Deletes, _) => None,
                _ => had.get(key).copied().cloned(),
            });
            if was.is_some_and(|step| step.action.writes()) {
                left_out.push(key.clone());
            }
        }
        let same = self.inventory.entries.iter();
        let same = same.filter(|entry| !changed.contains(&entry.id.0)).cloned();
        let inventory = Inventory {
            entries: same.chain(entries).collect(),
        };
        let mut plan = Plan {
            unit: self.unit.clone(),
            revision: self.revision.clone(),
            inventory,
            left_out,
            ..edited
        };
        plan.wait_for_what_is_left();
        plan
    }

    /// What is not done is not waited for.
    fn wait_for_what_is_left(&mut self) {
        let left_out: HashSet<&ObjectKey> = self.left_out.iter().collect();
        for stage in &mut self.stages {
            let Some(wait) = &mut stage.wait else { continue };
            let count = wait.objects.len();
            wait.objects.retain(|awaited| !left_out.contains(&awaited.key));
            if wait.objects.is_empty() && count > 0 {
                stage.wait = None;
            }
        }
    }
}

/// The steps of a plan by their objects. Hooks are in no inventory.
fn lasting(plan: &Plan) -> HashMap<&ObjectKey, &Step> {
    let steps = plan.steps().filter(|step| step.hook.is_none());
    steps.map(|step| (&step.key, step)).collect()
}

fn effect(step: Option<&&Step>) -> Effect {
    match step.map(|step| &step.action) {
        Some(action) if action.applies() => Effect::Applies,
        Some(Action::Unchanged) => Effect::Keeps,
        Some(Action::Prune { .. } | Action::Gone) => Effect::Deletes,
        _ => Effect::Nothing,
    }
}

fn recorded(step: &Step) -> Entry {
    Entry {
        id: Id(step.key.clone()),
        version: split_api_version(&step.api_version).1.to_owned(),
    }
}
