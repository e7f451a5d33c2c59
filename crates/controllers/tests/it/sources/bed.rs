//! A cluster with the kinds of one controller, a store, and the controller at work.

use std::sync::Arc;
use std::time::Duration;

use api::{Condition, Object, ReconcileStatus, Spec};
use controllers::kit::{Key, Options, Queue, Reconcile, Recorder, Runner};
use controllers::sources::Shared;
use futures::StreamExt;
use k8s_openapi::api::core::v1::{Event, ServiceAccount};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::runtime::watcher;
use kube::{Api, Client};
use serde_json::{Value, json};
use source::identity::{self, Environment, Identities};
use source::store::{self, Store};
use testkit::Cluster;
use testkit::cluster::object_settled;

const LIMIT: Duration = testkit::DEADLINE;

/// What a test works with.
pub(crate) struct Bed<S: Spec> {
    pub(crate) cluster: Cluster,
    pub(crate) namespace: String,
    pub(crate) store: Arc<Store>,
    pub(crate) api: Api<Object<S>>,
    /// Where controllers that are yet to run post events to.
    pub(crate) post_to: Option<String>,
    /// The labels of objects that controllers that are yet to run work on.
    pub(crate) shard: Option<String>,
    pub(crate) shared: Shared,
    pub(super) folder: tempfile::TempDir,
    running: Vec<tokio::task::JoinHandle<()>>,
}

impl<S: Spec<Status: ReconcileStatus + PartialEq>> Bed<S> {
    /// A cluster that serves the kind; nobody works on it yet.
    pub(crate) async fn start() -> Self {
        let cluster = Cluster::start().await;
        let namespace = cluster.namespace("sources").await;
        let folder = tempfile::tempdir().unwrap();
        let clock: store::Clock = Arc::new(jiff::Timestamp::now);
        // Only what is current stays, so that every run shows that it does.
        let options = store::Options {
            retention_ttl: Duration::ZERO,
            ..store::Options::new("store.test")
        };
        let store = Store::open(folder.path(), options, clock).unwrap();
        let store = Arc::new(store);
        let repositories = source::git::Cache::open(folder.path().join(".git-cache")).unwrap();
        let mut shared = Shared::new(cluster.client(), Arc::clone(&store), repositories);
        shared.identities = nobody();
        let api = Api::namespaced(cluster.client(), &namespace);
        let bed = Bed {
            cluster,
            namespace,
            store,
            api,
            post_to: None,
            shard: None,
            shared,
            folder,
            running: Vec::new(),
        };
        bed.serve::<S>().await;
        bed
    }

    /// Has the cluster serve one more kind.
    pub(crate) async fn serve<T: Spec>(&self) {
        let definition = T::definition().to_value();
        let definition: Value = serde_json::to_value(&definition).unwrap();
        self.cluster.serve(&definition).await;
    }

    /// Has a controller work; its queue tells which object is due when.
    pub(crate) fn run<R: Reconcile>(&mut self, controller: impl FnOnce(Shared) -> R) -> Queue<Key> {
        self.run_through(self.cluster.client(), controller)
    }

    /// Has a controller work that reaches the cluster by this client.
    pub(crate) fn run_through<R: Reconcile>(
        &mut self,
        client: Client,
        controller: impl FnOnce(Shared) -> R,
    ) -> Queue<Key> {
        let recorder = Recorder::new(client.clone(), "source-controller", self.post_to.clone());
        let options = Options {
            namespace: Some(self.namespace.clone()),
            label_selector: self.shard.clone(),
            // Each step is to be seen, however soon it is over.
            shown_after: Duration::ZERO,
            ..Options::new("source-controller")
        };
        let runner = Runner::new(controller(self.shared.clone()), client, recorder, options);
        let queue = runner.queue().clone();
        self.running.push(tokio::spawn(runner.run()));
        queue
    }

    /// A directory for what is thrown away.
    pub(crate) fn scratch(&self) -> std::path::PathBuf {
        self.folder.path().to_owned()
    }

