//! Statuses that tell how far a run has got. Most are over before anybody could read them, and each is a write that a server has
//! to carry out: they are written only if nothing else was said of the object for a while.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use api::{Object, ReconcileStatus, Spec};
use parking_lot::Mutex;
use tokio::task::JoinHandle;

use super::super::chain::chain;
use super::{Key, Sent, Writer, key_of};

/// How long a status that tells of progress waits for one that tells more.
pub(in super::super) const SHOWN_AFTER: Duration = Duration::from_secs(2);

/// What is to be said of objects, unless something else is.
pub(in super::super) struct Progress<S: Spec>(Mutex<HashMap<Key, Pending<S>>>);

struct Pending<S: Spec> {
    /// Which task is to write it: one that was ended may be about to look.
    number: u64,
    object: Object<S>,
    /// None when it was written.
    status: Option<S::Status>,
    is_writing: bool,
    task: JoinHandle<()>,
}

impl<S: Spec> Default for Progress<S> {
    fn default() -> Self {
        Progress(Mutex::new(HashMap::new()))
    }
}

impl<S: Spec> Progress<S> {
    /// The newest that is to be said of an object.
    fn of(&self, object: &Object<S>) -> Option<S::Status> {
        let pending = self.0.lock();
        let pending = pending.get(&key_of(object))?;
        let is_it = pending.object.metadata.uid == object.metadata.uid;
        pending.status.clone().filter(|_| is_it)
    }

    /// Says nothing of an object any more. What is being written at the moment is written before this returns, so that it does not
    /// come after what the caller writes.
    pub(super) async fn end(&self, key: &Key) {
        let pending = self.0.lock().remove(key);
        let Some(pending) = pending else { return };
        match pending.is_writing {
            // It fails only where it panicked or the process ends.
            true => drop(pending.task.await),
            false => pending.task.abort(),
        }
    }
}

impl<S: Spec<Status: ReconcileStatus + PartialEq>> Writer<S> {
    /// The status of an object, with what is yet to be written of it.
    pub(in super::super) fn said(&self, object: &Object<S>) -> S::Status {
        let pending = self.progress.of(object);
        pending.unwrap_or_else(|| object.status.clone().unwrap_or_default())
    }

    /// Says how far a run on an object has got, to be written if it stays so for a while.
    pub(in super::super) async fn show(self: &Arc<Self>, object: &Object<S>, status: S::Status) {
        match self.shown_after.is_zero() {
            true => self.show_now(object, &status).await,
            false => self.show_later(object, status),
        }
    }

    /// What cannot be written now is written with the end of the run. What somebody else has written meanwhile is not overwritten: it
    /// may be newer than this.
    async fn show_now(&self, object: &Object<S>, status: &S::Status) {
        match self.write_once(object, status).await {
            Ok(Sent::Written) => {}
            Ok(Sent::Refused(answer)) => tracing::debug!("progress is not written: {}", answer.message),
            Err(error) => tracing::debug!("failed to write progress: {}", chain(&error)),
        }
    }

    /// What was said of a status that is another one by now is not said any more.
    pub(in super::super) async fn show_of_newest(self: &Arc<Self>, object: &Object<S>, status: S::Status) {
        let newest = self.objects.get(&key_of(object));
        if newest.is_some_and(|newest| newest.status == object.status) {
            self.show(object, status).await;
        }
    }

    fn show_later(self: &Arc<Self>, object: &Object<S>, status: S::Status) {
        let key = key_of(object);
        let mut all = self.progress.0.lock();
        if let Some(pending) = all.get_mut(&key) {
            (pending.object, pending.status) = (object.clone(), Some(status));
            return;
        }
        let (writer, later, number) = (Arc::clone(self), key.clone(), fastrand::u64(..));
        let task = tokio::spawn(async move {
            loop {
                tokio::time::sleep(writer.shown_after).await;
                let Some((object, status)) = writer.take(&later, number) else {
                    return;
                };
                writer.show_now(&object, &status).await;
                if writer.is_shown(&later, number) {
                    return;
                }
            }
        });
        let pending = Pending {
            number,
            object: object.clone(),
            status: Some(status),
            is_writing: false,
            task,
        };
        all.insert(key, pending);
    }

