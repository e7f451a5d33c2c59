//! Kustomizations as the store of the engine's units: specs are translated on the way in, statuses on the way out.

use std::sync::Arc;
use std::time::{Duration, Instant};

use api::ReconcileStatus;
use api::kustomize::{Kustomization, KustomizationSpec, KustomizationStatus};
use engine::diff::IgnoreRules;
use engine::unit::{Failure, Operation, OperationState, Status, SyncState, SyncUnit, SyncUnitStore};
use futures::future::BoxFuture;
use kube::ResourceExt;
use model::Time;
use tracing::Instrument;

use super::beyond::Asks;
use super::generate::key;
use super::memory::{Memory, Remembered};
use super::status::{self, Course};
use super::{Shared, ignored, unit};
use crate::kit::{Desk, FINALIZER, Stamp, span};

/// How long a unit is waited for whose ignore rules are not read yet.
const PATIENCE: Duration = Duration::from_secs(2);

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
            // A list says which units there are. Rules of all tenants are not read for that: whoever looks at a unit gets it with them.
            let units = objects.iter().filter_map(|object| {
                let ignore = ignored::known(&self.memory, object);
                self.unit(object, ignore.and_then(Result::ok).unwrap_or_default())
            });
            Ok(units.collect())
        })
    }

    fn get<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<SyncUnit>, Failure>> {
        Box::pin(async move {
            // The object may have changed or gone when its rules are read. Whoever asks holds a worker, so that is not tried for long: what
            // else the namespace has evaluated comes first.
            let until = tokio::time::Instant::now() + PATIENCE;
            loop {
                let Some(object) = key(id).and_then(|key| self.desk.get(&key)) else {
                    return Ok(None);
                };
                if let Some(ignore) = ignored::known(&self.memory, &object) {
                    // What is wrong with the rules is told by whoever makes the objects of the unit.
                    return Ok(self.unit(&object, ignore.unwrap_or_default()));
                }
                let read = ignored::read(&self.memory, self.desk.evaluations(), &object);
                if tokio::time::timeout_at(until, read).await.is_err() {
                    return Err(Failure::new(
                        "its ignore rules are not read yet: its namespace has much to evaluate",
                    ));
                }
            }
        })
    }

    fn set_status<'a>(&'a self, id: &'a str, status: Status) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            let Some(key) = key(id) else { return Ok(()) };
            let Some(object) = self.desk.get(&key) else {
                return Ok(());
            };
            let before = self.memory.get(id, object.metadata.uid.as_deref());
            // Whatever is taken note of by now, the object says.
            let newest = self.desk.get(&key);
            let Some(object) = newest.filter(|newest| newest.metadata.uid == object.metadata.uid) else {
                return Ok(());
            };
            let written = self.write(id, &object, before, status);
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
    fn unit(&self, object: &Kustomization, ignore: IgnoreRules) -> Option<SyncUnit> {
        let known = self.memory.get(&unit::id(object), object.metadata.uid.as_deref());
        let is_deleting = known.operation.as_ref().is_some_and(|operation| operation.delete);
        // What is about to go is not applied again, whatever is seen of what it had.
        // Nor is what could go without a trace of what it has made.
        let is_left = object.spec.suspend
            || object.metadata.deletion_timestamp.is_some()
            || !object.finalizers().iter().any(|one| one == FINALIZER);
        if is_left && !is_deleting {
            return None;
        }
        let mut status = known.status.unwrap_or_else(|| unit::first_status(object));
        if known.asked != known.answered {
            // Whoever asks is told how it is, even if that is as it was.
            status.errors.clear();
            status.sync = SyncState::Unknown;
        }
        let unit = unit::unit(object, status, known.operation, &self.shared.settings, ignore);
        // The engine asks for the unit whenever it looks at it, so that each interval is spread anew.
        Some(unit::spread(unit, self.desk.options().jitter, fastrand::f64()))
    }

    /// Keeps a status, tells of it and writes what the object says of it.
    async fn write(
        &self,
        id: &str,
        object: &Kustomization,
        before: Remembered,
        status: Status,
    ) -> Result<(), Failure> {
        let (uid, asked) = (object.metadata.uid.as_deref(), before.asked);
        if object.metadata.deletion_timestamp.is_some() {
            self.remember(id, uid, asked, &status);
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
        self.remember(id, uid, asked, &status);
        let operation = status.operation.as_ref();
        if operation.is_none_or(|state| state.phase.is_final())
            && let Some(object) = key(id).and_then(|key| self.desk.get(&key))
        {
            self.desk.observe(&object, course.took, object.spec.suspend);
        }
        Ok(())
    }

    /// Keeps a status that answers so many questions. Whoever has asked since is told when the unit is looked at again.
    fn remember(&self, id: &str, uid: Option<&str>, answered: u64, status: &Status) {
        let operation = status.operation.as_ref();
        let is_over = operation.is_none_or(|state| state.phase.is_final());
        self.memory.change(id, uid, |unit| {
            match is_over {
                true => unit.started = None,
                false => drop(unit.started.get_or_insert_with(Instant::now)),
            }
            unit.status = Some(status.clone());
            unit.answered = answered;
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use kube::Client;
    use kube::client::Body;
    use source::identity::{Environment, Identities, Settings as IdentitySettings};

    use super::super::beyond::tests::annotated;
    use super::*;
    use crate::kit::Options;

    /// A unit store of a process with this `--interval-jitter-percentage`, whose requests are answered like this.
    fn units(
        jitter: u8,
        object: Kustomization,
        scratch: &std::path::Path,
        answer: impl Fn() -> Vec<u8> + Send + Sync + 'static,
    ) -> Units {
        let answer = Arc::new(answer);
        let service = tower::service_fn(move |_: http::Request<Body>| {
            let answer = Arc::clone(&answer);
            async move { Ok::<_, std::convert::Infallible>(http::Response::new(Body::from(answer()))) }
        });
        let client = Client::new(service, "default");
        let options = Options {
            jitter,
            ..Options::new("kustomize-controller")
        };
        Units {
            desk: Desk::of_objects(&client, options, vec![object]),
            memory: Arc::default(),
            shared: Arc::new(Shared {
                client,
                store: None,
                scratch: scratch.to_owned(),
                repositories: source::git::Cache::open(scratch.join("git")).unwrap(),
                identities: Identities::new(IdentitySettings::new(Environment::default())),
                http: Default::default(),
                settings: Default::default(),
            }),
        }
    }

    #[tokio::test]
    async fn the_jitter_of_the_process_spreads_the_intervals_of_units() {
        let mut object = annotated(&[]);
        object.metadata.finalizers = Some(vec![FINALIZER.to_owned()]);
        let (id, interval) = (unit::id(&object), object.spec.interval.to_std());
        let scratch = tempfile::tempdir().unwrap();
        for (jitter, shortest, longest) in [(0, 1.0, 1.0), (50, 0.5, 1.5)] {
            let units = units(jitter, object.clone(), scratch.path(), Vec::new);
            let mut found: Vec<Duration> = Vec::new();
            for _ in 0..20 {
                found.push(units.get(&id).await.unwrap().unwrap().policy.interval);
                found.push(units.list().await.unwrap()[0].policy.interval);
            }
            let range = interval.mul_f64(shortest)..=interval.mul_f64(longest);
            assert!(found.iter().all(|one| range.contains(one)), "{found:?}");
            let is_spread = found.iter().any(|one| *one != found[0]);
            assert_eq!(is_spread, jitter > 0, "{found:?}");
        }
    }
    #[tokio::test]
    async fn who_asks_while_a_status_is_written_is_told_by_the_next_look() {
        let mut object = annotated(&[]);
        object.metadata.finalizers = Some(vec![FINALIZER.to_owned()]);
        let (id, uid) = (unit::id(&object), object.metadata.uid.clone());
        let scratch = tempfile::tempdir().unwrap();
        let memory: Arc<std::sync::OnceLock<Arc<Memory>>> = Arc::default();
        let answer = {
            let (memory, id, object) = (Arc::clone(&memory), id.clone(), object.clone());
            let requests = std::sync::atomic::AtomicUsize::new(0);
            move || {
                if requests.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0 {
                    let memory = memory.get().unwrap();
                    memory.change(&id, object.metadata.uid.as_deref(), |unit| unit.asked += 1);
                }
                serde_json::to_vec(&object).unwrap()
            }
        };
        let units = units(0, object, scratch.path(), answer);
        memory.set(Arc::clone(&units.memory)).ok().unwrap();
        let status = Status {
            errors: vec!["broken".to_owned()],
            ..Status::default()
        };
        let mut seen = Vec::new();
        for _ in 0..2 {
            units.set_status(&id, status.clone()).await.unwrap();
            seen.push(units.get(&id).await.unwrap().unwrap().status.errors.len());
        }
        assert_eq!(seen, [0, 1], "the first status does not answer, the second does");
        let known = units.memory.get(&id, uid.as_deref());
        assert_eq!((known.asked, known.answered), (1, 1));
    }
}
