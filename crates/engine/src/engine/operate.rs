//! Carries out operations: takes one as far as it goes, and comes back when what it waits for has happened.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use crate::panics::caught_in;
use crate::queue::{Done, Ticket};
use crate::sync::{Next, Stop, World, together, written};
use crate::unit::{OperationState, Phase, Status, SyncUnit};

use super::clusters::Handle;
use super::known::{Active, Known};
use super::{Alive, Shared, UnitEventKind};

/// What is waited for before anything is pruned.
const HEARING: &str = "other units to be looked at, before anything is deleted";

/// Takes up one operation after another.
pub(super) async fn work(shared: Arc<Shared>) {
    while let Some(ticket) = shared.operations.next().await {
        match shared.known.voucher(ticket.key()) {
            Some(voucher) => shared.remote_operations.add(voucher, ticket),
            None => carry_out(&shared, ticket).await,
        }
    }
}

/// Takes up operations in clusters that others vouch for.
pub(super) async fn work_remotely(shared: Arc<Shared>, each: usize, alive: Alive) {
    let operate = |ticket| {
        let (shared, alive) = (Arc::clone(&shared), alive.clone());
        async move {
            let _alive = alive;
            carry_out(&shared, ticket).await;
        }
    };
    shared.remote_operations.work(each, operate).await;
}

async fn carry_out(shared: &Arc<Shared>, ticket: Ticket<String>) {
    let done = match caught_in(|| shared.take_up(ticket.key())).await {
        Ok(done) => done,
        Err(panic) => shared.broke_off(ticket.key(), &panic).await,
    };
    ticket.finish(done);
}

impl Shared {
    async fn take_up(self: &Arc<Self>, id: &str) -> Done {
        match self.units.get(id).await {
            Ok(Some(unit)) => self.operate(unit).await,
            Ok(None) => Done::Forget,
            Err(error) => {
                self.tell(id, UnitEventKind::Failed, error.to_string());
                Done::Retry
            }
        }
    }

    /// An operation has panicked, which is a defect of ours: it has failed, and the next one plans anew.
    async fn broke_off(&self, id: &str, panic: &str) -> Done {
        let message = format!("the operation panicked: {panic}");
        tracing::error!(unit = %id, error = %message);
        self.tell(id, UnitEventKind::Failed, message.as_str());
        let unit = self.units.get(id).await.ok().flatten();
        let stored = unit.as_ref().and_then(|unit| unit.status.operation.as_deref());
        let known = self.known.get(id);
        let Some((unit, stored)) = unit
            .as_ref()
            .zip(stored.filter(|stored| !stored.phase.is_final()))
        else {
            known.end(&[], None, false);
            // A unit that is gone is forgotten by that.
            self.status.add(id.to_owned());
            return Done::Forget;
        };
        let ended = OperationState {
            phase: Phase::Failed,
            finished: Some((self.now)()),
            message: message.clone(),
            ..stored.clone()
        };
        let status = Status {
            operation: Some(Box::new(ended.clone().ended())),
            errors: vec![message],
            ..unit.status.clone()
        };
        self.write(unit, status).await;
        let held = (ended.plan.revision.clone(), unit.policy.retry());
        known.end(&[], Some(held), false);
        self.completed(id, &ended);
        self.status.add_after(unit.id.clone(), unit.policy.retry());
        Done::Forget
    }

    async fn operate(self: &Arc<Self>, unit: SyncUnit) -> Done {
        let known = self.known.get(&unit.id);
        let Some((mut active, cluster)) = known.take_up() else {
            return Done::Forget;
        };
        let Some(cluster) = cluster else {
            let is_terminated = known.state.lock().stop == Some(Stop::Terminated);
            let report = active.run.left(is_terminated);
            self.ended(&unit, &known, active, report).await;
            return Done::Forget;
        };
        loop {
            match self.advance(&unit, &known, &mut active, &cluster).await {
                Next::Finished(report) => {
                    self.ended(&unit, &known, active, report).await;
                    return Done::Forget;
                }
                Next::Approval(gate) => {
                    let message = format!("waiting for approval: {}", gate.why);
                    self.waits(&unit, &known, &mut active, Phase::Pending, message)
                        .await;
                    self.put_down(&unit, &known, active);
                    return Done::Forget;
                }
                Next::Waiting { objects, until, why } => {
                    active.waits_for = objects.iter().map(|pending| pending.key.clone()).collect();
                    let message = format!("waiting for {why}");
                    self.waits(&unit, &known, &mut active, Phase::Running, message)
                        .await;
                    self.put_down(&unit, &known, active);
                    return Done::After(left(until, (self.now)()));
                }
                Next::Hearing => {
                    let plan = Arc::clone(active.run.plan());
                    if let Some(until) = self.hear(&plan, &cluster).await {
                        let message = format!("waiting for {HEARING}");
                        self.waits(&unit, &known, &mut active, Phase::Running, message)
                            .await;
                        self.put_down(&unit, &known, active);
                        return Done::After(until.saturating_duration_since(Instant::now()));
                    }
                    active.heard = Some(Instant::now());
                }
            }
        }
    }

    pub(super) fn put_down(&self, unit: &SyncUnit, known: &Known, active: Box<Active>) {
        if known.put_down(active) {
            self.status.add(unit.id.clone());
        }
    }

