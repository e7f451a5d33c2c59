//! How operations begin: a new one, or one that a process before us has left.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use model::Digest;
use tokio::time::Instant;

use crate::cache::{Cache, Lookup};
use crate::panics::caught;
use crate::plan::{Action, Desired, Objects, Plan};
use crate::sync::{Progress, Run, Stop, to_be_made, together};
use crate::unit::{OperationState, Phase, Status, SyncState, SyncUnit};

use super::answers::put_off;
use super::clusters::Handle;
use super::intent::{Intent, Wish};
use super::known::{Active, Known};
use super::{Shared, UnitEventKind};

/// What callbacks make of a plan before it is carried out.
pub(super) enum Consent {
    /// This is to be done.
    Given(Plan),
    /// One of them has refused this, for a reason.
    Vetoed(Plan, String),
}

/// Whether an operation goes on.
pub(super) enum GoesOn {
    /// None is under way.
    No,
    /// One is. What the unit comes to now.
    Yes(Digest),
    /// One is, although its source describes something else by now: that was so a moment ago too, and waits for so long.
    Restless(Duration),
}

impl Shared {
    /// Whether an operation is under way, in this process or left by one before. One that is not what is wanted any
    /// more is ended, so that what is can begin.
    pub(super) fn goes_on(
        &self,
        unit: &SyncUnit,
        known: &Known,
        desired: &[Desired],
        wish: &Wish<'_>,
    ) -> GoesOn {
        let stored = unit.status.operation.as_deref();
        let left = stored.filter(|left| !left.phase.is_final());
        if left.is_none() && !known.state.lock().is_under_way() {
            return GoesOn::No;
        }
        let basis = self.basis(unit, wish);
        let mut state = known.state.lock();
        if !state.is_under_way() && state.endings == 0 {
            let cache = state.cluster.as_ref().map(|cluster| &cluster.cache);
            let left = left.filter(|left| left.basis == Some(basis));
            let resumed = left.zip(cache);
            let resumed = resumed.and_then(|(left, cache)| left_behind(left, desired, cache));
            state.intent = left.filter(|_| resumed.is_some()).and_then(Intent::of);
            state.active = resumed.map(Box::new);
        }
        if !state.is_under_way() {
            return GoesOn::No;
        }
        let intent = state.intent.as_mut();
        if !intent.is_some_and(|intent| intent.holds(unit, basis)) {
            let wait = known.restless(unit, wish);
            if !wait.is_zero() {
                return GoesOn::Restless(wait);
            }
            // It looks for a reason to stop by itself.
            state.supersede();
        }
        // Whoever carries it out may be past an object that was changed: it is looked at when the operation waits.
        state.look_again |= state.running;
        GoesOn::Yes(basis)
    }

    /// Asks whoever wants to be before anything is done.
    pub(super) fn consent(&self, unit: &SyncUnit, plan: &Plan) -> Consent {
        let mut asked = plan.clone();
        let callbacks = self.told.before_sync.all();
        if callbacks.is_empty() {
            return Consent::Given(asked);
        }
        for callback in callbacks {
            let before = asked.clone();
            let veto = match caught(|| callback(unit, asked)) {
                Ok(Ok(edited)) => {
                    asked = edited;
                    continue;
                }
                Ok(Err(refusal)) => format!("vetoed before the sync: {refusal}"),
                Err(panic) => format!("vetoed, as a callback of on_before_sync panicked: {panic}"),
            };
            return Consent::Vetoed(before, veto);
        }
        Consent::Given(plan.edited(asked, &unit.status.inventory))
    }

