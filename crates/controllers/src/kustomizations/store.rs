//! Kustomizations as the store of the engine's units: specs are translated on the way in, statuses on the way out.

use std::sync::Arc;
use std::time::Instant;

use api::ReconcileStatus;
use api::kustomize::{Kustomization, KustomizationSpec, KustomizationStatus};
use engine::unit::{Failure, Operation, OperationState, Status, SyncState, SyncUnit, SyncUnitStore};
use futures::future::BoxFuture;
use kube::ResourceExt;
use model::Time;
use tracing::Instrument;

use super::beyond::Asks;
use super::generate::key;
use super::memory::{Memory, Remembered};
use super::status::{self, Course};
use super::{Shared, unit};
use crate::kit::{Desk, FINALIZER, Stamp, span};

/// The units of a process.
#[derive(Clone)]
pub(super) struct Units {
    pub(super) desk: Desk<KustomizationSpec>,
    pub(super) memory: Arc<Memory>,
    pub(super) shared: Arc<Shared>,
}

impl SyncUnitStore for Units {
    fn list(&self) -> BoxFuture<'_, Result<Vec<SyncUnit>, Failure>> {
        Box::pin(async {
            let objects = self.desk.all().await;
            let units = objects.iter().filter_map(|object| self.unit(&unit::id(object)));
            Ok(units.collect())
        })
    }

    fn get<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<SyncUnit>, Failure>> {
        Box::pin(async move { Ok(self.unit(id)) })
    }

    fn set_status<'a>(&'a self, id: &'a str, status: Status) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            let Some(key) = key(id) else { return Ok(()) };
            let Some(object) = self.desk.get(&key) else {
                return Ok(());
            };
            let written = self.write(id, &object, status);
            written.instrument(span::<KustomizationSpec>(&key)).await
        })
    }

    fn set_operation<'a>(
        &'a self,
        id: &'a str,
        from: Option<&'a Operation>,
        to: Option<Operation>,
    ) -> BoxFuture<'a, Result<bool, Failure>> {
        Box::pin(async move {
            let Some(object) = key(id).and_then(|key| self.desk.get(&key)) else {
                return Ok(true);
            };
            let uid = object.metadata.uid.as_deref();
            Ok(self.memory.change(id, uid, |unit| {
                let is_it = unit.operation.as_ref() == from;
                if is_it {
                    unit.operation = to;
                }
                is_it
            }))
        })
    }
}

impl Units {
    fn unit(&self, id: &str) -> Option<SyncUnit> {
        let object = self.desk.get(&key(id)?)?;
        let known = self.memory.get(id, object.metadata.uid.as_deref());
        let is_deleting = known.operation.as_ref().is_some_and(|operation| operation.delete);
        // What is about to go is not applied again, whatever is seen of what it had.
        // Nor is what could go without a trace of what it has made.
        let is_left = object.spec.suspend
            || object.metadata.deletion_timestamp.is_some()
            || !object.finalizers().iter().any(|one| one == FINALIZER);
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
        let before = self.memory.get(id, uid);
        if object.metadata.deletion_timestamp.is_some() {
            self.remember(id, uid, &status);
            // Whoever finalises the object looks at what became of it.
            self.desk.wake().one(object);
            return Ok(());
        }
        let mut said = self.desk.said(object);
        let mut course = course(object, &status, before);
        course.tells_canceled = self.shared.settings.tell_canceled;
        let news = status::translate(object, &mut said, &course);
        self.desk.tell_news(object, news.told, None);
        self.desk.post_news(object, news.posted);
        match news.is_passing && !must_last(object, &said) {
            true => self.desk.show(object, said).await,
            false => self.desk.write(object, &said).await?,
        }
        // Not before: what could not be written is told and written again from what was there.
        self.remember(id, uid, &status);
        let operation = status.operation.as_ref();
        if operation.is_none_or(|state| state.phase.is_final())
            && let Some(object) = key(id).and_then(|key| self.desk.get(&key))
        {
            self.desk.observe(&object, course.took, object.spec.suspend);
        }
        Ok(())
    }

    fn remember(&self, id: &str, uid: Option<&str>, status: &Status) {
        let operation = status.operation.as_ref();
        let is_over = operation.is_none_or(|state| state.phase.is_final());
        self.memory.change(id, uid, |unit| {
            match is_over {
                true => unit.started = None,
                false => drop(unit.started.get_or_insert_with(Instant::now)),
            }
            unit.status = Some(status.clone());
        });
    }
}

/// Whether a status says what a process that is killed now would not find out again, or what somebody waits for: the objects that
/// it has made, or that a request was answered.
fn must_last(object: &Kustomization, said: &KustomizationStatus) -> bool {
    let nothing = KustomizationStatus::default();
    let written = object.status.as_ref().unwrap_or(&nothing);
    written.inventory != said.inventory
        || written.last_handled_reconcile_at() != said.last_handled_reconcile_at()
}

fn course<'a>(object: &Kustomization, status: &'a Status, before: Remembered) -> Course<'a> {
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
        requested: before.requested,
        asks: Asks::or_careful(object),
        tells_canceled: false,
        held: before.held.filter(|_| status.sync == SyncState::OutOfSync),
        now: Time::new(jiff::Timestamp::now()),
    }
}

/// Now, and the generation of an object.
pub(super) fn stamp(object: &Kustomization, now: Time) -> Stamp {
    Stamp {
        generation: object.metadata.generation.unwrap_or_default(),
        now,
    }
}