    /// Ends all controllers at once, as a crash does.
    pub(crate) fn kill(&mut self) {
        for running in self.running.drain(..) {
            running.abort();
        }
    }

    pub(crate) async fn create(&self, name: &str, spec: Value) {
        self.create_other::<S>(name, spec).await;
    }

    /// Creates an object of any kind that is served.
    pub(crate) async fn create_other<T: Spec>(&self, name: &str, spec: Value) {
        let names = T::NAMES;
        let object = json!({
            "apiVersion": names.api_version(), "kind": names.kind,
            "metadata": {"name": name, "namespace": self.namespace}, "spec": spec,
        });
        let object: Object<T> = serde_json::from_value(object).unwrap();
        let api = self.other::<T>();
        api.create(&PostParams::default(), &object).await.unwrap();
    }

    /// Objects of another kind.
    pub(crate) fn other<T: Spec>(&self) -> Api<Object<T>> {
        Api::namespaced(self.cluster.client(), &self.namespace)
    }

    pub(crate) async fn patch(&self, name: &str, patch: Value) {
        let parameters = PatchParams::default();
        self.api
            .patch(name, &parameters, &Patch::Merge(&patch))
            .await
            .unwrap();
    }

    pub(crate) async fn secret(&self, name: &str, kind: &str, data: Value) {
        let api: Api<k8s_openapi::api::core::v1::Secret> =
            Api::namespaced(self.cluster.client(), &self.namespace);
        let secret = json!({"metadata": {"name": name}, "type": kind, "stringData": data});
        let secret = serde_json::from_value(secret).unwrap();
        api.create(&PostParams::default(), &secret).await.unwrap();
    }

