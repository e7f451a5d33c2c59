//! One controller at work on a cluster of its own.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use controllers::kit::{Options, Recorder, Runner};
use controllers::kustomizations::{Kustomizations, Settings, Shared};
use k8s_openapi::api::core::v1::Event;
use kube::Api;
use kube::api::{ListParams, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use serde_json::{Value, json};
use testkit::Cluster;

use super::artifacts::Artifacts;
use super::cases::Case;
use super::shown;

/// Where all Kustomizations are.
pub(super) const NAMESPACE: &str = "kustomizations";

/// What Kustomizations make here.
const MADE: [(&str, &str, &str, &str); 2] = [
    ("", "v1", "ConfigMap", "configmaps"),
    ("apps", "v1", "Deployment", "deployments"),
];

/// A cluster and who works on it. Ends with this value.
pub(super) struct Side {
    name: &'static str,
    cluster: Cluster,
    folder: tempfile::TempDir,
    _program: Option<tokio::process::Child>,
    runners: tokio::task::JoinSet<()>,
}

impl Side {
    /// Flux's program.
    pub(super) async fn theirs(program: &Path) -> Self {
        let mut side = Side::start("Flux").await;
        let folder = side.folder.path();
        let log = std::fs::File::create(folder.join("log")).unwrap();
        let child = tokio::process::Command::new(program)
            .args([
                "--events-addr=",
                "--metrics-addr=127.0.0.1:0",
                "--health-addr=127.0.0.1:0",
            ])
            .args(["--concurrent=8", "--requeue-dependency=10s"])
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

    /// Our controller.
    pub(super) async fn ours() -> Self {
        let mut side = Side::start("ours").await;
        let client = side.cluster.client();
        let shared = Shared {
            client: client.clone(),
            store: None,
            scratch: side.folder.path().to_owned(),
            repositories: source::git::Cache::open(side.folder.path().join("git")).unwrap(),
            identities: crate::sources::bed::nobody(),
            http: source::http::Options::default(),
            settings: Settings {
                requeue_dependency: Duration::from_secs(10),
                ..Settings::default()
            },
        };
        let recorder = Recorder::new(client.clone(), "kustomize-controller", None);
        let options = Options::new("kustomize-controller");
        let runner = Runner::new(Kustomizations::new(shared), client, recorder, options);
        side.runners.spawn(runner.run());
        side
    }

    async fn start(name: &'static str) -> Self {
        let cluster = Cluster::embedded(apiserver::Server::builder());
        let kinds = [
            <api::source::GitRepositorySpec as api::Spec>::definition(),
            <api::source::OciRepositorySpec as api::Spec>::definition(),
            <api::source::BucketSpec as api::Spec>::definition(),
            <api::source::ExternalArtifactSpec as api::Spec>::definition(),
            <api::kustomize::KustomizationSpec as api::Spec>::definition(),
        ];
        for definition in kinds {
            cluster
                .serve(&serde_json::to_value(definition.to_value()).unwrap())
                .await;
        }
        let side = Side {
            name,
            cluster,
            folder: tempfile::tempdir().unwrap(),
            _program: None,
            runners: tokio::task::JoinSet::new(),
        };
        side.namespace(NAMESPACE).await;
        side
    }

    async fn namespace(&self, name: &str) {
        let api = self.api("", "v1", "Namespace", "namespaces", None);
        let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        let object = serde_json::from_value(object).unwrap();
        api.create(&PostParams::default(), &object).await.unwrap();
    }

    fn api(
        &self,
        group: &str,
        version: &str,
        kind: &str,
        plural: &str,
        namespace: Option<&str>,
    ) -> Api<DynamicObject> {
        let kind = GroupVersionKind::gvk(group, version, kind);
        let resource = ApiResource::from_gvk_with_plural(&kind, plural);
        match namespace {
            Some(namespace) => Api::namespaced_with(self.cluster.client(), namespace, &resource),
            None => Api::all_with(self.cluster.client(), &resource),
        }
    }

    fn sources(&self) -> Api<DynamicObject> {
        self.api(
            "source.toolkit.fluxcd.io",
            "v1",
            "GitRepository",
            "gitrepositories",
            Some(NAMESPACE),
        )
    }

    fn kustomizations(&self) -> Api<DynamicObject> {
        let group = "kustomize.toolkit.fluxcd.io";
        self.api(group, "v1", "Kustomization", "kustomizations", Some(NAMESPACE))
    }

    /// Makes all objects.
    pub(super) async fn begin(&self, cases: &[Case], artifacts: &Artifacts) {
        for case in cases {
            self.namespace(&case.name).await;
            let spec = json!({"url": "https://git.test/app", "interval": "1h"});
            let source = "source.toolkit.fluxcd.io/v1";
            self.create(&self.sources(), source, "GitRepository", &case.name, spec)
                .await;
            self.tell(artifacts, case, 0).await;
        }
        for case in cases {
            let group = "kustomize.toolkit.fluxcd.io/v1";
            let api = self.kustomizations();
            self.create(&api, group, "Kustomization", &case.name, case.spec.clone())
                .await;
        }
    }

    async fn create(&self, api: &Api<DynamicObject>, api_version: &str, kind: &str, name: &str, spec: Value) {
        let object = json!({
            "apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": NAMESPACE}, "spec": spec,
        });
        let object = serde_json::from_value(object).unwrap();
        let created = api.create(&PostParams::default(), &object).await;
        created.unwrap_or_else(|error| panic!("{name}: {error}"));
    }

    /// Says which artifact a source has.
    async fn tell(&self, artifacts: &Artifacts, case: &Case, number: usize) {
        let status = artifacts.status(&case.name, number);
        let (parameters, patch) = (PatchParams::default(), Patch::Merge(&status));
        let patched = self.sources().patch_status(&case.name, &parameters, &patch).await;
        patched.unwrap();
    }

    /// Makes the second version of each, and asks for a run.
    pub(super) async fn change(&self, cases: &[Case], artifacts: &Artifacts, token: &str) {
        for case in cases {
            // Where the source changes, too, it is a matter of luck which of both a controller sees first.
            if case.then_files != case.files {
                self.tell(artifacts, case, 1).await;
            }
            let patch = json!({
                "metadata": {"annotations": {"reconcile.fluxcd.io/requestedAt": token}}, "spec": case.then,
            });
            let (parameters, patch) = (PatchParams::default(), Patch::Merge(&patch));
            let patched = self.kustomizations().patch(&case.name, &parameters, &patch).await;
            patched.unwrap_or_else(|error| panic!("{}: {error}", case.name));
        }
    }

    /// What is to be compared of each, at a moment when nothing goes on with it but retries.
    pub(super) async fn shown(&self, cases: &[Case], token: &str) -> Vec<Vec<String>> {
        let mut objects = Vec::new();
        for case in cases {
            let every = testkit::settled::Every(Duration::from_millis(100));
            let object = testkit::settled(testkit::DEADLINE, every, async || {
                let object = self.kustomizations().get(&case.name).await;
                let object = object.map_err(|error| error.to_string())?;
                match is_settled(&object, token) {
                    true => Ok(object),
                    false => Err(format!("{}: {}: {}", self.name, case.name, object.data["status"])),
                }
            });
            objects.push(
                object
                    .await
                    .unwrap_or_else(|error| panic!("{error}\n{}", self.log())),
            );
        }
        let events: Api<Event> = Api::namespaced(self.cluster.client(), NAMESPACE);
        let events = events.list(&ListParams::default()).await.unwrap().items;
        let mut all = Vec::new();
        for (case, object) in cases.iter().zip(objects) {
            let mut made = Vec::new();
            for (group, version, kind, plural) in MADE {
                let api = self.api(group, version, kind, plural, Some(&case.name));
                let found = api.list(&ListParams::default()).await.unwrap().items;
                let found = found
                    .into_iter()
                    .filter(|one| one.metadata.name.as_deref() != Some("kube-root-ca.crt"));
                made.extend(found);
            }
            all.push(shown::lines(&object, &events, &made));
        }
        all
    }

    /// The last that the program said.
    fn log(&self) -> String {
        let text = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        let lines: Vec<&str> = text.lines().rev().take(20).collect();
        lines.join("\n")
    }
}

/// Whether a run has come to its end, the one that was asked for if one was.
fn is_settled(object: &DynamicObject, token: &str) -> bool {
    let status = &object.data["status"];
    if object.data["spec"]["suspend"] == true {
        return true;
    }
    if status["lastHandledReconcileAt"].as_str().unwrap_or_default() != token {
        return false;
    }
    let conditions = status["conditions"].as_array().cloned().unwrap_or_default();
    let find = |name: &str| conditions.iter().find(|one| one["type"] == name);
    let of_now = |written: &Value| written["observedGeneration"].as_i64() == object.metadata.generation;
    let going_on = find("Reconciling").is_some_and(|one| one["reason"] != "ProgressingWithRetry");
    find("Ready").is_some_and(|ready| of_now(ready) && ready["status"] != "Unknown") && !going_on
}
