//! Runs a controller: watches its objects, works on what is due, writes what differs.

use std::panic::AssertUnwindSafe;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use api::{Object, ReconcileStatus, Spec};
use engine::workers::{WorkerPermit, Workers};
use futures::FutureExt;
use kube::{Client, ResourceExt};
use model::Time;
use tokio::task::JoinSet;
use tracing::Instrument;

use super::asks::requested_at;
use super::chain::chain;
use super::conclude::{Failure, Shape, conclude, suspend};
use super::conditions::{Stamp, Summary};
use super::desk::{Desk, Kept};
use super::follow::{self, Change, WaitedFor, Wake};
use super::interval::jittered;
use super::metrics::{Metrics, Ran};
use super::queue::{Backoff, Done, Queue, Ticket};
use super::recorder::{Notice, Recorder};
use super::writer::{Key, SHOWN_AFTER, Writer, key_of};

/// The finalizer of all kinds that leave something behind.
pub const FINALIZER: &str = "finalizers.fluxcd.io";

/// What a controller does with objects of one kind.
pub trait Reconcile: Send + Sync + 'static {
    /// The kind.
    type Spec: Spec<Status: ReconcileStatus + PartialEq>;

    /// What makes up `Ready`.
    const SUMMARY: Summary;

    /// Called once, before everything else.
    fn begin(&self, _: &Desk<Self::Spec>) {}

    /// Whether the object only says something: it is never worked on, has no finalizer, and its status is empty.
    fn is_static(&self, _: &Object<Self::Spec>) -> bool {
        false
    }

    /// Whether the object is left alone.
    fn is_suspended(&self, object: &Object<Self::Spec>) -> bool;

    /// Brings a status to what it is while its object is suspended.
    fn suspend(status: &mut <Self::Spec as Spec>::Status, stamp: Stamp) {
        suspend(status, stamp, &Self::SUMMARY);
    }

    /// How long to wait after a success.
    fn interval(&self, object: &Object<Self::Spec>) -> Duration;

    /// One run: brings the status to what is, and says what is to be told. `Ready`, `Stalled` and the end of
    /// `Reconciling` are not its business: they follow from the outcome.
    fn reconcile(
        &self,
        run: &mut Run<'_, Self::Spec>,
    ) -> impl Future<Output = Result<Vec<Notice>, Failure>> + Send;

    /// Told of each object of its own kind that changed, our own writes included, to wake others that it concerns.
    fn seen(&self, _: &Object<Self::Spec>, _: &Wake<Self::Spec>) {}

    /// Told of each object that is gone, perhaps more than once and also of one that nobody has finalized: somebody has taken its finalizer away.
    fn gone(&self, _: &Object<Self::Spec>) {}

    /// What goes on beside the runs for as long as the controller runs: it follows objects of other kinds, and wakes those that
    /// they concern.
    fn follow(&self, _: Desk<Self::Spec>) -> impl Future<Output = ()> + Send {
        std::future::pending()
    }

    /// Takes an object over, to work on it in its own time; whether it does. Then this run has ended, and nothing is concluded
    /// from it.
    fn hand_over(&self, _: &Object<Self::Spec>) -> bool {
        false
    }

    /// Brings a status to what a run came to, and says when the object is looked at again.
    fn conclude(
        status: &mut <Self::Spec as Spec>::Status,
        stamp: Stamp,
        result: Result<(), &Failure>,
        interval: Duration,
    ) -> Done {
        conclude(status, stamp, &Self::SUMMARY, result, interval)
    }

    /// What is told of a failed run, if anything is; what is not is logged.
    fn notice(failure: &Failure) -> Option<Notice> {
        Some(failure.notice())
    }

    /// Undoes what the object left behind, and says what is to be told of that. A failure that waits is not told. Where it fails, the
    /// status is written as it is by then.
    fn finalize(
        &self,
        run: &mut Run<'_, Self::Spec>,
    ) -> impl Future<Output = Result<Vec<Notice>, Failure>> + Send;
}