    /// Begins an operation, after all others were heard or before.
    pub(super) async fn start(
        self: &Arc<Self>,
        unit: &SyncUnit,
        known: &Known,
        cluster: &Handle,
        (plan, objects): (Plan, Objects),
        basis: Digest,
        has_heard: bool,
    ) -> Result<(), Vec<String>> {
        let started = (self.now)();
        let intent = Intent::new(unit, &plan, basis, started);
        let state = OperationState {
            phase: Phase::Running,
            plan: plan.clone(),
            progress: Progress::default(),
            basis: Some(basis),
            losses: intent.losses,
            request: intent.request.clone(),
            started,
            finished: None,
            message: String::new(),
        };
        let counts = plan.counts();
        let message = format!(
            "{} to create, {} to change, {} to prune, {} hooks to run, {} unchanged",
            counts.create, counts.change, counts.prune, counts.hooks, counts.unchanged
        );
        self.tell(&unit.id, UnitEventKind::Started, message);
        let place = cluster.place();
        let status = Status {
            sync: if plan.changes_anything() {
                SyncState::OutOfSync
            } else {
                unit.status.sync
            },
            attempted: plan.revision.clone(),
            proposed: None,
            inventory: together(
                &unit.status.inventory,
                to_be_made(&plan, &unit.policy.strategy.ownership),
            ),
            place: Some(place),
            operation: Some(Box::new(state)),
            // What kept it from being done before does so no more.
            errors: Vec::new(),
            corrected: Vec::new(),
            ..unit.status.clone()
        };
        // What is about to be done is stored before it is done: whoever comes after a crash knows of it, and of what it makes.
        self.units
            .set_status(&unit.id, self.with_proof(&unit.id, status))
            .await
            .map_err(|error| vec![error.to_string()])?;
        {
            let mut state = known.state.lock();
            // Somebody may have ended it by now.
            state.stop = state.stop.take().filter(|stop| *stop == Stop::Terminated);
            state.intent = Some(intent);
            state.active = Some(Box::new(Active {
                run: Run::new(Arc::new(plan), objects),
                started,
                mends: None,
                corrected: Vec::new(),
                waits_for: HashSet::new(),
                heard: has_heard.then(Instant::now),
                unstored: 0,
            }));
        }
        self.operations.add(unit.id.clone());
        Ok(())
    }

    /// Somebody does not want it to be done: what would be is told to differ.
    pub(super) async fn vetoed(&self, unit: &SyncUnit, plan: &Plan, veto: String) {
        let status = Status {
            sync: match plan.changes_anything() {
                true => SyncState::OutOfSync,
                false => unit.status.sync,
            },
            attempted: plan.revision.clone(),
            proposed: (plan.changes_anything() && !unit.policy.automatic).then(|| Box::new(plan.clone())),
            operation: self.over(unit.status.operation.as_deref()).map(Box::new),
            errors: vec![veto],
            ..unit.status.clone()
        };
        self.heard.pass(&unit.id);
        if status != unit.status {
            self.tell(&unit.id, UnitEventKind::Vetoed, status.errors.join("; "));
        }
        self.write(unit, status).await;
    }

    /// A dry run ends with the plan, or with the reason for which it would not be carried out.
    pub(super) async fn only_told(
        &self,
        unit: &SyncUnit,
        known: &Known,
        plan: Plan,
        basis: Digest,
        veto: Option<String>,
    ) -> Result<(), Vec<String>> {
        let (phase, kind) = match &veto {
            None => (Phase::Succeeded, UnitEventKind::Succeeded),
            Some(_) => (Phase::Failed, UnitEventKind::Vetoed),
        };
        let message = veto.unwrap_or_else(|| "dry run: nothing was changed".to_owned());
        let finished = OperationState {
            basis: Some(basis),
            ..self.at_once(unit, phase, plan, message)
        };
        let status = Status {
            operation: Some(Box::new(finished.clone())),
            ..unit.status.clone()
        };
        let written = self.units.set_status(&unit.id, status).await;
        written.map_err(|error| vec![error.to_string()])?;
        self.answered(&unit.id, known, unit.operation.as_ref(), put_off(unit))
            .await;
        self.tell(&unit.id, kind, finished.message.as_str());
        self.completed(&unit.id, &finished);
        Ok(())
    }

    /// What somebody asks for cannot be done: they are told why, and it is not done later. Whether that is stored.
    pub(super) async fn refused(&self, unit: &SyncUnit, known: &Known, errors: Vec<String>) -> bool {
        let finished = self.at_once(unit, Phase::Failed, Plan::default(), errors.join("; "));
        let status = Status {
            sync: SyncState::Unknown,
            operation: Some(Box::new(finished.clone())),
            errors,
            ..unit.status.clone()
        };
        self.heard.pass(&unit.id);
        if !self.write(unit, status).await {
            return false;
        }
        self.answered(&unit.id, known, unit.operation.as_ref(), put_off(unit))
            .await;
        self.tell(&unit.id, UnitEventKind::Failed, finished.message.as_str());
        self.completed(&unit.id, &finished);
        true
    }

    /// An operation that ends when it begins.
    fn at_once(&self, unit: &SyncUnit, phase: Phase, plan: Plan, message: String) -> OperationState {
        let now = (self.now)();
        OperationState {
            phase,
            plan,
            progress: Progress::default(),
            basis: None,
            losses: 0,
            request: unit.operation.clone(),
            started: now,
            finished: Some(now),
            message,
        }
    }
}

/// The operation that a process before us has not ended, if what it has found and written is still there.
fn left_behind(left: &OperationState, desired: &[Desired], cache: &Cache) -> Option<Active> {
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
        mends: None,
        corrected: Vec::new(),
        waits_for: HashSet::new(),
        heard: None,
        unstored: 0,
    })
}
