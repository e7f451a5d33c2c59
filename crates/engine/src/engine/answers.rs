//! Requests that are answered. A request is answered once: one that came in meanwhile stays, and one that cannot be taken away, as the
//! store fails, is not carried out again for that.

use crate::sync::Stop;
use crate::unit::{Operation, OperationState, Phase, Status, SyncState, SyncUnit};

use super::intent::is_fresh;
use super::known::Known;
use super::{Shared, UnitEventKind};

impl Shared {
    /// Takes away the request for what has ended, and puts `next` in its place. One that came in meanwhile stays, and is returned. One for deletion stays too:
    /// without it everything would be applied again.
    pub(super) async fn answered(
        &self,
        unit: &str,
        known: &Known,
        request: Option<&Operation>,
        next: Option<&Operation>,
    ) -> Option<Operation> {
        known.state.lock().answered = request.filter(|request| !request.delete).map(|request| Answered {
            request: request.clone(),
            next: next.cloned(),
        });
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

    /// The unit as it is once somebody has ended what was about to begin anew: its request is answered.
    pub(super) async fn given_up(&self, unit: SyncUnit, known: &Known) -> SyncUnit {
        let is_over = {
            let state = known.state.lock();
            // One that a process before us has left may be gone on with.
            let last = unit.status.operation.as_deref();
            let is_left = state.endings == 0 && last.is_some_and(|last| !last.phase.is_final());
            !state.is_under_way() && !is_left
        };
        match is_over && known.take_termination() {
            true => self.give_up(unit, known).await,
            false => unit,
        }
    }

    /// Somebody has ended an operation that nobody carries out: it does not begin anew. What was not begun yet stays as it is, also a dry run
    /// that was asked for in its place.
    pub(super) async fn give_up(&self, mut unit: SyncUnit, known: &Known) -> SyncUnit {
        let is_asked = unit.operation.is_some() && !is_fresh(&unit) && !unit.is_deleting();
        let is_to_end = is_asked || put_off(&unit).is_some();
        let Some(last) = unit.status.operation.as_deref().filter(|_| is_to_end) else {
            return unit;
        };
        let ended = OperationState {
            phase: Phase::Terminated,
            finished: Some((self.now)()),
            message: TERMINATED.to_owned(),
            ..last.clone().ended()
        };
        let status = Status {
            operation: Some(Box::new(ended.clone())),
            ..unit.status.clone()
        };
        self.write(&unit, status.clone()).await;
        unit.status = status;
        if is_asked {
            let request = unit.operation.take();
            unit.operation = self.answered(&unit.id, known, request.as_ref(), None).await;
        }
        self.tell(&unit.id, UnitEventKind::Failed, TERMINATED);
        self.completed(&unit.id, &ended);
        unit
    }

    /// Somebody has ended an operation that a process before us has left, and its cluster cannot be had to clean up: it has ended all the same,
    /// and its request is answered. Whether that is so and stored; otherwise the next look comes here again.
    pub(super) async fn ends_afar(
        &self,
        unit: &SyncUnit,
        known: &Known,
        seen: u64,
        errors: &[String],
    ) -> bool {
        let is_terminated = {
            let state = known.state.lock();
            state.stop == Some(Stop::Terminated) && !state.is_busy(seen)
        };
        let last = unit.status.operation.as_deref();
        let left = last.filter(|last| is_terminated && !last.phase.is_final());
        let Some(ended) = left.and_then(|left| self.over_as(Some(left), Phase::Terminated, TERMINATED))
        else {
            return false;
        };
        let status = Status {
            sync: SyncState::Unknown,
            errors: errors.to_vec(),
            operation: Some(Box::new(ended.clone())),
            ..unit.status.clone()
        };
        self.heard.pass(&unit.id);
        if !self.write(unit, status).await {
            return false;
        }
        known.take_termination();
        self.answered(&unit.id, known, ended.request.as_ref(), None).await;
        self.tell(&unit.id, UnitEventKind::Failed, TERMINATED);
        self.completed(&unit.id, &ended);
        true
    }

    /// The unit without the request that was answered before, if it still has it. That is then taken away, and the next time where
    /// that fails.
    pub(super) async fn take_away(&self, mut unit: SyncUnit, known: &Known) -> SyncUnit {
        let answered = known.state.lock().answered.take();
        let answered = answered.or_else(|| {
            let request = has_ended(&unit)?.clone();
            Some(Answered { request, next: None })
        });
        let Some(answered) = answered.filter(|answered| unit.operation.as_ref() == Some(&answered.request))
        else {
            return unit;
        };
        let next = answered.next.clone();
        let taken = self
            .units
            .set_operation(&unit.id, Some(&answered.request), next.clone())
            .await;
        match taken {
            Ok(true) => unit.operation = next,
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
                known.state.lock().answered = Some(answered);
            }
        }
        unit
    }
}

/// A request that was answered.
pub(super) struct Answered {
    pub(super) request: Operation,
    /// What is to be asked for in its place.
    pub(super) next: Option<Operation>,
}

/// What people are told of an operation that somebody has ended.
const TERMINATED: &str = "terminated";

/// The request in whose place somebody asks for a dry run, although its operation was to begin anew: it is asked for again after that.
pub(super) fn put_off(unit: &SyncUnit) -> Option<&Operation> {
    unit.operation.as_ref().filter(|asked| asked.dry_run)?;
    let last = unit.status.operation.as_deref()?;
    let was_to_begin_anew = last.phase == Phase::Superseded;
    let request = last.request.as_ref().filter(|request| !request.dry_run);
    request.filter(|_| was_to_begin_anew)
}

/// The request of a unit, if an operation for this very one has ended: a process before us was not able to take it away any more. Requests without a
/// number cannot be told apart from others like them.
fn has_ended(unit: &SyncUnit) -> Option<&Operation> {
    let last = unit.status.operation.as_deref()?;
    let asked = unit.operation.as_ref().filter(|asked| !asked.delete)?;
    let is_end = last.phase.is_final() && last.phase != Phase::Superseded;
    (is_end && !asked.number.is_empty() && last.request.as_ref() == Some(asked)).then_some(asked)
}