    async fn advance(&self, unit: &SyncUnit, known: &Known, active: &mut Active, cluster: &Handle) -> Next {
        let intent = known.state.lock().intent.clone();
        let basis = intent.as_ref().map(|intent| intent.basis);
        if let Some(mends) = active.mends.take() {
            let around = self.around(unit, known, basis, true);
            let mended = self.mended(unit, mends, &around.world(cluster)).await;
            active.corrected.extend(mended.objects);
        }
        let corrects = intent.as_ref().is_some_and(|intent| intent.corrects);
        let around = self.around(unit, known, basis, corrects);
        let world = World {
            approved: intent.is_some_and(|intent| intent.approved),
            heard: active.has_heard(),
            ..around.world(cluster)
        };
        active.run.advance(&world).await
    }

    /// Stores how far an operation is, and tells what it waits for.
    async fn waits(
        &self,
        unit: &SyncUnit,
        known: &Known,
        active: &mut Active,
        phase: Phase,
        message: String,
    ) {
        let state = state(known, active, phase, None, message.clone());
        let before = unit.status.operation.as_deref();
        if before.is_none_or(|before| before.message != message) {
            self.tell(&unit.id, UnitEventKind::Waiting, message);
        }
        // Whoever comes after a crash may find another revision, which does not go on with this: it has to know what there is.
        let made = written(&state.plan, &state.progress);
        let status = Status {
            inventory: together(&unit.status.inventory, made),
            operation: Some(Box::new(state)),
            corrected: unit.status.with_corrected(&active.corrected, (self.now)()),
            ..unit.status.clone()
        };
        if self.write(unit, status).await {
            active.corrected.clear();
        }
    }
}

/// How far an operation is, or what has become of it.
pub(super) fn state(
    known: &Known,
    active: &Active,
    phase: Phase,
    finished: Option<Timestamp>,
    message: String,
) -> OperationState {
    let intent = known.state.lock().intent.clone();
    OperationState {
        phase,
        plan: (**active.run.plan()).clone(),
        progress: active.run.progress().clone(),
        basis: intent.as_ref().map(|intent| intent.basis),
        losses: intent.as_ref().map_or(0, |intent| intent.losses),
        request: intent.and_then(|intent| intent.request),
        started: active.started,
        finished,
        message,
    }
}

/// How long it is until then.
fn left(until: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(until.duration_since(now)).unwrap_or(Duration::ZERO)
}

#[cfg(test)]
mod tests {
    use futures::future::BoxFuture;

    use super::*;
    use crate::Engine;
    use crate::sync::Progress;
    use crate::unit::{
        Access, CredentialsStore, Failure, Generated, ManifestGenerator, MemoryStore, ReconciliationSettings,
    };

    /// Has nothing.
    struct Nothing;

    impl CredentialsStore for Nothing {
        fn get_cluster<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Access, Failure>> {
            Box::pin(async { Err(Failure::new("there is no cluster")) })
        }
    }

    impl ManifestGenerator for Nothing {
        fn generate<'a>(
            &'a self,
            _: &'a SyncUnit,
            _: Option<&'a str>,
            _: bool,
        ) -> BoxFuture<'a, Result<Generated, Failure>> {
            Box::pin(async { Err(Failure::new("there is no source")) })
        }
    }

    /// A unit whose operation is under way, by what is stored of it.
    fn under_way() -> SyncUnit {
        let state = OperationState {
            phase: Phase::Running,
            plan: crate::plan::Plan::default(),
            progress: Progress::default(),
            basis: None,
            losses: 0,
            request: None,
            started: Timestamp::UNIX_EPOCH,
            finished: None,
            message: String::new(),
        };
        SyncUnit {
            id: "shop".to_owned(),
            tenant: String::new(),
            status: Status {
                operation: Some(Box::new(state)),
                ..Status::default()
            },
            source: crate::unit::Source::default(),
            destination: crate::unit::Destination::default(),
            operation: None,
            policy: crate::unit::Policy::default(),
        }
    }

    #[tokio::test]
    async fn an_operation_that_panics_has_failed_and_the_next_one_may_begin() {
        let units = MemoryStore::new([under_way()]);
        let engine = Engine::new(ReconciliationSettings::default(), Nothing, Nothing, units.clone());
        let known = engine.shared.known.get("shop");
        known.state.lock().running = true;
        assert_eq!(engine.shared.broke_off("shop", "out of luck").await, Done::Forget);
        assert!(!known.state.lock().running);
        assert!(known.held("").is_some(), "it is not tried again at once");
        let status = units.unit("shop").unwrap().status;
        assert_eq!(status.errors, ["the operation panicked: out of luck"]);
        let ended = status.operation.unwrap();
        assert_eq!((ended.phase, ended.finished.is_some()), (Phase::Failed, true));
        // Of a unit that is gone nothing is left.
        known.state.lock().running = true;
        units.remove("shop");
        engine.shared.broke_off("shop", "out of luck").await;
        assert!(!known.state.lock().running);
    }

    #[tokio::test]
    async fn a_look_that_panics_leaves_the_status_of_an_operation_that_is_under_way_alone() {
        let units = MemoryStore::new([under_way()]);
        let engine = Engine::new(ReconciliationSettings::default(), Nothing, Nothing, units.clone());
        let known = engine.shared.known.get("shop");
        known.state.lock().running = true;
        let before = units.unit("shop").unwrap().status;
        assert_eq!(engine.shared.fell_over("shop", "out of luck").await, Done::Retry);
        assert_eq!(units.unit("shop").unwrap().status, before);
        known.state.lock().running = false;
        engine.shared.fell_over("shop", "out of luck").await;
        let errors = units.unit("shop").unwrap().status.errors;
        assert_eq!(errors, ["looking at the unit panicked: out of luck"]);
    }
}