    /// What is to be written now, if anything.
    fn take(&self, key: &Key, number: u64) -> Option<(Object<S>, S::Status)> {
        let mut all = self.progress.0.lock();
        let pending = all.get_mut(key).filter(|pending| pending.number == number)?;
        pending.is_writing = true;
        Some((pending.object.clone(), pending.status.take()?))
    }

    /// Whether all of it was written. Then it is forgotten.
    fn is_shown(&self, key: &Key, number: u64) -> bool {
        let mut all = self.progress.0.lock();
        let Some(pending) = all.get_mut(key).filter(|pending| pending.number == number) else {
            return true;
        };
        pending.is_writing = false;
        let is_shown = pending.status.is_none();
        if is_shown {
            all.remove(key);
        }
        is_shown
    }
}

#[cfg(test)]
mod tests {
    use api::source::OciRepositoryStatus;
    use kube::Client;
    use kube::api::{Patch, PatchParams};
    use serde_json::json;

    use super::super::tests::{blind, status};
    use super::*;

    const MOMENT: Duration = Duration::from_millis(1);

    fn at(url: &str) -> OciRepositoryStatus {
        let mut status = status();
        status.url = Some(url.into());
        status
    }

    #[tokio::test(start_paused = true)]
    async fn progress_that_is_over_soon_is_never_written() {
        let (_cluster, api, writer, object) = blind().await;
        let writer = Arc::new(writer);
        writer.show(&object, at("http://begun")).await;
        tokio::time::sleep(SHOWN_AFTER - MOMENT).await;
        assert_eq!(writer.said(&object), at("http://begun"));
        let untouched = api.get("one").await.unwrap();
        assert_eq!(
            untouched.metadata.resource_version,
            object.metadata.resource_version
        );
        writer.write(&object, &at("http://done")).await.unwrap();
        let done = api.get("one").await.unwrap();
        tokio::time::sleep(3 * SHOWN_AFTER).await;
        assert_eq!(api.get("one").await.unwrap().metadata, done.metadata);
        assert_eq!(done.status, Some(at("http://done")));
        assert_eq!(writer.said(&done), at("http://done"));
    }

    #[tokio::test(start_paused = true)]
    async fn progress_that_lasts_is_written_and_what_follows_it_too() {
        let (_cluster, api, writer, object) = blind().await;
        let writer = Arc::new(writer);
        for step in ["http://one", "http://two"] {
            writer.show(&object, at("http://passing")).await;
            writer.show(&object, at(step)).await;
            tokio::time::sleep(2 * SHOWN_AFTER).await;
            let shown = writer.objects.get(&key_of(&object)).unwrap();
            assert_eq!(shown.status, Some(at(step)));
            assert_eq!(api.get("one").await.unwrap().status, Some(at(step)));
        }
    }

    /// Another process may have gone on meanwhile, and its end is not overwritten by what is out of date.
    #[tokio::test(start_paused = true)]
    async fn progress_gives_way_to_what_somebody_else_has_written() {
        let (_cluster, api, writer, object) = blind().await;
        let writer = Arc::new(writer);
        writer.show(&object, at("http://begun")).await;
        let theirs = json!({"status": at("http://theirs")});
        let patch = Patch::Merge(&theirs);
        api.patch_status("one", &PatchParams::default(), &patch)
            .await
            .unwrap();
        tokio::time::sleep(3 * SHOWN_AFTER).await;
        assert_eq!(api.get("one").await.unwrap().status, Some(at("http://theirs")));
    }

    /// What is on its way when a run ends does not come after the end.
    #[tokio::test(start_paused = true)]
    async fn progress_never_overwrites_the_end() {
        let (_cluster, api, writer, object) = blind().await;
        let client = writer.client.clone();
        let service = tower::service_fn(move |request: http::Request<kube::client::Body>| {
            let client = client.clone();
            async move {
                tokio::time::sleep(SHOWN_AFTER).await;
                client.send(request).await
            }
        });
        let writer = Arc::new(Writer {
            client: Client::new(service, "default"),
            ..writer
        });
        writer.show(&object, at("http://begun")).await;
        tokio::time::sleep(SHOWN_AFTER + MOMENT).await;
        writer.write(&object, &at("http://done")).await.unwrap();
        tokio::time::sleep(3 * SHOWN_AFTER).await;
        assert_eq!(api.get("one").await.unwrap().status, Some(at("http://done")));
    }
}