/// What a run works on.
pub struct Run<'r, S: Spec> {
    /// The object as it is in the cluster. Its status is that of the beginning.
    pub object: &'r Object<S>,
    /// The status as it is to be.
    pub status: S::Status,
    /// Now, and the generation that is worked on.
    pub stamp: Stamp,
    /// Its place among those that are worked on at once.
    pub worker: &'r WorkerPermit,
    writer: &'r Arc<Writer<S>>,
    notices: Vec<Notice>,
}

impl<'r, S: Spec> Run<'r, S> {
    /// A run that is about to begin.
    pub(super) fn begun(object: &'r Object<S>, worker: &'r WorkerPermit, writer: &'r Arc<Writer<S>>) -> Self {
        let stamp = Stamp {
            generation: object.metadata.generation.unwrap_or_default(),
            now: Time::new(jiff::Timestamp::now()),
        };
        Run {
            object,
            status: object.status.clone().unwrap_or_default(),
            stamp,
            worker,
            writer,
            notices: Vec::new(),
        }
    }
}

impl<S: Spec<Status: ReconcileStatus + PartialEq>> Run<'_, S> {
    /// Whether somebody asked for this run and waits for its end.
    pub fn is_requested(&self) -> bool {
        requested_at(self.object).is_some_and(|token| self.status.last_handled_reconcile_at() != Some(token))
    }

    /// Has something told, however the run ends.
    pub fn tell(&mut self, notice: Notice) {
        self.notices.push(notice);
    }

    /// Another object of the same namespace and kind, as it was last seen.
    pub fn other(&self, name: &str) -> Option<Arc<Object<S>>> {
        let namespace = self.object.namespace().unwrap_or_default();
        self.writer.objects.get(&(namespace, name.to_owned()))
    }

    /// Says how the status is by now, for those who watch: it is written if the run goes on for a while.
    pub async fn show_progress(&self) {
        self.writer.show(self.object, self.status.clone()).await;
    }

    /// Writes the status as it is by now, because others depend on it. What cannot be written now is written at the end.
    pub async fn write_progress(&self) {
        if let Err(error) = self.writer.write(self.object, &self.status).await {
            tracing::debug!("failed to write progress: {}", chain(&error));
        }
    }
}

/// How a controller runs.
#[derive(Clone)]
pub struct Options {
    /// Who it is: the name that writes fields.
    pub controller: &'static str,
    /// How many objects are worked on at once.
    pub concurrent: usize,
    /// How failures are tried again.
    pub backoff: Backoff,
    /// How far intervals are spread, in percent.
    pub jitter: u8,
    /// Only objects with these labels.
    pub label_selector: Option<String>,
    /// Only objects of this namespace.
    pub namespace: Option<String>,
    /// How long a run goes on before its progress is written. Most are over sooner, and nobody could have read it.
    pub shown_after: Duration,
    /// Where runs are counted.
    pub metrics: Metrics,
    /// The kinds that the cluster lacks. Controllers of one process share it.
    pub waited_for: WaitedFor,
}

impl Options {
    /// The defaults of Flux's flags.
    pub fn new(controller: &'static str) -> Self {
        Options {
            controller,
            concurrent: 2,
            backoff: Backoff::default(),
            jitter: 5,
            label_selector: None,
            namespace: None,
            shown_after: SHOWN_AFTER,
            metrics: Metrics::new(),
            waited_for: WaitedFor::default(),
        }
    }

    /// How kinds are followed that objects are made of: labels say which objects are worked on here, not which ones these may name.
    pub fn of_others(&self) -> Options {
        Options {
            label_selector: None,
            ..self.clone()
        }
    }
}

/// A controller that runs.
pub struct Runner<R: Reconcile> {
    reconciler: R,
    desk: Desk<R::Spec>,
    is_cut_off: AtomicBool,
}

