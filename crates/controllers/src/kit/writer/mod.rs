//! Writes to the cluster what differs, and keeps the newest that is known of each object.

mod finalizers;
mod progress;

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use api::{ConditionType, Object, ReconcileStatus, Spec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use kube::api::{Api, Patch, PatchParams};
use kube::core::{ApiResource, DynamicObject, Status};
use kube::{Client, ResourceExt};
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::{Value, json};

use super::asks::asked;
use super::queue::Queue;
use super::status;
use finalizers::is_held;
pub(super) use progress::{Progress, SHOWN_AFTER};

/// How often a status is tried to be written that somebody else changes meanwhile, and how long is waited in between, at least:
/// up to as long again, so that those who met do not meet again.
const ATTEMPTS: usize = 5;
const WAIT: Duration = Duration::from_millis(100);

/// What became of a patch.
enum Sent {
    /// It was taken, or the object is gone.
    Written,
    /// Somebody else has written meanwhile.
    Refused(Box<Status>),
}

/// Namespace and name.
pub type Key = (String, String);

/// The newest that is known of each object, by watch or by our own writes.
pub(super) struct Objects<S: Spec> {
    known: Mutex<HashMap<Key, Arc<Object<S>>>>,
    /// Whose fields are of interest.
    manager: Option<&'static str>,
}

impl<S: Spec> Objects<S> {
    pub(super) fn new() -> Self {
        Objects {
            known: Mutex::new(HashMap::new()),
            manager: None,
        }
    }

    /// Objects of which it is known what of their metadata this manager has applied.
    pub(super) fn with_fields_of(manager: &'static str) -> Self {
        Objects {
            manager: Some(manager),
            ..Objects::new()
        }
    }

    pub(super) fn get(&self, key: &Key) -> Option<Arc<Object<S>>> {
        self.known.lock().get(key).cloned()
    }

    pub(super) fn remove(&self, key: &Key) {
        self.known.lock().remove(key);
    }

    /// All of a namespace of which this holds.
    pub(super) fn all(&self, namespace: &str, holds: impl Fn(&Object<S>) -> bool) -> Vec<Arc<Object<S>>> {
        self.everywhere(|object| object.metadata.namespace.as_deref() == Some(namespace) && holds(object))
    }

    /// All of which this holds.
    pub(super) fn everywhere(&self, holds: impl Fn(&Object<S>) -> bool) -> Vec<Arc<Object<S>>> {
        let objects = self.known.lock();
        let there = objects.values().filter(|object| holds(object));
        there.map(Arc::clone).collect()
    }

    /// Keeps an object if it is newer than what is known, which it then gives back.
    pub(super) fn keep(&self, mut object: Object<S>) -> Result<Option<Arc<Object<S>>>, Older> {
        // Who wrote which field is of no use here, and often more than all the rest.
        let managed = object.metadata.managed_fields.take();
        object.metadata.managed_fields = self.manager.map(|manager| applied_metadata(managed, manager));
        let mut objects = self.known.lock();
        let known = objects.get(&key_of(&object));
        if known.is_some_and(|known| version(known) > version(&object)) {
            return Err(Older);
        }
        Ok(objects.insert(key_of(&object), Arc::new(object)))
    }

    /// Keeps an object if it is newer than what is known; whether it asks for work: its spec changed, somebody asked, it is to go, or somebody
    /// has taken its finalizer away, without which it is not worked on.
    fn put(&self, object: Object<S>) -> bool {
        let metadata = object.metadata.clone();
        let asked = asked(&object);
        match self.keep(object) {
            Err(Older) => false,
            Ok(known) => known.is_none_or(|known| {
                known.metadata.uid != metadata.uid
                    || known.metadata.generation != metadata.generation
                    || known.metadata.deletion_timestamp != metadata.deletion_timestamp
                    || self::asked(&known) != asked
                    || (is_held(&known.metadata) && !is_held(&metadata))
            }),
        }
    }
}

/// What of the metadata of an object a manager has applied.
fn applied_metadata(managed: Option<Vec<ManagedFieldsEntry>>, manager: &str) -> Vec<ManagedFieldsEntry> {
    let is_its = |entry: &ManagedFieldsEntry| {
        entry.manager.as_deref() == Some(manager) && entry.operation.as_deref() == Some("Apply")
    };
    let mut applied: Vec<_> = managed.into_iter().flatten().filter(is_its).collect();
    for fields in applied.iter_mut().filter_map(|entry| entry.fields_v1.as_mut()) {
        if let Some(fields) = fields.0.as_object_mut() {
            fields.retain(|name, _| name == "f:metadata");
        }
    }
    applied
}

/// An object is older than what is known of it.
#[derive(Debug)]
pub(super) struct Older;

/// Where an object is.
pub(super) fn key_of<S: Spec>(object: &Object<S>) -> Key {
    (object.namespace().unwrap_or_default(), object.name_any())
}

/// Versions are numbers that grow; one that is none counts as old.
fn version<S: Spec>(object: &Object<S>) -> u64 {
    let text = object.metadata.resource_version.as_deref();
    text.and_then(|text| text.parse().ok()).unwrap_or_default()
}

/// Who writes statuses and finalizers. That of Kustomizations has another name than who applies objects, as with Flux: a Kustomization that
/// another one has applied would lose its finalizer to that one, which takes over what its own name has written.
fn manager(controller: &str) -> &str {
    match controller {
        "kustomize-controller" => "gotk-kustomize-controller",
        controller => controller,
    }
}

/// Writes objects of one kind.
pub(super) struct Writer<S: Spec> {
    pub client: Client,
    pub controller: &'static str,
    /// The conditions that make up `Ready`: these and `Ready` are ours, all others are somebody else's.
    pub owned: &'static [ConditionType],
    pub objects: Arc<Objects<S>>,
    /// Who works on what changed.
    pub queue: Queue<Key>,
    /// What is written if it lasts.
    pub progress: Progress<S>,
    /// After how long it is written; at once where that is zero.
    pub shown_after: Duration,
}

impl<S: Spec<Status: ReconcileStatus + PartialEq>> Writer<S> {
    /// Takes note of an object as the cluster has it, and has it worked on if it asks for that. The answer to a write of ours
    /// can be the first that tells of a change of somebody else: the watch then has nothing new to say.
    pub(super) fn see(&self, object: Object<S>) {
        let key = key_of(&object);
        if self.objects.put(object) {
            self.queue.add(key);
        }
    }

    /// Forgets an object that is gone, if no other has taken its name.
    fn forget(&self, object: &Object<S>) {
        let key = key_of(object);
        let known = self.objects.get(&key);
        if known.is_some_and(|known| known.metadata.uid == object.metadata.uid) {
            self.objects.remove(&key);
        }
    }

    fn api(&self, object: &Object<S>) -> Api<Object<S>> {
        Api::namespaced(self.client.clone(), &object.namespace().unwrap_or_default())
    }

    pub(super) fn parameters(&self) -> PatchParams {
        PatchParams {
            field_manager: Some(manager(self.controller).to_owned()),
            ..PatchParams::default()
        }
    }

    /// A status with the conditions that somebody else has set meanwhile.
    fn with_foreign(&self, status: &S::Status, base: Option<&S::Status>) -> S::Status {
        let is_foreign = |kind: &str| {
            let mut owned = self.owned.iter();
            kind != ConditionType::READY.as_str() && owned.all(|owned| owned.as_str() != kind)
        };
        let mut status = status.clone();
        status
            .conditions_mut()
            .retain(|condition| !is_foreign(&condition.kind));
        let base = base.map(ReconcileStatus::conditions).unwrap_or_default().iter();
        let foreign = base.filter(|condition| is_foreign(&condition.kind));
        status.conditions_mut().extend(foreign.cloned());
        status
    }

    /// Makes `status` the status of the object, beside what others say of it. Sends nothing where it is that already.
    pub(super) async fn write(&self, object: &Object<S>, status: &S::Status) -> kube::Result<()> {
        self.progress.end(&key_of(object)).await;
        self.write_now(object, status).await
    }

    async fn write_now(&self, object: &Object<S>, status: &S::Status) -> kube::Result<()> {
        match self.write_once(object, status).await? {
            Sent::Written => Ok(()),
            Sent::Refused(answer) => self.write_beside_others(object, status, answer).await,
        }
    }

    /// Writes a status unless somebody else has written the object meanwhile.
    async fn write_once(&self, object: &Object<S>, status: &S::Status) -> kube::Result<Sent> {
        let newest = self.objects.get(&key_of(object));
        let base = newest.as_deref().unwrap_or(object);
        let wanted = self.with_foreign(status, base.status.as_ref());
        if base.metadata.uid != object.metadata.uid || base.status.as_ref() == Some(&wanted) {
            return Ok(Sent::Written);
        }
        let old = serde_json::to_value(&base.status).map_err(kube::Error::SerdeError)?;
        let new = serde_json::to_value(&wanted).map_err(kube::Error::SerdeError)?;
        let Some(change) = status::patch(&old, &new) else {
            return Ok(Sent::Written);
        };
        let patch = json!({
            "metadata": {"resourceVersion": base.metadata.resource_version},
            "status": change,
        });
        self.send(object, &Patch::Merge(&patch)).await
    }

    /// Writes a status while others write the object too. What is sent depends on the conditions alone: others may write
    /// whatever else, and as often as they like.
    async fn write_beside_others(
        &self,
        object: &Object<S>,
        status: &S::Status,
        mut refused: Box<Status>,
    ) -> kube::Result<()> {
        let resource = ApiResource::erase::<Object<S>>(&());
        let namespace = object.namespace().unwrap_or_default();
        let api: Api<DynamicObject> = Api::namespaced_with(self.client.clone(), &namespace, &resource);
        for _ in 1..ATTEMPTS {
            tokio::time::sleep(WAIT.mul_f64(1.0 + fastrand::f64())).await;
            let Some(newest) = api.get_opt(&object.name_any()).await? else {
                self.forget(object);
                return Ok(());
            };
            // The conditions that are tested are those of the answer, to the letter.
            let answer = serde_json::to_value(newest).map_err(kube::Error::SerdeError)?;
            let newest: Object<S> =
                serde_json::from_value(answer.clone()).map_err(kube::Error::SerdeError)?;
            let wanted = self.with_foreign(status, newest.status.as_ref());
            if newest.metadata.uid != object.metadata.uid {
                return Ok(());
            }
            if newest.status.as_ref() == Some(&wanted) {
                self.see(newest);
                return Ok(());
            }
            let wanted = serde_json::to_value(&wanted).map_err(kube::Error::SerdeError)?;
            let patch = Value::Array(status::guarded_patch(&answer, &wanted));
            let patch = serde_json::from_value(patch).map_err(kube::Error::SerdeError)?;
            match self.send(object, &Patch::<()>::Json(patch)).await? {
                Sent::Written => return Ok(()),
                Sent::Refused(answer) => refused = answer,
            }
        }
        Err(kube::Error::Api(refused))
    }

    /// Sends a patch of a status that may depend on what was there before. An object that is gone needs none.
    async fn send<P: Serialize + Debug>(&self, object: &Object<S>, patch: &Patch<P>) -> kube::Result<Sent> {
        let api = self.api(object);
        match api
            .patch_status(&object.name_any(), &self.parameters(), patch)
            .await
        {
            Ok(object) => {
                self.see(object);
                Ok(Sent::Written)
            }
            Err(kube::Error::Api(answer)) if answer.code == 404 => {
                self.forget(object);
                Ok(Sent::Written)
            }
            // A test in a JSON patch that fails is answered with 422.
            Err(kube::Error::Api(answer)) if matches!(answer.code, 409 | 422) => Ok(Sent::Refused(answer)),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use api::source::{OciRepositorySpec, OciRepositoryStatus};
    use kube::api::PostParams;
    use testkit::Cluster;

    use super::super::asks::REQUESTED_AT;
    use super::super::queue::Backoff;
    use super::super::runner::FINALIZER;
    use super::*;

    pub(super) type Repository = Object<OciRepositorySpec>;

    /// A repository in a cluster, and a writer that knows of it but sees nothing of what becomes of it.
    pub(super) async fn blind() -> (Cluster, Api<Repository>, Writer<OciRepositorySpec>, Repository) {
        let cluster = Cluster::embedded(apiserver::Server::builder());
        let definition = <OciRepositorySpec as Spec>::definition();
        cluster
            .serve(&serde_json::to_value(definition.to_value()).unwrap())
            .await;
        let api: Api<Repository> = Api::namespaced(cluster.client(), "default");
        let object = serde_json::from_value(json!({
            "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "OCIRepository", "metadata": {"name": "one"},
            "spec": {"url": "oci://registry.test/one", "interval": "1m"},
        }));
        let object = api
            .create(&PostParams::default(), &object.unwrap())
            .await
            .unwrap();
        let writer = Writer {
            client: cluster.client(),
            controller: "writer",
            owned: &[],
            objects: Arc::new(Objects::new()),
            queue: Queue::new(Backoff::default()),
            progress: Progress::default(),
            shown_after: SHOWN_AFTER,
        };
        writer.objects.put(object.clone());
        (cluster, api, writer, object)
    }

    pub(super) fn status() -> OciRepositoryStatus {
        serde_json::from_value(json!({"observedGeneration": 1})).unwrap()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_request_that_an_answer_tells_of_first_is_not_lost() {
        let (_cluster, api, writer, object) = blind().await;
        let request = json!({"metadata": {"annotations": {REQUESTED_AT: "now"}}});
        let (parameters, request) = (PatchParams::default(), Patch::Merge(&request));
        let asked = api.patch("one", &parameters, &request).await.unwrap();
        writer.write(&object, &status()).await.unwrap();
        // The watch has nothing to add to what the answer said.
        writer.see(asked);
        assert!(writer.queue.due(&key_of(&object)).is_some());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_object_whose_finalizer_somebody_takes_away_asks_for_work() {
        let (_cluster, _, writer, mut object) = blind().await;
        let mut changed = |finalizers: Option<Vec<String>>, version: &str| {
            object.metadata.finalizers = finalizers;
            object.metadata.resource_version = Some(version.to_owned());
            writer.objects.put(object.clone())
        };
        assert!(!changed(Some(vec![FINALIZER.to_owned()]), "1000000"));
        assert!(changed(None, "1000001"));
        assert!(!changed(None, "1000002"), "it is told once");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_write_of_ours_asks_for_no_work() {
        let (_cluster, _, writer, object) = blind().await;
        writer.write(&object, &status()).await.unwrap();
        assert!(writer.queue.due(&key_of(&object)).is_none());
    }

    /// A writer that somebody else is faster than: before each of its writes the object is changed.
    fn overtaken(
        writer: Writer<OciRepositorySpec>,
        api: Api<Repository>,
        change: impl Fn(u64) -> Option<(&'static str, Value)> + Send + Sync + 'static,
    ) -> Writer<OciRepositorySpec> {
        let (client, writes) = (writer.client.clone(), AtomicU64::new(0));
        let change = Arc::new(change);
        let service = tower::service_fn(move |request: http::Request<kube::client::Body>| {
            let (client, api) = (client.clone(), api.clone());
            let write = request.method() == http::Method::PATCH;
            let change = write.then(|| change(writes.fetch_add(1, Ordering::Relaxed)));
            async move {
                if let Some(Some((subresource, patch))) = change {
                    let (parameters, patch) = (PatchParams::default(), Patch::Merge(&patch));
                    match subresource {
                        "status" => api.patch_status("one", &parameters, &patch).await?,
                        _ => api.patch("one", &parameters, &patch).await?,
                    };
                }
                client.send(request).await
            }
        });
        Writer {
            client: Client::new(service, "default"),
            ..writer
        }
    }

    fn condition(kind: &str) -> Value {
        json!({
            "type": kind, "status": "True", "reason": "R", "message": "m", "lastTransitionTime": "2026-01-01T00:00:00Z",
        })
    }

    /// C10: whoever writes without pause keeps no status from being written.
    #[tokio::test(start_paused = true)]
    async fn a_status_is_written_beside_others_who_never_stop() {
        let (_cluster, api, writer, object) = blind().await;
        // There are conditions, as in all statuses but the first.
        let mine = json!({"observedGeneration": 1, "conditions": [condition("Ready")]});
        let mine: OciRepositoryStatus = serde_json::from_value(mine).unwrap();
        writer.write(&object, &mine).await.unwrap();
        let writer = overtaken(writer, api.clone(), |write| {
            let beat = json!({"metadata": {"annotations": {"beat": write.to_string()}}});
            Some(("", beat))
        });
        let start = tokio::time::Instant::now();
        let mut next = mine.clone();
        next.url = Some("http://next".into());
        writer.write(&object, &next).await.unwrap();
        let took = start.elapsed();
        let written = api.get("one").await.unwrap();
        assert_eq!(written.status, Some(next));
        assert_eq!(written.metadata.annotations.unwrap()["beat"], "1");
        // One wait, between the only two attempts.
        assert!(took >= WAIT && took <= 2 * WAIT, "{took:?}");
    }

    /// C10: conditions of others are kept, however they come in between; ours win.
    #[tokio::test(start_paused = true)]
    async fn conditions_that_others_write_in_between_are_kept() {
        let (_cluster, api, mut writer, object) = blind().await;
        writer.owned = &[ConditionType::FETCH_FAILED];
        let mine = json!({"observedGeneration": 1, "conditions": [condition("Ready")]});
        let mine: OciRepositoryStatus = serde_json::from_value(mine).unwrap();
        let writer = overtaken(writer, api.clone(), |write| {
            let theirs = match write {
                0 => json!([condition("A"), condition("FetchFailed")]),
                1 => json!([condition("A"), condition("B"), condition("FetchFailed")]),
                _ => return None,
            };
            Some(("status", json!({"status": {"conditions": theirs}})))
        });
        let start = tokio::time::Instant::now();
        writer.write(&object, &mine).await.unwrap();
        let took = start.elapsed();
        let written = api.get("one").await.unwrap().status.unwrap();
        let kinds: Vec<&str> = written.conditions().iter().map(|one| one.kind.as_str()).collect();
        assert_eq!(kinds, ["Ready", "A", "B"]);
        assert!(took >= 2 * WAIT && took < 4 * WAIT, "{took:?}");
    }

    /// X7: whoever writes without pause keeps no finalizer from being added, and none that others add is lost.
    #[tokio::test(start_paused = true)]
    async fn finalizers_are_set_beside_others_who_never_stop() {
        let (_cluster, api, writer, object) = blind().await;
        let writer = overtaken(writer, api.clone(), |write| {
            let mut theirs = json!({"annotations": {"beat": write.to_string()}});
            if write == 0 {
                theirs["finalizers"] = json!(["example.com/theirs"]);
            }
            Some(("", json!({"metadata": theirs})))
        });
        let add = |old: &[String]| [old, &["example.com/ours".to_owned()]].concat();
        writer.set_finalizers(&object, add).await.unwrap();
        let written = api.get("one").await.unwrap();
        assert_eq!(written.finalizers(), ["example.com/theirs", "example.com/ours"]);
        assert_eq!(
            written.annotations()["beat"],
            "1",
            "the second attempt was the last"
        );
        let remove = |old: &[String]| -> Vec<String> {
            let rest = old.iter().filter(|one| *one != "example.com/ours");
            rest.cloned().collect()
        };
        writer.set_finalizers(&object, remove).await.unwrap();
        assert_eq!(api.get("one").await.unwrap().finalizers(), ["example.com/theirs"]);
    }

    /// C10: after five attempts it is given up for now.
    #[tokio::test(start_paused = true)]
    async fn a_status_whose_conditions_never_rest_is_given_up() {
        let (_cluster, api, writer, object) = blind().await;
        let writer = overtaken(writer, api.clone(), |write| {
            let theirs = [condition(&format!("A{write}"))];
            Some(("status", json!({"status": {"conditions": theirs}})))
        });
        let start = tokio::time::Instant::now();
        let error = writer.write(&object, &status()).await.unwrap_err();
        assert!(matches!(error, kube::Error::Api(_)), "{error}");
        let took = start.elapsed();
        assert!(took >= 4 * WAIT && took < 8 * WAIT, "{took:?}");
        let written = api.get("one").await.unwrap().status.unwrap();
        assert_eq!(written.conditions()[0].kind, "A4", "so often it was tried");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_object_that_is_gone_is_forgotten() {
        let (_cluster, api, writer, object) = blind().await;
        api.delete("one", &Default::default()).await.unwrap();
        writer.write(&object, &status()).await.unwrap();
        assert!(writer.objects.get(&key_of(&object)).is_none());
    }
}
