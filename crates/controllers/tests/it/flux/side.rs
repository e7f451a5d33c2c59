//! One controller at work on a cluster of its own.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use controllers::kit::{Options, Reconcile, Recorder, Runner};
use controllers::sources::{Buckets, GitRepositories, HelmCharts, HelmRepositories, OciRepositories, Shared};
use k8s_openapi::api::core::v1::Event;
use kube::Api;
use kube::api::{ListParams, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use serde_json::{Value, json};
use source::store::{self, Store};
use testkit::Cluster;

use super::cases::Case;
use super::shown::Shown;

/// Where all objects are.
pub(super) const NAMESPACE: &str = "sources";

/// The host that artifacts are said to be served from.
const HOST: &str = "store.test";

/// A cluster and who works on it. Ends with this value.
pub(super) struct Side {
    name: &'static str,
    cluster: Cluster,
    _folder: tempfile::TempDir,
    _program: Option<tokio::process::Child>,
    runners: tokio::task::JoinSet<()>,
}

impl Side {
    /// Flux's program.
    pub(super) async fn theirs(program: &Path) -> Self {
        let mut side = Side::start("Flux").await;
        let folder = side._folder.path();
        std::fs::create_dir(folder.join("data")).unwrap();
        let log = std::fs::File::create(folder.join("log")).unwrap();
        let child = tokio::process::Command::new(program)
            .args([
                "--events-addr=",
                "--metrics-addr=127.0.0.1:0",
                "--health-addr=127.0.0.1:0",
            ])
            .args([
                "--storage-addr=127.0.0.1:0",
                "--concurrent=8",
                "--requeue-dependency=2s",
            ])
            // What is replaced is collected by number, not by time.
            .args(["--artifact-retention-ttl=24h", "--artifact-retention-records=1"])
            .arg(format!("--storage-adv-addr={HOST}"))
            .arg(format!("--storage-path={}", folder.join("data").display()))
            .env("KUBECONFIG", side.cluster.kubeconfig().await)
            .env("RUNTIME_NAMESPACE", NAMESPACE)
            .env("HOME", folder)
            .stdout(Stdio::null())
            .stderr(log)
            .kill_on_drop(true)
            .spawn()
            .expect("the program can be run");
        side._program = Some(child);
        side
    }

    /// Our controllers.
    pub(super) async fn ours() -> Self {
        let mut side = Side::start("ours").await;
        let folder = side._folder.path();
        let clock: store::Clock = Arc::new(jiff::Timestamp::now);
        let options = store::Options {
            retention_ttl: Duration::from_secs(24 * 60 * 60),
            retention_records: 1,
            ..store::Options::new(HOST)
        };
        let store = Store::open(folder.join("data"), options, clock).unwrap();
        let repositories = source::git::Cache::open(folder.join("git")).unwrap();
        let shared = Shared::new(side.cluster.client(), Arc::new(store), repositories);
        side.run(GitRepositories::new(shared.clone()));
        side.run(OciRepositories::new(shared.clone()));
        side.run(HelmRepositories::new(shared.clone()));
        side.run(HelmCharts::new(shared.clone()));
        side.run(Buckets::new(shared));
        side
    }

    fn run<R: Reconcile>(&mut self, controller: R) {
        let client = self.cluster.client();
        let recorder = Recorder::new(client.clone(), "source-controller", None);
        let options = Options::new("source-controller");
        let runner = Runner::new(controller, client, recorder, options);
        self.runners.spawn(runner.run());
    }

    async fn start(name: &'static str) -> Self {
        let cluster = Cluster::embedded(apiserver::Server::builder());
        let kinds = [
            <api::source::GitRepositorySpec as api::Spec>::definition(),
            <api::source::OciRepositorySpec as api::Spec>::definition(),
            <api::source::HelmRepositorySpec as api::Spec>::definition(),
            <api::source::HelmChartSpec as api::Spec>::definition(),
            <api::source::BucketSpec as api::Spec>::definition(),
            <api::source::ExternalArtifactSpec as api::Spec>::definition(),
        ];
        for definition in kinds {
            cluster
                .serve(&serde_json::to_value(definition.to_value()).unwrap())
                .await;
        }
        let side = Side {
            name,
            cluster,
            _folder: tempfile::tempdir().unwrap(),
            _program: None,
            runners: tokio::task::JoinSet::new(),
        };
        side.create(&[json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})])
            .await;
        side
    }

    fn api(&self, object: &Value) -> Api<DynamicObject> {
        let text = |name: &str| object[name].as_str().unwrap_or_default();
        let (group, version) = text("apiVersion")
            .rsplit_once('/')
            .unwrap_or(("", text("apiVersion")));
        let kind = GroupVersionKind::gvk(group, version, text("kind"));
        let resource = match text("kind") {
            "GitRepository" => ApiResource::from_gvk_with_plural(&kind, "gitrepositories"),
            "OCIRepository" => ApiResource::from_gvk_with_plural(&kind, "ocirepositories"),
            "HelmRepository" => ApiResource::from_gvk_with_plural(&kind, "helmrepositories"),
            _ => ApiResource::from_gvk(&kind),
        };
        match text("kind") {
            "Namespace" => Api::all_with(self.cluster.client(), &resource),
            _ => Api::namespaced_with(self.cluster.client(), NAMESPACE, &resource),
        }
    }

    pub(super) async fn create(&self, objects: &[Value]) {
        for object in objects {
            let typed = serde_json::from_value(object.clone()).unwrap();
            let created = self.api(object).create(&PostParams::default(), &typed).await;
            created.unwrap_or_else(|error| panic!("{object}: {error}"));
        }
    }

    /// Makes the second version of each object, and asks for a run.
    pub(super) async fn change(&self, cases: &[Case], token: &str) {
        self.ask(cases, token, |case| case.then.clone()).await;
    }

    /// Asks for a run of each object.
    pub(super) async fn ask(&self, cases: &[Case], token: &str, change: impl Fn(&Case) -> Value) {
        for case in cases {
            let request = json!({"metadata": {"annotations": {"reconcile.fluxcd.io/requestedAt": token}}});
            let mut patch = change(case);
            patch["metadata"] = request["metadata"].clone();
            let api = self.api(&case.object);
            api.patch(&case.name, &PatchParams::default(), &Patch::Merge(&patch))
                .await
                .unwrap_or_else(|error| panic!("{}: {error}", case.name));
        }
    }

    /// What is to be compared of each object, at a moment when nothing goes on with it but retries.
    pub(super) async fn shown(&self, cases: &[Case], token: &str) -> Vec<Shown> {
        let mut objects = Vec::new();
        for case in cases {
            let api = self.api(&case.object);
            let every = testkit::settled::Every(Duration::from_millis(100));
            let object = testkit::settled(testkit::DEADLINE, every, async || {
                let object = api.get(&case.name).await.map_err(|error| error.to_string())?;
                match is_settled(&object, case, token) {
                    true => Ok(object),
                    false => Err(format!("{}: {}: {}", self.name, case.name, object.data["status"])),
                }
            });
            let object = object.await;
            objects.push(object.unwrap_or_else(|error| panic!("{error}\n{}", self.log())));
        }
        let events = self.events().await;
        let store = self._folder.path().join("data");
        let shown = objects
            .iter()
            .map(|object| Shown::of(object, &events, &store, token == "third"));
        shown.collect()
    }

    /// The last that the program said.
    fn log(&self) -> String {
        let text = std::fs::read_to_string(self._folder.path().join("log")).unwrap_or_default();
        let lines: Vec<&str> = text.lines().rev().take(20).collect();
        lines.join("\n")
    }

    async fn events(&self) -> Vec<Event> {
        let api: Api<Event> = Api::namespaced(self.cluster.client(), NAMESPACE);
        api.list(&ListParams::default()).await.unwrap().items
    }
}

