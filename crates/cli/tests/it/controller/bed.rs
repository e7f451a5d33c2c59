//! A cluster that serves the source kinds, a directory for artifacts, and ports for one instance of the program.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kube::Api;
use kube::api::{DynamicObject, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};
use testkit::Cluster;
use testkit::cluster::object_settled;

use super::program::{Options, Program};

/// Far more than anything takes, so that only what hangs fails.
pub(crate) const LIMIT: Duration = testkit::DEADLINE;

const GROUP: &str = "source.toolkit.fluxcd.io";

/// What a test works with.
pub(crate) struct Bed {
    pub(crate) cluster: Cluster,
    pub(crate) namespace: String,
    pub(crate) kubeconfig: PathBuf,
    pub(crate) storage: PathBuf,
    pub(crate) port: u16,
    _folder: tempfile::TempDir,
}

impl Bed {
    pub(crate) async fn start() -> Self {
        Bed::on(Cluster::start().await).await
    }

    /// One whose workloads come up, as those of a real cluster do.
    pub(crate) async fn simulated() -> Self {
        let cluster = Cluster::start().await;
        if cluster.is_real() {
            return Bed::on(cluster).await;
        }
        let simulator = apiserver::simulator::Options::default();
        Bed::on(Cluster::embedded(
            apiserver::Server::builder().simulator(simulator),
        ))
        .await
    }

    async fn on(cluster: Cluster) -> Self {
        let namespace = cluster.namespace("sources").await;
        for definition in api::definitions() {
            let definition = serde_json::to_value(definition.to_value()).unwrap();
            if definition["spec"]["group"] == GROUP {
                cluster.serve(&definition).await;
            }
        }
        let folder = tempfile::tempdir().unwrap();
        Bed {
            kubeconfig: cluster.kubeconfig().await,
            storage: folder.path().join("data"),
            port: free_port(),
            cluster,
            namespace,
            _folder: folder,
        }
    }

    /// An instance of the program that looks at this test's namespace.
    pub(crate) fn program(&self) -> Options {
        self.program_at(&self.storage, self.port)
    }

    /// Another instance.
    pub(crate) fn program_at(&self, storage: &Path, port: u16) -> Options {
        Options::new(&self.kubeconfig, &self.namespace, storage, port)
    }

    pub(crate) fn api(&self, kind: &str) -> Api<DynamicObject> {
        self.api_in(&self.namespace, kind)
    }

    fn api_in(&self, namespace: &str, kind: &str) -> Api<DynamicObject> {
        let plural = match kind.strip_suffix('y') {
            Some(stem) => format!("{}ies", stem.to_lowercase()),
            None => format!("{}s", kind.to_lowercase()),
        };
        let kind = GroupVersionKind::gvk(GROUP, "v1", kind);
        let resource = ApiResource::from_gvk_with_plural(&kind, &plural);
        Api::namespaced_with(self.cluster.client(), namespace, &resource)
    }

    pub(crate) async fn create(&self, kind: &str, name: &str, labels: Value, spec: Value) {
        let object = json!({
            "apiVersion": format!("{GROUP}/v1"), "kind": kind,
            "metadata": {"name": name, "namespace": self.namespace, "labels": labels}, "spec": spec,
        });
        let object: DynamicObject = serde_json::from_value(object).unwrap();
        let created = self.api(kind).create(&PostParams::default(), &object).await;
        created.unwrap_or_else(|error| panic!("{kind}/{name}: {error}"));
    }

    /// Creates an object in another namespace.
    pub(crate) async fn create_in(&self, namespace: &str, kind: &str, name: &str, spec: Value) {
        let object = json!({
            "apiVersion": format!("{GROUP}/v1"), "kind": kind,
            "metadata": {"name": name, "namespace": namespace}, "spec": spec,
        });
        let object: DynamicObject = serde_json::from_value(object).unwrap();
        let api = self.api_in(namespace, kind);
        api.create(&PostParams::default(), &object).await.unwrap();
    }

    /// The status of an object in another namespace.
    pub(crate) async fn status_in(&self, namespace: &str, kind: &str, name: &str) -> Value {
        let object = self.api_in(namespace, kind).get(name).await.unwrap();
        object.data["status"].clone()
    }

    pub(crate) async fn secret(&self, name: &str, data: Value) {
        let api: Api<k8s_openapi::api::core::v1::Secret> =
            Api::namespaced(self.cluster.client(), &self.namespace);
        let secret = json!({"metadata": {"name": name}, "stringData": data});
        let secret = serde_json::from_value(secret).unwrap();
        api.create(&PostParams::default(), &secret).await.unwrap();
    }

    pub(crate) async fn annotate(&self, kind: &str, name: &str, key: &str, value: &str) {
        let patch = json!({"metadata": {"annotations": {key: value}}});
        let patch = Patch::Merge(&patch);
        let (api, parameters) = (self.api(kind), PatchParams::default());
        api.patch(name, &parameters, &patch).await.unwrap();
    }

    pub(crate) async fn status(&self, kind: &str, name: &str) -> Value {
        let object = self.api(kind).get(name).await.unwrap();
        object.data["status"].clone()
    }

    /// The status, once it is as it should be.
    pub(crate) async fn until(&self, kind: &str, name: &str, mut holds: impl FnMut(&Value) -> bool) -> Value {
        let settled = object_settled(self.api(kind), name, LIMIT, |object| match object {
            Some(object) if holds(&object.data["status"]) => Ok(object.data["status"].clone()),
            Some(object) => Err(format!("its status is {}", object.data["status"])),
            None => Err("it is not there".into()),
        });
        settled
            .await
            .unwrap_or_else(|error| panic!("{kind}/{name}: {error}"))
    }

    pub(crate) async fn ready(&self, kind: &str, name: &str) -> Value {
        self.until(kind, name, is_ready).await
    }
}

pub(crate) fn is_ready(status: &Value) -> bool {
    let conditions = status["conditions"].as_array().into_iter().flatten();
    let mut conditions = conditions.filter(|one| one["type"] == "Ready");
    conditions.any(|one| one["status"] == "True")
}

/// A port that was free a moment ago.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// The body at an address, if it is served.
pub(crate) async fn fetch(url: &str) -> Option<Vec<u8>> {
    let answer = testkit::http::Client::new().get(url).await.ok()?;
    (answer.status == 200).then(|| answer.body.to_vec())
}

/// Waits for a program from outside, where there is nothing to be told by.
pub(crate) async fn eventually(what: &str, program: &Program, mut holds: impl AsyncFnMut() -> bool) {
    let start = std::time::Instant::now();
    while !holds().await {
        assert!(
            start.elapsed() < LIMIT,
            "not seen: {what}\nit said:\n{}",
            program.said()
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
