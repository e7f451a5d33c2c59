//! Requests that are answered. A request is answered once: one that came in meanwhile stays, and one that cannot be taken away, as the
//! store fails, is not carried out again for that.

use crate::sync::Stop;
use crate::unit::{Operation, OperationState, Phase, Status, SyncUnit};

use super::intent::is_fresh;
use super::known::Known;
use super::{Shared, UnitEventKind};

impl Shared {
    /// Takes away the request for what has ended. One that came in meanwhile stays, and is returned. One for deletion stays too:
    /// without it everything would be applied again.
    pub(super) async fn answered(
        &self,
        unit: &str,
        known: &Known,
        request: Option<&Operation>,
    ) -> Option<Operation> {
        known.state.lock().answered = request.filter(|request| !request.delete).cloned();
        let now = match self.units.get(unit).await {
            Ok(now) => now?,
            Err(error) => {
                self.tell(unit, UnitEventKind::Failed, error.to_string());
                return None;
            }
        };
        match request.is_some_and(|request| request.delete) {
            true => now.operation.filter(|asked| !asked.delete),
            false => self.take_away(now, known).await.operation,
        }
    }

    /// What was asked for is to begin anew. If somebody has asked for a dry run meanwhile, it is asked for again after that.
    pub(super) async fn begins_anew(&self, unit: &str, known: &Known, request: Option<&Operation>) {
        let now = self.units.get(unit).await.ok().flatten();
        let asked = now.and_then(|now| now.operation);
        if asked.is_some_and(|asked| asked.dry_run) {
            known.state.lock().kept = request.filter(|request| !request.dry_run).cloned();
        }
    }

    /// The unit without the request that somebody has ended before an operation for it could begin anew.
    pub(super) async fn given_up(&self, mut unit: SyncUnit, known: &Known) -> SyncUnit {
        {
            let mut state = known.state.lock();
            let is_ours = !state.is_under_way() && state.endings > 0;
            if !is_ours || state.stop != Some(Stop::Terminated) {
                return unit;
            }
            state.stop = None;
            state.kept = None;
        }
        if is_fresh(&unit) || unit.operation.is_none() || unit.is_deleting() {
            return unit;
        }
        let ended = self.over_as(unit.status.operation.as_deref(), Phase::Terminated, "terminated");
        if self
            .answered(&unit.id, known, unit.operation.as_ref())
            .await
            .is_none()
        {
            unit.operation = None;
        }
        let status = Status {
            operation: ended.map(|ended| Box::new(ended_as(ended, Phase::Terminated))),
            ..unit.status.clone()
        };
        self.write(&unit, status.clone()).await;
        unit.status = status;
        unit
    }

    /// The unit without the request that was answered before, if it still has it. That is then taken away, and the next time where
    /// that fails.
    pub(super) async fn take_away(&self, mut unit: SyncUnit, known: &Known) -> SyncUnit {
        let answered = known.state.lock().answered.take();
        let answered = answered.or_else(|| has_ended(&unit).cloned());
        if answered.is_none() || unit.operation != answered {
            return unit;
        }
        let kept = known.state.lock().kept.take();
        let taken = self
            .units
            .set_operation(&unit.id, answered.as_ref(), kept.clone())
            .await;
        match taken {
            Ok(true) => unit.operation = kept,
            // Somebody asks for something else.
            Ok(false) => {
                let now = self.units.get(&unit.id).await.ok().flatten();
                unit.operation = now.and_then(|now| now.operation);
                self.status.add(unit.id.clone());
            }
            Err(error) => {
                self.tell(&unit.id, UnitEventKind::Failed, error.to_string());
                self.status.add_after(unit.id.clone(), unit.policy.retry());
                unit.operation = None;
                let mut state = known.state.lock();
                state.answered = answered;
                state.kept = kept;
            }
        }
        unit
    }
}

/// The request of a unit, if an operation for this very one has ended: a process before us was not able to take it away any more. Requests without a
/// number cannot be told apart from others like them.
fn has_ended(unit: &SyncUnit) -> Option<&Operation> {
    let last = unit.status.operation.as_deref()?;
    let asked = unit.operation.as_ref().filter(|asked| !asked.delete)?;
    let is_end = last.phase.is_final() && last.phase != Phase::Superseded;
    (is_end && !asked.number.is_empty() && last.request.as_ref() == Some(asked)).then_some(asked)
}

/// An operation that is not gone on with.
fn ended_as(mut state: OperationState, phase: Phase) -> OperationState {
    state.phase = phase;
    state
}
