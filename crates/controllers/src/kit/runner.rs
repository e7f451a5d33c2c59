//! Runs a controller: watches its objects, works on what is due, writes what differs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use api::{Object, ReconcileStatus, Spec};
use futures::StreamExt;
use kube::api::Api;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Client, ResourceExt};
use model::Time;
use tokio::task::JoinSet;

use super::conclude::{Failure, conclude};
use super::conditions::{Stamp, Summary};
use super::interval::jittered;
use super::queue::{Backoff, Done, Queue};
use super::recorder::{Notice, Recorder};
use super::writer::{Key, Objects, Writer, key_of, requested_at};

/// The finalizer of all kinds that leave something behind.
pub const FINALIZER: &str = "finalizers.fluxcd.io";

/// What a controller does with objects of one kind.
pub trait Reconcile: Send + Sync + 'static {
    /// The kind.
    type Spec: Spec<Status: ReconcileStatus + PartialEq>;

    /// What makes up `Ready`.
    const SUMMARY: Summary;

    /// Whether the object only says something: it is never worked on, has no finalizer, and its status is empty.
    fn is_static(&self, _: &Object<Self::Spec>) -> bool {
        false
    }

    /// Whether the object is left alone.
    fn is_suspended(&self, object: &Object<Self::Spec>) -> bool;

    /// How long to wait after a success.
    fn interval(&self, object: &Object<Self::Spec>) -> Duration;

    /// One run: brings the status to what is, and says what is to be told. `Ready`, `Stalled` and the end of
    /// `Reconciling` are not its business: they follow from the outcome.
    fn reconcile(
        &self,
        run: &mut Run<'_, Self::Spec>,
    ) -> impl Future<Output = Result<Vec<Notice>, Failure>> + Send;

    /// Undoes what the object left behind.
    fn finalize(&self, object: &Object<Self::Spec>) -> impl Future<Output = Result<(), Failure>> + Send;
}

/// What a run works on.
pub struct Run<'r, S: Spec> {
    /// The object as it is in the cluster. Its status is that of the beginning.
    pub object: &'r Object<S>,
    /// The status as it is to be.
    pub status: S::Status,
    /// Now, and the generation that is worked on.
    pub stamp: Stamp,
    writer: &'r Writer<S>,
}

impl<S: Spec<Status: ReconcileStatus + PartialEq>> Run<'_, S> {
    /// Whether somebody asked for this run and waits for its end.
    pub fn is_requested(&self) -> bool {
        requested_at(self.object).is_some_and(|token| self.status.last_handled_reconcile_at() != Some(token))
    }

    /// Writes the status as it is by now, for those who watch. What cannot be written now is written at the end.
    pub async fn show_progress(&mut self) {
        if let Err(error) = self.writer.write(self.object, &self.status).await {
            tracing::debug!("failed to write progress: {error}");
        }
    }
}

/// How a controller runs.
#[derive(Clone, Debug)]
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
        }
    }
}

/// A controller that runs.
pub struct Runner<R: Reconcile> {
    reconciler: R,
    options: Options,
    queue: Queue<Key>,
    objects: Arc<Objects<R::Spec>>,
    recorder: Recorder,
    writer: Writer<R::Spec>,
}

impl<R: Reconcile> Runner<R> {
    /// A controller that is yet to run.
    pub fn new(reconciler: R, client: Client, recorder: Recorder, options: Options) -> Arc<Self> {
        let objects = Arc::new(Objects::new());
        let writer = Writer {
            client,
            controller: options.controller,
            owned: R::SUMMARY.order,
            objects: Arc::clone(&objects),
        };
        Arc::new(Runner {
            reconciler,
            queue: Queue::new(options.backoff),
            options,
            objects,
            recorder,
            writer,
        })
    }

    /// The queue, for those who know of something that concerns an object.
    pub fn queue(&self) -> &Queue<Key> {
        &self.queue
    }

    /// Runs until the future is dropped or the queue is closed. Work that is cut off is safe: what it wrote is whole, and
    /// the next run finds the rest.
    pub async fn run(self: Arc<Self>) {
        let mut tasks = JoinSet::new();
        for _ in 0..self.options.concurrent.max(1) {
            let runner = Arc::clone(&self);
            tasks.spawn(async move {
                while let Some(ticket) = runner.queue.next().await {
                    let done = runner.work(ticket.key()).await;
                    ticket.finish(done);
                }
            });
        }
        tokio::select! {
            () = self.watch() => {}
            _ = tasks.join_next() => {}
        }
    }