impl<R: Reconcile> Runner<R> {
    /// A controller that is yet to run.
    pub fn new(reconciler: R, client: Client, recorder: Recorder, options: Options) -> Arc<Self> {
        let desk = Desk::new(client, recorder, R::SUMMARY.order, options);
        let (load, options) = (desk.queue.clone(), &desk.options);
        let kind = <R::Spec as Spec>::NAMES.kind;
        options
            .metrics
            .register(kind, options.concurrent, move || load.load());
        reconciler.begin(&desk);
        Arc::new(Runner {
            reconciler,
            desk,
            is_cut_off: AtomicBool::new(false),
        })
    }

    /// The queue, for those who know of something that concerns an object.
    pub fn queue(&self) -> &Queue<Key> {
        &self.desk.queue
    }

    /// From now on no run says how it ended: what fails while the process ends has not failed.
    pub(super) fn cut_off(&self) {
        self.is_cut_off.store(true, Ordering::Relaxed);
    }

    /// Runs until the future is dropped, or until the queue was closed and the work that went on is done. Work that is cut off
    /// is safe: what it wrote is whole, and the next run finds the rest.
    pub async fn run(self: Arc<Self>) {
        tokio::select! {
            () = self.watch() => {}
            () = self.reconciler.follow(self.desk.clone()) => {}
            () = Arc::clone(&self).work_off() => {}
        }
    }

    /// Works on what is due, on as many at once as there are workers, until the queue is closed.
    async fn work_off(self: Arc<Self>) {
        let workers = Workers::new(self.desk.options.concurrent);
        let mut tasks = JoinSet::new();
        while let Some((worker, ticket)) = workers.next(&self.desk.queue).await {
            while tasks.try_join_next().is_some() {}
            let runner = Arc::clone(&self);
            tasks.spawn(async move { runner.take(ticket, &worker).await });
        }
        while tasks.join_next().await.is_some() {}
    }

    /// Works on what is due. A run that panics failed, like others: one bad object ends no process.
    async fn take(&self, ticket: Ticket<Key>, worker: &WorkerPermit) {
        let names = <R::Spec as Spec>::NAMES;
        let metrics = &self.desk.options.metrics;
        let span = span::<R::Spec>(ticket.key());
        metrics.count_active(names.kind, 1);
        let start = Instant::now();
        let work = AssertUnwindSafe(self.work(ticket.key(), worker)).catch_unwind();
        let worked = work.instrument(span.clone()).await;
        let panicked = worked.is_err();
        if panicked {
            span.in_scope(|| tracing::error!("a run panicked; it is tried again"));
        }
        let done = worked.unwrap_or(Done::Retry);
        metrics.count_active(names.kind, -1);
        let ran = Ran {
            waited: ticket.waited(),
            took: start.elapsed(),
            done,
            panicked,
        };
        metrics.count_run(names.kind, &ran);
        ticket.finish(done);
    }

    /// Follows the objects and queues those that ask for work.
    async fn watch(&self) {
        let wake = self.desk.wake();
        let tell = |change| match change {
            Change::Seen(object) => {
                let key = key_of(&object);
                let before = self.last_decoded(&key);
                self.desk.undecodable.lock().remove(&key);
                self.desk.writer.see(*object);
                if let Some(object) = self.desk.objects.get(&key) {
                    self.reconciler.seen(&object, &wake);
                }
                if let Some(before) = before {
                    self.tell_gone(&before);
                }
            }
            Change::Undecodable(broken) => {
                let key = broken.key();
                let before = self.last_decoded(&key);
                let (last, gone) = match before {
                    Some(before) if before.metadata.uid == broken.metadata.uid => (Some(before), None),
                    before => (None, before),
                };
                // What it was before is not worked on any more. It is kept until it is known whether the object is gone.
                self.desk.objects.remove(&key);
                let kept = Kept {
                    broken: *broken,
                    last,
                };
                self.desk.undecodable.lock().insert(key.clone(), kept);
                if let Some(gone) = gone {
                    self.tell_gone(&gone);
                }
                self.desk.queue.add(key);
            }
            Change::Gone(key) => {
                let before = self.last_decoded(&key);
                self.desk.undecodable.lock().remove(&key);
                self.desk.objects.remove(&key);
                if let Some(before) = before {
                    self.tell_gone(&before);
                }
                self.desk.told.forget(&key);
                self.desk
                    .options
                    .metrics
                    .forget(<R::Spec as Spec>::NAMES.kind, &key);
            }
            Change::Complete => self.desk.is_listed(),
        };
        follow::watch(self.desk.writer.client.clone(), &self.desk.options, tell).await;
    }

