//! How operations begin: a new one, or one that a process before us has left.

use std::collections::HashSet;
use std::sync::Arc;

use crate::cache::{Cache, Lookup};
use crate::panics::caught;
use crate::plan::{Action, Desired, Objects, Plan};
use crate::sync::{Progress, Run, Stop, to_be_made, together};
use crate::unit::{OperationState, Phase, Status, SyncState, SyncUnit};

use super::known::{Active, Known};
use super::{Shared, UnitEventKind};

/// Whether an operation has begun.
pub(super) enum Begun {
    Yes,
    /// A callback has refused it.
    Vetoed,
}

impl Shared {
    /// Whether the operation that is under way, in this process or left by one before, goes on. One for another revision is
    /// ended, so that the newer one can begin.
    pub(super) fn goes_on(
        &self,
        unit: &SyncUnit,
        known: &Known,
        desired: &[Desired],
        revision: &str,
    ) -> bool {
        let mut state = known.state.lock();
        let stored = unit.status.operation.as_deref();
        if state.running {
            // It looks for a reason to stop by itself.
            if stored.is_some_and(|stored| !stored.phase.is_final() && stored.plan.revision != revision) {
                state.stop = Some(Stop::Superseded);
            }
            // It may be about to wait, and then would not hear of what is to be looked at now.
            self.operations.add(unit.id.clone());
            return true;
        }
        if state.active.is_none() && state.endings == 0 {
            let cache = state.cluster.as_ref().map(|cluster| &cluster.cache);
            state.active = cache.and_then(|cache| left_behind(unit, desired, revision, cache));
        }
        let Some(active) = &mut state.active else {
            return false;
        };
        active.approved |= unit
            .operation
            .as_ref()
            .is_some_and(|operation| operation.approved);
        if active.run.plan().revision != revision {
            state.stop = Some(Stop::Superseded);
        }
        drop(state);
        self.operations.add(unit.id.clone());
        true
    }

    /// Begins an operation, unless somebody refuses it.
    pub(super) async fn start(
        self: &Arc<Self>,
        unit: &SyncUnit,
        known: &Known,
        mut plan: Plan,
        objects: Objects,
    ) -> Result<Begun, Vec<String>> {
        for callback in self.told.before_sync.all() {
            let before = plan.clone();
            let veto = match caught(|| callback(unit, plan)) {
                Ok(Ok(edited)) => {
                    plan = edited;
                    continue;
                }
                Ok(Err(refusal)) => format!("vetoed before the sync: {refusal}"),
                Err(panic) => format!("vetoed, as a callback of on_before_sync panicked: {panic}"),
            };
            self.vetoed(unit, &before, veto).await;
            return Ok(Begun::Vetoed);
        }
        let operation = unit.operation.clone().unwrap_or_default();
        let started = (self.now)();
        let state = OperationState {
            phase: Phase::Running,
            plan: plan.clone(),
            progress: Progress::default(),
            started,
            finished: None,
            message: String::new(),
        };
        if operation.dry_run {
            return self.only_told(unit, state).await.map(|()| Begun::Yes);
        }
        let counts = plan.counts();
        let message = format!(
            "{} to create, {} to change, {} to prune, {} hooks to run, {} unchanged",
            counts.create, counts.change, counts.prune, counts.hooks, counts.unchanged
        );
        self.tell(&unit.id, UnitEventKind::Started, message);
        let status = Status {
            sync: if plan.changes_anything() {
                SyncState::OutOfSync
            } else {
                unit.status.sync
            },
            attempted: plan.revision.clone(),
            inventory: together(
                &unit.status.inventory,
                to_be_made(&plan, &unit.policy.strategy.ownership),
            ),
            operation: Some(Box::new(state)),
            ..unit.status.clone()
        };
        // What is about to be done is stored before it is done: whoever comes after a crash knows of it, and of what it makes.
        self.units
            .set_status(&unit.id, status)
            .await
            .map_err(|error| vec![error.to_string()])?;
        {
            let mut state = known.state.lock();
            state.stop = None;
            state.active = Some(Active {
                run: Run::new(Arc::new(plan), objects),
                started,
                approved: operation.approved,
                waits_for: HashSet::new(),
            });
        }
        self.operations.add(unit.id.clone());
        Ok(Begun::Yes)
    }

    /// Somebody does not want it to be done: what would be is told to differ.
    async fn vetoed(&self, unit: &SyncUnit, plan: &Plan, veto: String) {
        let status = Status {
            sync: match plan.changes_anything() {
                true => SyncState::OutOfSync,
                false => unit.status.sync,
            },
            attempted: plan.revision.clone(),
            errors: vec![veto],
            ..unit.status.clone()
        };
        if status != unit.status {
            self.tell(&unit.id, UnitEventKind::Vetoed, status.errors.join("; "));
        }
        self.write(unit, status).await;
    }

    /// A dry run ends with the plan.
    async fn only_told(&self, unit: &SyncUnit, state: OperationState) -> Result<(), Vec<String>> {
        let finished = OperationState {
            phase: Phase::Succeeded,
            finished: Some((self.now)()),
            message: "dry run: nothing was changed".to_owned(),
            ..state
        };
        let status = Status {
            operation: Some(Box::new(finished.clone())),
            ..unit.status.clone()
        };
        let written = self.units.set_status(&unit.id, status).await;
        let written = written.and(self.units.set_operation(&unit.id, None).await);
        written.map_err(|error| vec![error.to_string()])?;
        self.tell(&unit.id, UnitEventKind::Succeeded, finished.message.as_str());
        self.completed(&unit.id, &finished);
        Ok(())
    }
}

/// The operation that a process before us has not ended, if the objects are still built as they were and what it has found and
/// written is still there.
fn left_behind(unit: &SyncUnit, desired: &[Desired], revision: &str, cache: &Cache) -> Option<Active> {
    let left = unit
        .status
        .operation
        .as_ref()
        .filter(|state| !state.phase.is_final())?;
    if left.plan.revision != revision {
        return None;
    }
    let unchanged = left.plan.steps().filter(|step| step.action == Action::Unchanged);
    let written = left.progress.results.iter();
    let written = written.filter(|result| !result.resource_version.is_empty());
    let mut found = unchanged
        .map(|step| &step.key)
        .chain(written.map(|result| &result.key));
    if found.any(|key| left.plan.expects(key) && matches!(cache.find(key), Lookup::Missing)) {
        return None;
    }
    let mut objects = Objects::default();
    for desired in desired {
        objects.push_digested(desired.digest, Arc::clone(&desired.object));
    }
    let run = Run::resume(Arc::new(left.plan.clone()), objects, left.progress.clone());
    Some(Active {
        run,
        started: left.started,
        approved: false,
        waits_for: HashSet::new(),
    })
}
