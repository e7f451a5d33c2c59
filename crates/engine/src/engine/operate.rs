//! Carries out operations: takes one as far as it goes, and comes back when what it waits for has happened.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use crate::cache;
use crate::panics::caught_in;
use crate::plan::Live;
use crate::queue::Done;
use crate::sync::{Ending, Next, Report, StepResult, Stop, World, together, written};
use crate::unit::{OperationState, Phase, Status, SyncState, SyncUnit};

use super::clusters::Handle;
use super::known::{Active, Known};
use super::{Shared, UnitEventKind};

/// What is waited for before anything is pruned.
const HEARING: &str = "other units to be looked at, before anything is deleted";

/// Takes up one operation after another.
pub(super) async fn work(shared: Arc<Shared>) {
    while let Some(ticket) = shared.operations.next().await {
        let done = match caught_in(|| shared.take_up(ticket.key())).await {
            Ok(done) => done,
            Err(panic) => shared.broke_off(ticket.key(), &panic).await,
        };
        ticket.finish(done);
    }
}

impl Shared {
    async fn take_up(&self, id: &str) -> Done {
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
            known.end(&[], None);
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
        known.end(&[], Some((ended.plan.revision.clone(), unit.policy.retry())));
        self.completed(id, &ended);
        self.status.add_after(unit.id.clone(), unit.policy.retry());
        Done::Forget
    }