    /// An account that may do everything with objects of these kinds of the core, and nothing else.
    pub(crate) async fn account(&self, name: &str, resources: &[&str]) {
        let by = PostParams::default();
        let account = json!({"metadata": {"name": name}});
        let accounts: Api<ServiceAccount> = Api::namespaced(self.cluster.client(), &self.namespace);
        let account = serde_json::from_value(account).unwrap();
        accounts.create(&by, &account).await.unwrap();
        let role = json!({
            "metadata": {"name": name},
            "rules": [{"apiGroups": [""], "resources": resources, "verbs": ["*"]}],
        });
        let roles: Api<Role> = Api::namespaced(self.cluster.client(), &self.namespace);
        let role = serde_json::from_value(role).unwrap();
        roles.create(&by, &role).await.unwrap();
        let binding = json!({
            "metadata": {"name": name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
            "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": self.namespace}],
        });
        let bindings: Api<RoleBinding> = Api::namespaced(self.cluster.client(), &self.namespace);
        let binding = serde_json::from_value(binding).unwrap();
        bindings.create(&by, &binding).await.unwrap();
    }

    /// A kubeconfig of the cluster, with all in it that it needs, as somebody who shows this token if one is given.
    pub(crate) async fn kubeconfig(&self, token: Option<&str>) -> String {
        let path = self.cluster.kubeconfig().await;
        let config = yaml::parse(&std::fs::read(&path).unwrap()).unwrap();
        let mut config: Value = serde_json::to_value(config).unwrap();
        if let Some(token) = token {
            for user in config["users"].as_array_mut().unwrap() {
                user["user"] = json!({"token": token});
            }
        }
        config.to_string()
    }

    /// The status, once it is as it should be.
    pub(crate) async fn until(&self, name: &str, mut holds: impl FnMut(&Object<S>) -> bool) -> Object<S> {
        let settled = object_settled(self.api.clone(), name, LIMIT, |object| match object {
            Some(object) if holds(object) => Ok(object.clone()),
            Some(object) => Err(format!("{:?}", object.status)),
            None => Err("it is not there".into()),
        });
        settled.await.unwrap()
    }

    /// Waits until `Ready` has this status and reason and nothing goes on.
    pub(crate) async fn ready(&self, name: &str, status: &str, reason: &str) -> Object<S> {
        self.until(name, |object| {
            let ready = condition(object, "Ready");
            ready.is_some_and(|ready| ready.status.to_string() == status && ready.reason == reason)
        })
        .await
    }

    /// The same for an object of another kind.
    pub(crate) async fn ready_other<T>(&self, name: &str, status: &str, reason: &str)
    where
        T: Spec<Status: ReconcileStatus + PartialEq>,
    {
        let settled = object_settled(self.other::<T>(), name, LIMIT, |object| match object {
            Some(object) => match condition(object, "Ready") {
                Some(ready) if ready.status.to_string() == status && ready.reason == reason => Ok(()),
                _ => Err(format!("{:?}", object.status)),
            },
            None => Err("it is not there".into()),
        });
        settled.await.unwrap();
    }

    pub(crate) async fn delete(&self, name: &str) {
        self.api.delete(name, &DeleteParams::default()).await.unwrap();
        self.gone(name).await;
    }

    /// Waits until an object is gone.
    pub(crate) async fn gone(&self, name: &str) {
        let gone = object_settled(self.api.clone(), name, LIMIT, |object| match object {
            None => Ok(()),
            Some(_) => Err("it is still there".into()),
        });
        gone.await.unwrap();
    }

    /// The names in an artifact.
    pub(crate) fn names(&self, artifact: Option<&model::Artifact>) -> Vec<String> {
        let file = self.store.read(artifact.unwrap()).unwrap();
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(file));
        let entries = archive.entries().unwrap();
        entries
            .map(|entry| entry.unwrap().path().unwrap().display().to_string())
            .collect()
    }

    /// Waits until this was told of an object.
    pub(crate) async fn until_told(&self, name: &str, kind: &str, reason: &str, message: &str) {
        self.until_event(|event| {
            let text = |field: &Option<String>| field.clone().unwrap_or_default();
            let told = (text(&event.type_), text(&event.reason), text(&event.message));
            event.involved_object.name.as_deref() == Some(name)
                && (told.0.as_str(), told.1.as_str(), told.2.as_str()) == (kind, reason, message)
        })
        .await;
    }

    /// Waits for an Event.
    pub(crate) async fn until_event(&self, is_wanted: impl Fn(&Event) -> bool) -> Event {
        let api: Api<Event> = Api::namespaced(self.cluster.client(), &self.namespace);
        let changes = kube::runtime::watcher(api, Default::default());
        let mut changes = std::pin::pin!(changes);
        let mut seen = Vec::new();
        let found = tokio::time::timeout(LIMIT, async {
            while let Some(change) = changes.next().await {
                let event = match change.unwrap() {
                    watcher::Event::Apply(event) | watcher::Event::InitApply(event) => event,
                    _ => continue,
                };
                if is_wanted(&event) {
                    return event;
                }
                seen.push((
                    event.involved_object.name,
                    event.type_,
                    event.reason,
                    event.message,
                ));
            }
            panic!("the watch ended");
        });
        match found.await {
            Ok(event) => event,
            Err(_) => panic!("it was not told, but: {seen:?}"),
        }
    }
}

impl<S: Spec> Drop for Bed<S> {
    fn drop(&mut self) {
        for running in self.running.drain(..) {
            running.abort();
        }
    }
}

/// A process that is nobody to all clouds: no machine that tests run on is asked who it is.
pub(crate) fn nobody() -> Identities {
    Identities::new(nobody_settings(Environment::default()))
}

/// The same, with an environment.
pub(crate) fn nobody_settings(environment: Environment) -> identity::Settings {
    let mut settings = identity::Settings::new(environment);
    let closed = || Some("http://127.0.0.1:1".to_owned());
    let endpoints = &mut settings.endpoints;
    for endpoint in [
        &mut endpoints.aws_metadata,
        &mut endpoints.azure_metadata,
        &mut endpoints.gcp_metadata,
    ] {
        *endpoint = endpoint.take().or_else(closed);
    }
    settings
}

pub(crate) fn condition<S: Spec<Status: ReconcileStatus>>(
    object: &Object<S>,
    kind: &str,
) -> Option<Condition> {
    let conditions = object.status.as_ref()?.conditions().iter();
    conditions.into_iter().find(|one| one.kind == kind).cloned()
}
