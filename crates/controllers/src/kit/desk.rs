//! What is known of the objects of a controller, and how something is said of them. A runner has one; a controller that works on
//! objects in its own time is given it, too.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use api::{ConditionType, Object, ReconcileStatus, Spec};
use engine::health::Evaluations;
use kube::Client;
use model::event::Severity;
use parking_lot::Mutex;
use tokio::sync::watch;

use super::decode::Undecodable;
use super::follow::Wake;
use super::queue::Queue;
use super::recorder::{Notice, Recorder};
use super::runner::{Options, has_finalizer};
use super::told::Told;
use super::writer::{Key, Objects, Progress, Writer, key_of};

/// What is known of the objects of a controller, and how something is said of them. Clones share it.
pub struct Desk<S: Spec> {
    pub(super) options: Options,
    pub(super) queue: Queue<Key>,
    pub(super) objects: Arc<Objects<S>>,
    pub(super) writer: Arc<Writer<S>>,
    pub(super) told: Arc<Told>,
    /// The objects that cannot be decoded, as they were last seen.
    pub(super) undecodable: Arc<Mutex<HashMap<Key, Kept<S>>>>,
    recorder: Recorder,
    is_complete: Arc<watch::Sender<bool>>,
    evaluations: Evaluations,
}

/// An object that cannot be decoded.
pub(super) struct Kept<S: Spec> {
    pub(super) broken: Undecodable,
    /// The same object as it was before, if it was seen. Controllers know it by that when it is gone.
    pub(super) last: Option<Arc<Object<S>>>,
}

impl<S: Spec> Clone for Desk<S> {
    fn clone(&self) -> Self {
        Desk {
            options: self.options.clone(),
            queue: self.queue.clone(),
            objects: Arc::clone(&self.objects),
            writer: Arc::clone(&self.writer),
            told: Arc::clone(&self.told),
            undecodable: Arc::clone(&self.undecodable),
            recorder: self.recorder.clone(),
            is_complete: Arc::clone(&self.is_complete),
            evaluations: self.evaluations.clone(),
        }
    }
}

impl<S: Spec<Status: ReconcileStatus + PartialEq>> Desk<S> {
    pub(super) fn new(
        client: Client,
        recorder: Recorder,
        owned: &'static [api::ConditionType],
        options: Options,
    ) -> Self {
        let objects = Arc::new(Objects::new());
        let queue = Queue::new(options.backoff);
        let writer = Writer {
            client,
            controller: options.controller,
            owned,
            objects: Arc::clone(&objects),
            queue: queue.clone(),
            progress: Progress::default(),
            shown_after: options.shown_after,
        };
        Desk {
            options,
            queue,
            objects,
            writer: Arc::new(writer),
            told: Arc::default(),
            undecodable: Arc::default(),
            recorder,
            is_complete: Arc::new(watch::Sender::new(false)),
            evaluations: Evaluations::default(),
        }
    }

    /// Where expressions of objects are evaluated.
    pub(crate) fn evaluations(&self) -> &Evaluations {
        &self.evaluations
    }

    /// How the controller runs.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// An object as it was last seen.
    pub fn get(&self, key: &Key) -> Option<Arc<Object<S>>> {
        self.objects.get(key)
    }

    /// Whether an object would be seen if it were there: flags may have others of its kind left to other processes.
    pub fn sees(&self, (namespace, _): &Key) -> bool {
        let seen = self.options.namespace.as_ref();
        self.options.label_selector.is_none() && seen.is_none_or(|seen| seen == namespace)
    }

    /// All objects, once the cluster has said which there are.
    pub async fn all(&self) -> Vec<Arc<Object<S>>> {
        let mut is_complete = self.is_complete.subscribe();
        // The sender is here, too: this does not fail.
        drop(is_complete.wait_for(|complete| *complete).await);
        self.objects.everywhere(|_| true)
    }