/// Whether a run has come to its end, the one that was asked for if one was.
fn is_settled(object: &DynamicObject, case: &Case, token: &str) -> bool {
    let status = &object.data["status"];
    if case.is_static {
        return status["observedGeneration"] != -1;
    }
    if status["lastHandledReconcileAt"].as_str().unwrap_or_default() != token {
        return false;
    }
    if object.data["spec"]["suspend"] == true {
        return true;
    }
    let conditions = status["conditions"].as_array().cloned().unwrap_or_default();
    let find = |name: &str| conditions.iter().find(|one| one["type"] == name);
    let generation = object.metadata.generation;
    // Flux writes the conditions before the rest of the status.
    let of_now = |written: &Value| written["observedGeneration"].as_i64() == generation;
    match (find("Ready"), find("Reconciling")) {
        (Some(ready), None) => of_now(ready) && of_now(status) && ready["reason"] != "Progressing",
        (Some(ready), Some(going_on)) => of_now(ready) && going_on["reason"] == "ProgressingWithRetry",
        _ => false,
    }
}

/// The objects of cases.
pub(super) fn objects_of(cases: &[Case]) -> Vec<Value> {
    let objects = cases.iter().map(|case| {
        let mut object = case.object.clone();
        object["metadata"] = json!({"name": case.name, "namespace": NAMESPACE});
        object
    });
    objects.collect()
}
