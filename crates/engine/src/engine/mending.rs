//! Puts right what somebody changes about objects that an operation has applied already, while it waits for something else. A wait may
//! take an hour, and nobody should have to wait for its end.

use std::sync::Arc;
use std::time::Duration;

use model::{Digest, ObjectKey};
use tokio::time::Instant;

use crate::observe::Observer;
use crate::plan::{self, Action, Desired, Input, Options, Plan};
use crate::sync::{Next, Run, World};
use crate::unit::SyncUnit;

use super::known::Known;
use super::{Shared, UnitEventKind};

impl Shared {
    /// Has the operation that waits put right what differs of the objects that it has applied. If somebody changes them again and again, that is
    /// not done before the time that is returned.
    pub(super) async fn mend(
        &self,
        unit: &SyncUnit,
        known: &Known,
        observer: &Observer<'_>,
        mut desired: Vec<Desired>,
        options: &Options,
        basis: Digest,
    ) -> Option<Duration> {
        let applied = {
            let state = known.state.lock();
            let is_wanted = state.stop.is_none() && !unit.is_deleting();
            let active = state.active.as_ref().filter(|_| is_wanted)?;
            active.run.there()
        };
        desired.retain(|desired| applied.contains(&desired.key(&unit.destination.namespace)));
        let desired = observer.look(desired).await;
        let input = Input {
            unit: unit.id.clone(),
            shared: self.known.claims.shared(&unit.id),
            // An object that another unit has taken since is that one's.
            yields: true,
            instance: self.settings().instance_of(&unit.id),
            desired,
            options: mending(options),
            ..Input::default()
        };
        // What is refused was not put right before either; the next operation tells why.
        let (mut plan, objects) = plan::plan(&input, &unit.policy.strategy).ok()?;
        keep_patches(&mut plan);
        let differ: Vec<ObjectKey> = plan.steps().map(|step| step.key.clone()).collect();
        if differ.is_empty() {
            return None;
        }
        let wait = known.corrections.lock().wait(basis, &differ, Instant::now());
        if !wait.is_zero() {
            return Some(wait);
        }
        let mut state = known.state.lock();
        state.look_again |= state.running;
        if let Some(active) = &mut state.active {
            active.mends = Some(Run::new(Arc::new(plan), objects));
        }
        None
    }

    /// Puts right what was found to differ.
    pub(super) async fn mended(&self, unit: &SyncUnit, mends: Option<Run>, world: &World<'_>) {
        let Some(mut run) = mends.filter(|_| (world.stop)().is_none()) else {
            return;
        };
        let Next::Finished(report) = run.advance(world).await else {
            return;
        };
        let changes = report.changes();
        if !changes.is_empty() {
            self.tell(&unit.id, UnitEventKind::Corrected, changes.join("\n"));
        }
        if !report.errors.is_empty() {
            self.tell(&unit.id, UnitEventKind::Failed, report.errors.join("; "));
            self.status.add_after(unit.id.clone(), unit.policy.retry());
        }
    }
}

/// Objects alone, without all that comes before, after and besides.
fn mending(options: &Options) -> Options {
    let mut options = options.clone();
    options.prune = false;
    options.wait = None;
    options.argo.skip_hooks = true;
    options.argo.create_namespace = None;
    options
}

/// What has to be made anew ends the operation by itself, and everything else is its own business.
fn keep_patches(plan: &mut Plan) {
    for stage in &mut plan.stages {
        stage.wait = None;
        stage.steps.retain(|step| step.action == Action::Patch);
    }
    plan.stages.retain(|stage| !stage.steps.is_empty());
}