    /// The object as it was when it was last decoded.
    fn last_decoded(&self, key: &Key) -> Option<Arc<Object<R::Spec>>> {
        let known = self.desk.objects.get(key);
        known.or_else(|| self.desk.undecodable.lock().get(key)?.last.clone())
    }

    /// Tells the controller of an object that is gone, if it is. Another one may have its name.
    fn tell_gone(&self, object: &Object<R::Spec>) {
        let now = self.desk.objects.get(&key_of(object));
        if now.is_none_or(|now| now.metadata.uid != object.metadata.uid) {
            self.reconciler.gone(object);
        }
    }

    /// One run on one object.
    async fn work(&self, key: &Key, worker: &WorkerPermit) -> Done {
        let Some(object) = self.desk.objects.get(key) else {
            return self.report_undecodable(key).await;
        };
        let start = Instant::now();
        let done = if object.metadata.deletion_timestamp.is_some() {
            self.finalize(&object, worker).await
        } else if self.reconciler.is_static(&object) {
            self.leave_static(&object, worker).await
        } else if !has_finalizer(&object) {
            self.add_finalizer(&object).await
        } else if self.reconciler.is_suspended(&object) {
            self.leave_suspended(&object).await
        } else if self.reconciler.hand_over(&object) {
            return Done::Forget;
        } else {
            self.reconcile(&object, worker).await
        };
        let took = start.elapsed();
        tracing::debug!(?took, "worked");
        if let Some(object) = self.desk.objects.get(key) {
            self.desk
                .observe(&object, took, self.reconciler.is_suspended(&object));
        }
        // What a run has taken note of after its object was gone goes as well.
        self.tell_gone(&object);
        done
    }

    async fn report_undecodable(&self, key: &Key) -> Done {
        let kept = self
            .desk
            .undecodable
            .lock()
            .get(key)
            .map(|kept| kept.broken.clone());
        let Some(broken) = kept else {
            return Done::Forget;
        };
        let done = broken.report(&self.desk).await;
        // What was reported after the object was gone is forgotten as well.
        if self.desk.objects.get(key).is_none() && !self.desk.undecodable.lock().contains_key(key) {
            self.desk.told.forget(key);
        }
        done
    }

    async fn reconcile(&self, object: &Object<R::Spec>, worker: &WorkerPermit) -> Done {
        let mut run = Run::begun(object, worker, &self.desk.writer);
        let stamp = run.stamp;
        let result = self.reconciler.reconcile(&mut run).await;
        if self.is_cut_off.load(Ordering::Relaxed) {
            return Done::Retry;
        }
        let (mut status, notices) = (run.status, run.notices);
        if let Some(token) = requested_at(object) {
            status.set_last_handled_reconcile_at(token);
        }
        let interval = self.reconciler.interval(object);
        let interval = jittered(interval, self.desk.options.jitter, fastrand::f64());
        let stamp = Stamp {
            now: Time::new(jiff::Timestamp::now()),
            ..stamp
        };
        let outcome = result.as_ref().map(|_| ());
        let done = R::conclude(&mut status, stamp, outcome, interval);
        // One that says nothing has been told in other words.
        let failure = result
            .as_ref()
            .err()
            .filter(|failure| !failure.message.is_empty());
        let told = failure.and_then(R::notice);
        if let Some(failure) = failure
            && told.is_none()
        {
            failure.log();
        }
        let mut news = notices;
        news.extend(result.clone().unwrap_or_default());
        self.desk.tell_news(object, news, told);
        match self.desk.write(object, &status).await {
            Ok(()) => done,
            Err(error) => {
                let why = chain(&error);
                tracing::warn!("failed to write a status, so that the run is done again: {why}");
                Done::Retry
            }
        }
    }

