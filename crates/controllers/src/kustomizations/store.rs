//! Kustomizations as the store of the engine's units: specs are translated on the way in, statuses on the way out.

use std::sync::Arc;
use std::time::Instant;

use api::kustomize::{Kustomization, KustomizationSpec};
use engine::plan::Step;
use engine::sync::Outcome;
use engine::unit::{Failure, Operation, OperationState, Phase, Status, SyncUnit, SyncUnitStore};
use futures::future::BoxFuture;
use model::Time;

use super::generate::key;
use super::memory::{Memory, Remembered};
use super::status::{self, Course};
use super::{Shared, unit};
use crate::kit::{Desk, Stamp};

/// The units of a process.
#[derive(Clone)]
pub(super) struct Units {
    pub(super) desk: Desk<KustomizationSpec>,
    pub(super) memory: Arc<Memory>,
    pub(super) shared: Arc<Shared>,
}

impl SyncUnitStore for Units {
    /// None: each is handed over when it is seen.
    fn list(&self) -> BoxFuture<'_, Result<Vec<SyncUnit>, Failure>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn get<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<SyncUnit>, Failure>> {
        Box::pin(async move { Ok(self.unit(id)) })
    }

    fn set_status<'a>(&'a self, id: &'a str, status: Status) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            let Some(object) = key(id).and_then(|key| self.desk.get(&key)) else {
                return Ok(());
            };
            self.write(id, &object, status).await
        })
    }

    fn set_operation<'a>(
        &'a self,
        id: &'a str,
        operation: Option<Operation>,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            if let Some(object) = key(id).and_then(|key| self.desk.get(&key)) {
                let uid = object.metadata.uid.as_deref();
                self.memory.change(id, uid, |unit| unit.operation = operation);
            }
            Ok(())
        })
    }
}

impl Units {
    fn unit(&self, id: &str) -> Option<SyncUnit> {
        let object = self.desk.get(&key(id)?)?;
        let known = self.memory.get(id, object.metadata.uid.as_deref());
        let is_deleting = known.operation.as_ref().is_some_and(|operation| operation.delete);
        // What is about to go is not applied again, whatever is seen of what it had.
        let is_left = object.spec.suspend || object.metadata.deletion_timestamp.is_some();
        if is_left && !is_deleting {
            return None;
        }
        let status = known.status.unwrap_or_else(|| unit::first_status(&object));
        Some(unit::unit(
            &object,
            status,
            known.operation,
            &self.shared.settings,
        ))
    }

    /// Keeps a status, tells of it and writes what the object says of it.
    async fn write(&self, id: &str, object: &Kustomization, status: Status) -> Result<(), Failure> {
        let uid = object.metadata.uid.as_deref();
        let before = self.memory.change(id, uid, |unit| {
            let before = unit.clone();
            let is_over = status
                .operation
                .as_ref()
                .is_none_or(|state| state.phase.is_final());
            match is_over {
                true => unit.started = None,
                false => drop(unit.started.get_or_insert_with(Instant::now)),
            }
            unit.status = Some(status.clone());
            before
        });
        if object.metadata.deletion_timestamp.is_some() {
            // Whoever finalises the object looks at what became of it.
            self.desk.wake().one(object);
            return Ok(());
        }
        let mut said = object.status.clone().unwrap_or_default();
        let news = status::translate(object, &mut said, &course(&status, before));
        self.desk.tell_news(object, news, None);
        let written = self.desk.write(object, &said).await;
        Ok(written?)
    }
}

fn course(status: &Status, before: Remembered) -> Course<'_> {
    let is_new = before.status.as_ref().is_none_or(|before| {
        let phase = |status: &Status| {
            status
                .operation
                .as_ref()
                .map(|state| (state.phase, state.started))
        };
        phase(before) != phase(status)
    });
    // What is stored of an operation that has ended has no plan any more.
    let same = |state: &OperationState| {
        let now = status.operation.as_ref();
        now.is_some_and(|now| now.started == state.started)
    };
    let before_state = before
        .status
        .as_ref()
        .and_then(|status| status.operation.as_deref());
    let plan = before_state
        .filter(|state| same(state))
        .map(|state| state.plan.clone());
    Course {
        status,
        plan: plan.unwrap_or_default(),
        attempt: before.attempt,
        failure: before.failure,
        built: before.built,
        took: before
            .started
            .map(|started| started.elapsed())
            .unwrap_or_default(),
        is_new,
        is_asked: before.operation.is_some(),
        now: Time::new(jiff::Timestamp::now()),
    }
}

/// Whether all that a unit had is deleted as was asked for, or, with `waits`, gone.
pub(super) fn is_deleted(known: &Remembered, waits: bool) -> bool {
    let is_asked = known.operation.as_ref().is_some_and(|operation| operation.delete);
    let last = known.status.as_ref().and_then(|status| status.operation.as_ref());
    let Some(last) = last.filter(|last| is_asked && last.plan.revision.is_empty()) else {
        return false;
    };
    let results = &last.progress.results;
    let is_done = |step: &Step| results.iter().any(|result| result.key == step.key);
    let has_failed = results.iter().any(|result| result.outcome == Outcome::Failed);
    match last.phase {
        Phase::Succeeded => true,
        // Whoever waits in vain goes on all the same, as in Flux.
        Phase::Failed => waits && !has_failed && !results.is_empty(),
        Phase::Running => !waits && !has_failed && last.plan.steps().all(is_done),
        _ => false,
    }
}

/// Now, and the generation of an object.
pub(super) fn stamp(object: &Kustomization, now: Time) -> Stamp {
    Stamp {
        generation: object.metadata.generation.unwrap_or_default(),
        now,
    }
}