    /// The cluster has said which objects there are.
    pub(super) fn is_listed(&self) {
        self.is_complete.send_replace(true);
    }

    /// Wakes objects.
    pub fn wake(&self) -> Wake<S> {
        Wake {
            queue: self.queue.clone(),
            objects: Arc::clone(&self.objects),
        }
    }

    /// Makes `status` the status of an object. Sends nothing where it is that already.
    ///
    /// # Errors
    /// Where the cluster does not take it. What was told since the last time is then not told again.
    pub async fn write(&self, object: &Object<S>, status: &S::Status) -> kube::Result<()> {
        self.writer.write(object, status).await?;
        self.told.forget(&key_of(object));
        Ok(())
    }

    /// The status of an object, with what is yet to be written of it.
    pub fn said(&self, object: &Object<S>) -> S::Status {
        self.writer.said(object)
    }

    /// Says how far something has got, which is written only if nothing else is said of the object for a while.
    pub async fn show(&self, object: &Object<S>, status: S::Status) {
        self.writer.show_of_newest(object, status).await;
        self.told.forget(&key_of(object));
    }

    /// Tells what a run came to, but for what the runs have told already whose status was not written.
    pub fn tell_news(&self, object: &Object<S>, notices: Vec<Notice>, failure: Option<Notice>) {
        for notice in self.told.news(object, notices) {
            self.tell(object, notice);
        }
        for failure in self.told.news(object, failure.into_iter().collect()) {
            self.tell_failure(object, failure);
        }
    }

    /// Tells those who are notified what a run came to that has found all as it was. Nothing of it is written to the cluster.
    pub fn post_news(&self, object: &Object<S>, notices: Vec<Notice>) {
        for notice in self.told.news(object, notices) {
            tracing::info!(reason = notice.reason.as_str(), "{}", notice.message);
            self.recorder.post(object, notice);
        }
    }

    /// Tells how long a run on an object took, and how the object is after it, unless it is gone.
    pub fn observe(&self, object: &Object<S>, took: Duration, is_suspended: bool) {
        let (kind, key, metrics) = (S::NAMES.kind, key_of(object), &self.options.metrics);
        if object.metadata.deletion_timestamp.is_some() && !has_finalizer(object) {
            return metrics.forget(kind, &key);
        }
        let ready = object.status.as_ref();
        let ready = ready.and_then(|status| status.condition(ConditionType::READY));
        let ready = ready.map_or_else(String::new, |ready| ready.status.to_string());
        metrics.observe(kind, &key, took, &ready, is_suspended);
    }

    /// Logs what happened and tells the cluster.
    pub(super) fn tell(&self, object: &Object<S>, notice: Notice) {
        match notice.severity {
            Severity::Error => tracing::error!(error = notice.reason.as_str(), "{}", notice.message),
            Severity::Info | Severity::Trace => {
                tracing::info!(reason = notice.reason.as_str(), "{}", notice.message);
            }
        }
        self.recorder.tell(object, notice);
    }

    /// Logs why a run failed, in the words that controllers have for it, and tells the cluster.
    pub(super) fn tell_failure(&self, object: &Object<S>, notice: Notice) {
        if notice.severity != Severity::Error {
            return self.tell(object, notice);
        }
        tracing::error!(error = notice.message, "Reconciler error");
        self.recorder.tell(object, notice);
    }
}

#[cfg(test)]
impl<S: Spec<Status: ReconcileStatus + PartialEq>> Desk<S> {
    /// A desk without a cluster that knows these objects.
    pub(crate) fn of_objects(client: &Client, options: Options, objects: Vec<Object<S>>) -> Self {
        let recorder = Recorder::new(client.clone(), options.controller, None);
        let desk = Desk::new(client.clone(), recorder, &[], options);
        for object in objects {
            // Nothing older is known.
            let _ = desk.objects.keep(object);
        }
        desk.is_listed();
        desk
    }
}