    /// Says of a suspended object what is to be said of it, and takes note of a request, so that whoever asked does not wait.
    async fn leave_suspended(&self, object: &Object<R::Spec>) -> Done {
        // Also what is yet to be written: who was being worked on is not what it was before that.
        let mut status = self.desk.said(object);
        let stamp = Stamp {
            generation: object.metadata.generation.unwrap_or_default(),
            now: Time::new(jiff::Timestamp::now()),
        };
        R::suspend(&mut status, stamp);
        if let Some(token) = requested_at(object) {
            status.set_last_handled_reconcile_at(token);
        }
        match self.desk.writer.write(object, &status).await {
            Ok(()) => Done::Forget,
            Err(_) => Done::Retry,
        }
    }

    /// Makes an object static that was not: what it left behind goes, its status is emptied.
    async fn leave_static(&self, object: &Object<R::Spec>, worker: &WorkerPermit) -> Done {
        if has_finalizer(object) {
            return match self.finalize(object, worker).await {
                Done::Forget => Done::After(Duration::ZERO),
                retry => retry,
            };
        }
        match self.desk.writer.write(object, &Default::default()).await {
            Ok(()) => Done::Forget,
            Err(_) => Done::Retry,
        }
    }

    async fn add_finalizer(&self, object: &Object<R::Spec>) -> Done {
        let ours = FINALIZER.to_owned();
        let add = |old: &[String]| match old.contains(&ours) {
            true => old.to_vec(),
            false => [old, slice::from_ref(&ours)].concat(),
        };
        match self.desk.writer.set_finalizers(object, add).await {
            Ok(()) => Done::After(Duration::ZERO),
            Err(_) => Done::Retry,
        }
    }

    async fn finalize(&self, object: &Object<R::Spec>, worker: &WorkerPermit) -> Done {
        if !has_finalizer(object) {
            return Done::Forget;
        }
        let mut run = Run::begun(object, worker, &self.desk.writer);
        let result = self.reconciler.finalize(&mut run).await;
        for notice in std::mem::take(&mut run.notices) {
            self.desk.tell(object, notice);
        }
        match result {
            Ok(notices) => {
                let notices = notices.into_iter();
                notices.for_each(|notice| self.desk.tell(object, notice));
            }
            Err(failure) => {
                run.write_progress().await;
                return match failure.shape {
                    Shape::Waiting(wait) => Done::After(wait),
                    Shape::Stalled | Shape::Transient => {
                        // One that says nothing has been told in other words.
                        if !failure.message.is_empty() {
                            self.desk.tell_failure(object, failure.notice());
                        }
                        Done::Retry
                    }
                };
            }
        }
        let remove = |old: &[String]| {
            let rest = old.iter().filter(|one| *one != FINALIZER);
            rest.cloned().collect()
        };
        match self.desk.writer.set_finalizers(object, remove).await {
            Ok(()) => Done::Forget,
            Err(kube::Error::Api(status)) if status.code == 404 => Done::Forget,
            Err(_) => Done::Retry,
        }
    }
}

/// What is said inside of this is said of an object: `flux logs` asks for what is said of one.
pub(crate) fn span<S: Spec>((namespace, name): &Key) -> tracing::Span {
    let names = S::NAMES;
    tracing::info_span!(
        "reconcile",
        controller = names.kind.to_ascii_lowercase(),
        controllerGroup = names.group,
        controllerKind = names.kind,
        name,
        namespace,
    )
}

pub(super) fn has_finalizer<S: Spec>(object: &Object<S>) -> bool {
    object.finalizers().iter().any(|one| one == FINALIZER)
}
