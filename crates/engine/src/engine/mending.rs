//! Puts right what somebody changes about objects that an operation has applied already, while it waits for something else. A wait may
//! take an hour, and nobody should have to wait for its end.

use std::sync::Arc;
use std::time::Duration;

use model::{Digest, ObjectKey};
use tokio::time::{Instant, timeout_at};

use crate::observe::Observer;
use crate::plan::{self, Action, Desired, Input, Options, Plan};
use crate::sync::{Next, Run, World};
use crate::unit::{Status, SyncUnit};

use super::begin::Consent;
use super::clusters::Handle;
use super::known::Known;
use super::{Shared, UnitEventKind};

/// What is to be done about objects that differ.
pub(super) enum Mending {
    /// Nothing: none does.
    Nothing,
    /// Nothing before this time has passed: somebody changes these again and again.
    Later(Duration, Vec<ObjectKey>),
    /// This.
    Now(Box<Run>),
}

/// What a look has found out of a unit so far.
pub(super) struct Looking<'a> {
    pub(super) unit: &'a SyncUnit,
    pub(super) known: &'a Known,
    pub(super) observer: &'a Observer<'a>,
    pub(super) options: &'a Options,
    pub(super) basis: Digest,
    /// The end of the time that the cluster has to answer.
    pub(super) deadline: Instant,
}

impl Shared {
    /// Has the operation that waits put right what differs of the objects that it has applied. If somebody changes them again and again, that is
    /// not done before the time that is returned.
    pub(super) async fn mend(&self, looking: &Looking<'_>, desired: Vec<Desired>) -> Option<Duration> {
        let Looking { unit, known, .. } = looking;
        let applied = {
            let state = known.state.lock();
            let is_wanted = state.stop.is_none() && !unit.is_deleting();
            let active = state.active.as_ref().filter(|_| is_wanted)?;
            active.run.there()
        };
        let is_applied = |desired: &Desired| applied.contains(&desired.key(&unit.destination.namespace));
        match self.mending(looking, desired, is_applied).await {
            Mending::Nothing => None,
            Mending::Later(wait, _) => Some(wait),
            Mending::Now(run) => {
                let mut state = known.state.lock();
                state.look_again |= state.running;
                if let Some(active) = &mut state.active {
                    active.mends = Some(*run);
                }
                None
            }
        }
    }

    /// What is to be done about those of the desired objects that were applied, and differ by now.
    async fn mending(
        &self,
        looking: &Looking<'_>,
        mut desired: Vec<Desired>,
        is_applied: impl Fn(&Desired) -> bool,
    ) -> Mending {
        let unit = looking.unit;
        desired.retain(is_applied);
        let Ok(desired) = timeout_at(looking.deadline, looking.observer.look(desired)).await else {
            return Mending::Nothing;
        };
        let input = Input {
            unit: unit.id.clone(),
            shared: self.known.claims.shared(&unit.id),
            // An object that another unit has taken since is that one's.
            yields: true,
            instance: self.settings().instance_of(&unit.id),
            desired,
            options: mending(looking.options),
            ..Input::default()
        };
        // What is refused was not put right before either; the next operation tells why.
        let Ok((mut plan, objects)) = plan::plan(&input, &unit.policy.strategy) else {
            return Mending::Nothing;
        };
        let is_held = !looking.known.state.lock().is_under_way();
        keep_mends(&mut plan, is_held);
        if is_held {
            // Whoever may refuse an operation may refuse this.
            let Consent::Given(agreed) = self.consent(unit, &plan) else {
                return Mending::Nothing;
            };
            plan = agreed;
        }
        let differ: Vec<ObjectKey> = plan.steps().map(|step| step.key.clone()).collect();
        if differ.is_empty() {
            return Mending::Nothing;
        }
        let mut corrections = looking.known.corrections.lock();
        let wait = corrections.wait(looking.basis, &differ, Instant::now());
        match wait.is_zero() {
            true => Mending::Now(Box::new(Run::new(Arc::new(plan), objects))),
            false => Mending::Later(wait, differ),
        }
    }

    /// Puts right what differs of the objects of a unit whose last operation has failed: that is not tried again before a while, but what it had
    /// applied is looked after, and told. If somebody changes it again and again, that is not done before the time that is returned.
    pub(super) async fn mend_held(
        &self,
        looking: &Looking<'_>,
        cluster: &Handle,
        desired: Vec<Desired>,
    ) -> Option<Duration> {
        let Looking { unit, known, .. } = *looking;
        if !unit.policy.automatic || unit.is_deleting() {
            return None;
        }
        let key = |desired: &Desired| desired.key(&unit.destination.namespace);
        let lasts = |desired: &&Desired| unit.policy.strategy.lasts(desired);
        let ours: Vec<ObjectKey> = desired.iter().filter(lasts).map(key).collect();
        let is_applied =
            |desired: &Desired| lasts(&desired) && known.memory.is_for(&key(desired), desired.digest);
        let mending = match known.memory.differs(&cluster.cache) {
            true => self.mending(looking, desired, is_applied).await,
            false => Mending::Nothing,
        };
        let mut warnings = self.warnings(&unit.id, &ours);
        let (mended, pause) = match mending {
            Mending::Nothing => (Mended::default(), None),
            Mending::Later(wait, differ) => {
                warnings.extend(known.corrections.lock().warnings(&differ));
                (Mended::default(), Some(wait))
            }
            Mending::Now(run) => {
                let around = self.around(unit, known, Some(looking.basis), true);
                (self.mended(unit, *run, &around.world(cluster)).await, None)
            }
        };
        warnings.extend(mended.errors);
        let status = Status {
            warnings,
            corrected: unit.status.with_corrected(&mended.objects, (self.now)()),
            ..unit.status.clone()
        };
        self.write(unit, status).await;
        pause
    }

    /// Puts right what was found to differ.
    pub(super) async fn mended(&self, unit: &SyncUnit, mut run: Run, world: &World<'_>) -> Mended {
        if world.around.stop().is_some() {
            return Mended::default();
        }
        let Next::Finished(report) = run.advance(world).await else {
            return Mended::default();
        };
        let changes = report.changes();
        if !changes.is_empty() {
            self.tell(&unit.id, UnitEventKind::Corrected, changes.join("\n"));
        }
        if !report.errors.is_empty() {
            self.tell(&unit.id, UnitEventKind::Failed, report.errors.join("; "));
            self.status.add_after(unit.id.clone(), unit.policy.retry());
        }
        let changed = report.results.into_iter();
        let changed = changed.filter(|result| result.outcome.changed());
        Mended {
            objects: changed.map(|result| result.key).collect(),
            errors: report.errors,
        }
    }
}

/// What has become of objects that differed.
#[derive(Default)]
pub(super) struct Mended {
    /// These were put right.
    pub(super) objects: Vec<ObjectKey>,
    /// Why others were not.
    errors: Vec<String>,
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

/// What has to be made anew ends an operation by itself, and everything else is its own business. Where none is under way, what is gone is
/// brought back.
fn keep_mends(plan: &mut Plan, creates: bool) {
    for stage in &mut plan.stages {
        stage.wait = None;
        stage.steps.retain(|step| match step.action {
            Action::Patch => true,
            Action::Create => creates,
            _ => false,
        });
        for step in &mut stage.steps {
            step.apply.recreate = false;
        }
    }
    plan.stages.retain(|stage| !stage.steps.is_empty());
}
