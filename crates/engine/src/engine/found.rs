//! What is told of a unit when nothing is done about it.

use model::health::State;
use model::{Health, Inventory, ObjectKey};

use crate::cache::Standard;
use crate::plan::{Action, Plan, Step};
use crate::unit::{OperationState, Phase, Status, SyncState, SyncUnit};

use super::clusters::Handle;
use super::corrections::differ;
use super::{Shared, UnitEventKind};

impl Shared {
    /// Nothing is to be done, or nobody asks for it: what was found is told.
    pub(super) async fn found(&self, unit: &SyncUnit, cluster: &Handle, plan: &Plan) {
        let differs = plan.changes_anything() || plan.yields_anything();
        let mut warnings = self.warnings(&unit.id, ours(plan));
        let known = self.known.get(&unit.id);
        warnings.extend(known.corrections.lock().warnings(differ(plan)));
        let status = Status {
            sync: if differs {
                SyncState::OutOfSync
            } else {
                SyncState::Synced
            },
            attempted: plan.revision.clone(),
            proposed: (differs && !unit.policy.automatic).then(|| Box::new(plan.clone())),
            health: Some(health(plan, cluster, &unit.policy.standard())),
            inventory: inventory(unit, plan),
            place: Some(cluster.place()),
            wanted: left_to_others(plan),
            warnings,
            operation: self.over(unit.status.operation.as_deref()).map(Box::new),
            errors: Vec::new(),
            ..unit.status.clone()
        };
        if differs && unit.status.sync != SyncState::OutOfSync {
            self.tell(&unit.id, UnitEventKind::OutOfSync, plan.to_string());
        }
        self.heard.pass(&unit.id);
        let gave_up = status.inventory != unit.status.inventory;
        if self.write(unit, status).await && gave_up {
            // Others are told when it is looked at with what it has now.
            self.status.add(unit.id.clone());
        }
    }

    /// The last operation. One that was left by a process before us, and that nobody goes on with, has ended.
    pub(super) fn over(&self, last: Option<&OperationState>) -> Option<OperationState> {
        self.over_as(
            last,
            Phase::Superseded,
            "what it was to do is not to be done any more",
        )
    }

    pub(super) fn over_as(
        &self,
        last: Option<&OperationState>,
        phase: Phase,
        message: &str,
    ) -> Option<OperationState> {
        let mut last = last?.clone();
        if !last.phase.is_final() {
            last.phase = phase;
            last.finished = Some((self.now)());
            message.clone_into(&mut last.message);
            last = last.ended();
        }
        Some(last)
    }

    /// Writes a status where it differs from what is there. Whether it is there then.
    pub(super) async fn write(&self, unit: &SyncUnit, status: Status) -> bool {
        let status = self.with_proof(&unit.id, status);
        if status == unit.status {
            return true;
        }
        match self.units.set_status(&unit.id, status).await {
            Ok(()) => {
                self.tell(&unit.id, UnitEventKind::Changed, "");
                true
            }
            Err(error) => {
                self.tell(&unit.id, UnitEventKind::Failed, error.to_string());
                self.status.add_after(unit.id.clone(), unit.policy.retry());
                false
            }
        }
    }
}

/// What a unit has or wants by a plan.
fn ours(plan: &Plan) -> impl Iterator<Item = &ObjectKey> {
    let is_ours = |step: &&Step| {
        step.action.applies() || matches!(step.action, Action::Unchanged | Action::Yield { .. })
    };
    plan.steps().filter(is_ours).map(|step| &step.key)
}

/// What a unit wants and leaves to others.
fn left_to_others(plan: &Plan) -> Vec<ObjectKey> {
    let yields = |step: &&Step| matches!(step.action, Action::Yield { .. });
    let mut keys: Vec<_> = plan.steps().filter(yields).map(|step| step.key.clone()).collect();
    keys.sort();
    keys
}

/// What a unit has. Where nothing is to be done that is what the plan says: what another unit holds by now is not ours any more.
fn inventory(unit: &SyncUnit, plan: &Plan) -> Inventory {
    let before = &unit.status.inventory;
    let is_applied = !plan.changes_anything() && unit.status.revision == plan.revision;
    let is_same = || before.without(&plan.inventory).is_empty() && plan.inventory.without(before).is_empty();
    match !is_applied || is_same() {
        true => before.clone(),
        false => plan.inventory.clone(),
    }
}

/// The worst health of what a unit has. Hooks come and go, and what is left alone or pruned is not its own: they do not count.
fn health(plan: &Plan, cluster: &Handle, standard: &Standard) -> Health {
    let counts = |step: &&Step| {
        let is_applied = step.action.applies() || step.action == Action::Unchanged;
        is_applied && step.hook.is_none()
    };
    let healths = plan.steps().filter(counts).map(|step| {
        let entry = cluster.cache.get_by(&step.key, standard);
        let health = match entry.as_ref().map(|entry| entry.health_by(standard)) {
            None => Health::new(State::Missing),
            Some(None) => Health::new(State::Unknown),
            Some(Some(None)) => Health::new(State::Healthy),
            Some(Some(Some(health))) => health.clone(),
        };
        (&step.key, health)
    });
    let worst = healths.max_by(|(key, health), (other_key, other)| {
        // Of several in the same state the first by name is told, so that the status does not change without a reason.
        health.state.cmp(&other.state).then_with(|| other_key.cmp(key))
    });
    match worst {
        None => Health::new(State::Healthy),
        Some((_, health)) if health.state == State::Healthy => Health::new(State::Healthy),
        Some((key, health)) => Health::because(health.state, format!("{key}: {}", health.message)),
    }
}