    /// Follows the objects and queues those that ask for work.
    async fn watch(&self) {
        let client = self.writer.client.clone();
        let api: Api<Object<R::Spec>> = match &self.options.namespace {
            Some(namespace) => Api::namespaced(client, namespace),
            None => Api::all(client),
        };
        let mut config = watcher::Config::default();
        if let Some(selector) = &self.options.label_selector {
            config = config.labels(selector);
        }
        let mut events = watcher(api, config).default_backoff().boxed();
        while let Some(event) = events.next().await {
            match event {
                Ok(watcher::Event::Apply(object) | watcher::Event::InitApply(object)) => {
                    let key = key_of(&object);
                    if self.objects.put(object) {
                        self.queue.add(key);
                    }
                }
                Ok(watcher::Event::Delete(object)) => self.objects.remove(&key_of(&object)),
                Ok(watcher::Event::Init | watcher::Event::InitDone) => {}
                Err(error) => tracing::debug!("a watch failed and is begun anew: {error}"),
            }
        }
    }

    /// One run on one object.
    async fn work(&self, key: &Key) -> Done {
        let Some(object) = self.objects.get(key) else {
            return Done::Forget;
        };
        let start = Instant::now();
        let done = if object.metadata.deletion_timestamp.is_some() {
            self.finalize(&object).await
        } else if self.reconciler.is_static(&object) {
            self.leave_static(&object).await
        } else if !has_finalizer(&object) {
            self.add_finalizer(&object).await
        } else if self.reconciler.is_suspended(&object) {
            self.note_request(&object).await
        } else {
            self.reconcile(&object).await
        };
        let (kind, took) = (<R::Spec as Spec>::NAMES.kind, start.elapsed());
        tracing::debug!(kind, namespace = key.0, name = key.1, ?took, "worked");
        done
    }

    async fn reconcile(&self, object: &Object<R::Spec>) -> Done {
        let stamp = Stamp {
            generation: object.metadata.generation.unwrap_or_default(),
            now: Time::new(jiff::Timestamp::now()),
        };
        let mut run = Run {
            object,
            status: object.status.clone().unwrap_or_default(),
            stamp,
            writer: &self.writer,
        };
        let result = self.reconciler.reconcile(&mut run).await;
        let mut status = run.status;
        if let Some(token) = requested_at(object) {
            status.set_last_handled_reconcile_at(token);
        }
        let interval = self.reconciler.interval(object);
        let interval = jittered(interval, self.options.jitter, fastrand::f64());
        let stamp = Stamp {
            now: Time::new(jiff::Timestamp::now()),
            ..stamp
        };
        let outcome = result.as_ref().map(|_| ());
        let done = conclude(&mut status, stamp, &R::SUMMARY, outcome, interval);
        let written = self.writer.write(object, &status).await;
        let notices = result.unwrap_or_else(|failure| vec![failure.notice()]);
        for notice in notices {
            self.recorder.tell(object, notice);
        }
        match written {
            Ok(()) => done,
            Err(error) => {
                tracing::warn!("failed to write a status: {error}");
                Done::Retry
            }
        }
    }

    /// Takes note of a request that a suspended object gets, so that whoever asked does not wait.
    async fn note_request(&self, object: &Object<R::Spec>) -> Done {
        let Some(token) = requested_at(object) else {
            return Done::Forget;
        };
        let mut status = object.status.clone().unwrap_or_default();
        status.set_last_handled_reconcile_at(token);
        match self.writer.write(object, &status).await {
            Ok(()) => Done::Forget,
            Err(_) => Done::Retry,
        }
    }

    /// Makes an object static that was not: what it left behind goes, its status is emptied.
    async fn leave_static(&self, object: &Object<R::Spec>) -> Done {
        if has_finalizer(object) {
            return match self.finalize(object).await {
                Done::Forget => Done::After(Duration::ZERO),
                retry => retry,
            };
        }
        match self.writer.write(object, &Default::default()).await {
            Ok(()) => Done::Forget,
            Err(_) => Done::Retry,
        }
    }

    async fn add_finalizer(&self, object: &Object<R::Spec>) -> Done {
        let mut all = object.finalizers().to_vec();
        all.push(FINALIZER.to_owned());
        match self.writer.set_finalizers(object, &all).await {
            Ok(()) => Done::After(Duration::ZERO),
            Err(_) => Done::Retry,
        }
    }

    async fn finalize(&self, object: &Object<R::Spec>) -> Done {
        if !has_finalizer(object) {
            return Done::Forget;
        }
        if let Err(failure) = self.reconciler.finalize(object).await {
            self.recorder.tell(object, failure.notice());
            return Done::Retry;
        }
        let rest = object.finalizers().iter();
        let rest: Vec<String> = rest.filter(|one| *one != FINALIZER).cloned().collect();
        match self.writer.set_finalizers(object, &rest).await {
            Ok(()) => Done::Forget,
            Err(kube::Error::Api(status)) if status.code == 404 => Done::Forget,
            Err(_) => Done::Retry,
        }
    }
}

fn has_finalizer<S: Spec>(object: &Object<S>) -> bool {
    object.finalizers().iter().any(|one| one == FINALIZER)
}