    async fn operate(&self, unit: SyncUnit) -> Done {
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
                    self.waits(&unit, &known, &active, Phase::Pending, message).await;
                    self.put_down(&unit, &known, active);
                    return Done::Forget;
                }
                Next::Waiting { objects, until, why } => {
                    active.waits_for = objects.iter().map(|pending| pending.key.clone()).collect();
                    let message = format!("waiting for {why}");
                    self.waits(&unit, &known, &active, Phase::Running, message).await;
                    self.put_down(&unit, &known, active);
                    return Done::After(left(until, (self.now)()));
                }
                Next::Hearing => {
                    let plan = Arc::clone(active.run.plan());
                    if let Some(until) = self.hear(&plan).await {
                        let message = format!("waiting for {HEARING}");
                        self.waits(&unit, &known, &active, Phase::Running, message).await;
                        self.put_down(&unit, &known, active);
                        return Done::After(until.saturating_duration_since(Instant::now()));
                    }
                    active.heard = Some(Instant::now());
                }
            }
        }
    }

    fn put_down(&self, unit: &SyncUnit, known: &Known, active: Active) {
        if known.put_down(active) {
            self.status.add(unit.id.clone());
        }
    }

    async fn advance(&self, unit: &SyncUnit, known: &Known, active: &mut Active, cluster: &Handle) -> Next {
        let rules = self.rules(unit);
        let intent = known.state.lock().intent.clone();
        let corrects = AtomicBool::new(active.mends.is_some());
        let world = World {
            cluster: cluster.cluster(),
            cache: &cluster.cache,
            standard: &unit.policy.standard(),
            manager: &unit.policy.manager,
            approved: intent.as_ref().is_some_and(|intent| intent.approved),
            heard: active.has_heard(),
            now: &*self.now,
            prunable: &|live| self.keeps(unit, &Live::of(live)).is_none(),
            wanted: &|key| self.known.claims.wanted_by_another(&unit.id, key),
            wanted_kind: &|group, kind| self.known.claims.kind_wanted_by_another(&unit.id, group, kind),
            lasting: &|key| self.known.claims.lasts_for_another(&unit.id, key),
            applying: &|key| self.known.claims.take(&unit.id, key),
            applied: &|key, step, live| {
                if let Some(reference) = &step.object {
                    known
                        .memory
                        .settle(key.clone(), reference.digest, cache::content(live), rules);
                }
                if let Some(intent) = intent.as_ref().filter(|_| step.hook.is_none()) {
                    let corrects = corrects.load(Ordering::Relaxed);
                    let mut corrections = known.corrections.lock();
                    corrections.made(intent.basis, key, corrects, Instant::now());
                }
            },
            stop: &|| known.state.lock().stop.clone(),
        };
        self.mended(unit, active.mends.take(), &world).await;
        let only_corrects = intent.as_ref().is_some_and(|intent| intent.corrects);
        corrects.store(only_corrects, Ordering::Relaxed);
        active.run.advance(&world).await
    }

    /// Stores how far an operation is, and tells what it waits for.
    async fn waits(&self, unit: &SyncUnit, known: &Known, active: &Active, phase: Phase, message: String) {
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
            ..unit.status.clone()
        };
        self.write(unit, status).await;
    }

    /// Stores what has become of an operation, tells it, and has the unit looked at again.
    async fn ended(&self, unit: &SyncUnit, known: &Known, active: Active, report: Report) {
        let (phase, kind) = match report.ending {
            Ending::Succeeded => (Phase::Succeeded, UnitEventKind::Succeeded),
            Ending::Terminated => (Phase::Terminated, UnitEventKind::Failed),
            Ending::Superseded | Ending::Left => (Phase::Superseded, UnitEventKind::Superseded),
            // The next one brings it back.
            Ending::Lost => (Phase::Superseded, UnitEventKind::Failed),
            _ => (Phase::Failed, UnitEventKind::Failed),
        };
        let message = match (report.ending, report.errors.is_empty()) {
            (Ending::Superseded, _) => "something newer is to be applied".to_owned(),
            (Ending::Left, _) => "its cluster is reached in another way by now, or not at all".to_owned(),
            (Ending::Terminated, _) => "terminated".to_owned(),
            (_, true) => report.changes().join("\n"),
            (_, false) => report.errors.join("; "),
        };
        let ended = state(known, &active, phase, Some((self.now)()), message.clone());
        // A part of a revision is not the revision: the rest may still be to be applied.
        let asked = ended.request.as_ref();
        let partial = asked.is_some_and(|operation| operation.only.is_some());
        let succeeded = report.ending == Ending::Succeeded && !partial;
        let left_out = !active.run.plan().left_out.is_empty();
        let status = Status {
            sync: if succeeded && left_out {
                SyncState::OutOfSync
            } else if succeeded {
                SyncState::Synced
            } else {
                unit.status.sync
            },
            revision: match succeeded {
                true => active.run.plan().revision.clone(),
                false => unit.status.revision.clone(),
            },
            inventory: report.inventory.after(&unit.status.inventory),
            operation: Some(Box::new(ended.clone().ended())),
            errors: report.errors,
            ..unit.status.clone()
        };
        if let Err(error) = self.units.set_status(&unit.id, status).await {
            // What was done is not stored: it is done again, which changes nothing, and stored then.
            self.tell(&unit.id, UnitEventKind::Failed, error.to_string());
            self.put_down(unit, known, active);
            self.operations.add_after(unit.id.clone(), Duration::from_secs(1));
            return;
        }
        self.heard.pass(&unit.id);
        let begins_anew = matches!(report.ending, Ending::Superseded | Ending::Lost | Ending::Left);
        let asked_again = match begins_anew {
            // What was asked for is still to be done.
            true => {
                self.begins_anew(&unit.id, known, ended.request.as_ref()).await;
                None
            }
            // Before anybody looks at the unit again, or else what was asked for is done once more.
            false => self.answered(&unit.id, known, ended.request.as_ref()).await,
        };
        let failed = match report.ending {
            // The request for a deletion stays: what callbacks have left of it is not tried again at once.
            Ending::Succeeded if left_out && unit.is_deleting() => {
                Some((active.run.plan().revision.clone(), unit.policy.retry()))
            }
            // What is gone is brought back at once.
            Ending::Succeeded | Ending::Superseded | Ending::Lost | Ending::Left => None,
            // What somebody has asked for meanwhile does not wait for what has failed.
            _ if asked_again.as_ref().is_some_and(|asked| !asked.dry_run) => None,
            _ => Some((active.run.plan().revision.clone(), unit.policy.retry())),
        };
        known.end(&ended.progress.results, failed);
        if ended.progress.results.iter().any(changes_kinds) {
            // With other defaults, what changed nothing may change something now.
            self.known
                .all()
                .iter()
                .for_each(|(_, known)| known.memory.clear());
        }
        self.tell(&unit.id, kind, message);
        self.completed(&unit.id, &ended);
        let again = match report.ending {
            Ending::Succeeded | Ending::Superseded | Ending::Lost | Ending::Left => Duration::ZERO,
            _ if asked_again.is_some() => Duration::ZERO,
            _ => unit.policy.retry().min(unit.policy.interval()),
        };
        self.status.add_after(unit.id.clone(), again);
    }
}

/// Whether the definition of a kind was written.
fn changes_kinds(result: &StepResult) -> bool {
    result.key.kind == "CustomResourceDefinition" && result.outcome.changed()
}

fn state(
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

    #[tokio::test]
    async fn an_operation_that_panics_has_failed_and_the_next_one_may_begin() {
        let state = OperationState {
            phase: Phase::Running,
            plan: crate::plan::Plan::default(),
            progress: Progress::default(),
            basis: None,
            request: None,
            started: Timestamp::UNIX_EPOCH,
            finished: None,
            message: String::new(),
        };
        let unit = SyncUnit {
            id: "shop".to_owned(),
            status: Status {
                operation: Some(Box::new(state)),
                ..Status::default()
            },
            source: crate::unit::Source::default(),
            destination: crate::unit::Destination::default(),
            operation: None,
            policy: crate::unit::Policy::default(),
        };
        let units = MemoryStore::new([unit]);
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
}
