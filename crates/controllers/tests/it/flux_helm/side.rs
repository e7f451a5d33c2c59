//! A cluster and the controller at work on it.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use controllers::helm_releases::{HelmReleases, Settings, Shared};
use controllers::kit::{Options, Recorder, Runner};
use kube::Api;
use kube::api::{ListParams, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use serde_json::{Value, json};
use testkit::Cluster;

use super::artifacts::Artifacts;
use super::cases::{Case, Origin, Step};

/// The group of sources.
const SOURCES: &str = "source.toolkit.fluxcd.io/v1";
/// How soon dependencies are looked at again.
const REQUEUE: Duration = Duration::from_secs(5);

/// A cluster and who works on it. Ends with this value.
pub(super) struct Side {
    pub(super) name: &'static str,
    pub(super) cluster: Cluster,
    folder: tempfile::TempDir,
    program: Option<tokio::process::Child>,
    runners: tokio::task::JoinSet<()>,
}

impl Side {
    /// A cluster that nobody works on yet.
    pub(super) async fn start(name: &'static str) -> Self {
        let quick = apiserver::simulator::Options {
            start_delay: Duration::from_millis(50),
            run_delay: Duration::from_millis(50),
            stop_delay: Duration::from_millis(50),
            ..Default::default()
        };
        let cluster = Cluster::embedded(apiserver::Server::builder().simulator(quick));
        let kinds = [
            <api::source::HelmChartSpec as api::Spec>::definition(),
            <api::source::HelmRepositorySpec as api::Spec>::definition(),
            <api::source::GitRepositorySpec as api::Spec>::definition(),
            <api::source::OciRepositorySpec as api::Spec>::definition(),
            <api::source::BucketSpec as api::Spec>::definition(),
            <api::source::ExternalArtifactSpec as api::Spec>::definition(),
            <api::helm::HelmReleaseSpec as api::Spec>::definition(),
        ];
        for definition in kinds {
            let definition = serde_json::to_value(definition.to_value()).unwrap();
            cluster.serve(&definition).await;
        }
        Side {
            name,
            cluster,
            folder: tempfile::tempdir().unwrap(),
            program: None,
            runners: tokio::task::JoinSet::new(),
        }
    }

    /// Has Flux's program work.
    pub(super) async fn run_theirs(&mut self, program: &Path) {
        let folder = self.folder.path();
        let log = std::fs::File::create(folder.join("log")).unwrap();
        let child = tokio::process::Command::new(program)
            .args([
                "--events-addr=",
                "--metrics-addr=127.0.0.1:0",
                "--health-addr=127.0.0.1:0",
            ])
            .args([
                "--concurrent=24",
                "--requeue-dependency=5s",
                "--feature-gates=ExternalArtifact=true",
            ])
            .args(["--kube-api-qps=1000", "--kube-api-burst=2000"])
            .env("KUBECONFIG", self.cluster.kubeconfig().await)
            .env("RUNTIME_NAMESPACE", "default")
            .env("HOME", folder)
            .stdout(Stdio::null())
            .stderr(log)
            .kill_on_drop(true)
            .spawn()
            .expect("the program can be run");
        self.program = Some(child);
    }

    /// Has our controller work.
    pub(super) fn run_ours(&mut self) {
        let client = self.cluster.client();
        let settings = Settings {
            requeue_dependency: REQUEUE,
            external_artifact: true,
            ..Settings::default()
        };
        let releases = HelmReleases::new(Shared {
            client: client.clone(),
            store: None,
            settings,
        });
        let recorder = Recorder::new(client.clone(), "helm-controller", None);
        let options = Options::new("helm-controller");
        self.runners
            .spawn(Runner::new(releases, client, recorder, options).run());
    }

    /// Nobody works any more.
    pub(super) async fn stop(&mut self) {
        self.runners.shutdown().await;
        if let Some(mut program) = self.program.take() {
            program.kill().await.unwrap();
        }
    }

    pub(super) fn api(&self, api_version: &str, kind: &str, namespace: Option<&str>) -> Api<DynamicObject> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let resource = match kind {
            "OCIRepository" => {
                let kind = GroupVersionKind::gvk(group, version, kind);
                ApiResource::from_gvk_with_plural(&kind, "ocirepositories")
            }
            _ => ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind)),
        };
        match namespace {
            Some(namespace) => Api::namespaced_with(self.cluster.client(), namespace, &resource),
            None => Api::all_with(self.cluster.client(), &resource),
        }
    }

    /// The HelmReleases of a namespace, or all.
    pub(super) fn releases(&self, namespace: Option<&str>) -> Api<DynamicObject> {
        self.api("helm.toolkit.fluxcd.io/v2", "HelmRelease", namespace)
    }

    async fn create(&self, namespace: Option<&str>, object: Value) {
        let text = |field: &str| object[field].as_str().unwrap_or_default().to_owned();
        let api = self.api(&text("apiVersion"), &text("kind"), namespace);
        let made: DynamicObject = serde_json::from_value(object.clone()).unwrap();
        let created = api.create(&PostParams::default(), &made).await;
        created.unwrap_or_else(|error| panic!("{namespace:?} {}: {error}", text("kind")));
    }

    /// Makes all objects.
    pub(super) async fn begin(&self, cases: &[Case], artifacts: &Artifacts) {
        for case in cases {
            let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": case.name}});
            self.create(None, namespace).await;
            for object in &case.objects {
                self.create(Some(&case.name), object.clone()).await;
            }
            let Some((kind, spec)) = source(case) else {
                continue;
            };
            let object =
                json!({"apiVersion": SOURCES, "kind": kind, "metadata": {"name": "app"}, "spec": spec});
            self.create(Some(&case.name), object).await;
            self.tell(artifacts, case, 0).await;
        }
        for case in cases {
            let mut spec = case.spec.clone();
            match source(case) {
                _ if !spec["chartRef"].is_null() => {}
                Some((kind, _)) => spec["chartRef"] = json!({"kind": kind, "name": "app"}),
                None => spec["chart"] = template(),
            }
            let object = json!({
                "apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease", "metadata": {"name": "app"}, "spec": spec,
            });
            self.create(Some(&case.name), object).await;
        }
        for case in cases.iter().filter(|case| case.origin == Origin::Template) {
            self.tell(artifacts, case, 0).await;
        }
    }

    /// Says which chart a source has.
    async fn tell(&self, artifacts: &Artifacts, case: &Case, number: usize) {
        let (kind, name) = match source(case) {
            Some((kind, _)) => (kind, "app".to_owned()),
            // The controller makes it, and names it so.
            None => ("HelmChart", format!("{}-app", case.name)),
        };
        let api = self.api(SOURCES, kind, Some(&case.name));
        let every = testkit::settled::Every(Duration::from_millis(100));
        let patched = testkit::settled(testkit::DEADLINE, every, async || {
            let patch = Patch::Merge(artifacts.status(case, number));
            let patched = api.patch_status(&name, &PatchParams::default(), &patch).await;
            patched.map(drop).map_err(|error| error.to_string())
        });
        patched.await.unwrap();
    }

    /// Does the next step with all that have one, and asks for a run of all that are there.
    pub(super) async fn change(&self, cases: &[Case], artifacts: &Artifacts, number: usize) {
        for case in cases {
            let nothing = Step::default();
            let step = case.steps.get(number).unwrap_or(&nothing);
            for object in &step.objects {
                self.put(&case.name, object).await;
            }
            if step.forgets {
                let records = self.api("v1", "Secret", Some(&case.name));
                let all = ListParams::default().labels("owner=helm");
                records
                    .delete_collection(&Default::default(), &all)
                    .await
                    .unwrap();
            }
            if let Some(number) = step.chart {
                self.tell(artifacts, case, number).await;
            }
            let api = self.releases(Some(&case.name));
            if step.deletes {
                api.delete("app", &Default::default()).await.unwrap();
            } else if !case.is_deleted(number) {
                let token = token(number);
                let mut annotations = json!({"reconcile.fluxcd.io/requestedAt": token});
                if let Some(what) = step.asks {
                    annotations[format!("reconcile.fluxcd.io/{what}")] = json!(token);
                }
                let mut patch = json!({"metadata": {"annotations": annotations}});
                if !step.spec.is_null() {
                    patch["spec"] = step.spec.clone();
                }
                let patched = api
                    .patch("app", &PatchParams::default(), &Patch::Merge(patch))
                    .await;
                patched.unwrap_or_else(|error| panic!("{}: {error}", case.name));
            }
        }
    }

    /// Writes an object as somebody else does.
    async fn put(&self, namespace: &str, object: &Value) {
        let (api_version, kind) = (object["apiVersion"].as_str(), object["kind"].as_str());
        let api = self.api(api_version.unwrap(), kind.unwrap(), Some(namespace));
        let (name, by) = (
            object["metadata"]["name"].as_str().unwrap(),
            PatchParams::apply("somebody").force(),
        );
        api.patch(name, &by, &Patch::Apply(object)).await.unwrap();
    }

    /// The last that the program said.
    pub(super) fn log(&self) -> String {
        let text = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        let lines: Vec<&str> = text.lines().rev().take(20).collect();
        lines.join("\n")
    }
}

/// What a step asks for a run with.
pub(super) fn token(number: usize) -> String {
    format!("step {number}")
}

/// The kind and spec of the source of a case, unless the controller makes it.
fn source(case: &Case) -> Option<(&'static str, Value)> {
    match case.origin {
        Origin::Chart => Some(("HelmChart", template()["spec"].clone())),
        Origin::Oci => Some((
            "OCIRepository",
            json!({"interval": "1h", "url": "oci://registry.test/app"}),
        )),
        Origin::External => Some(("ExternalArtifact", json!({}))),
        Origin::Template => None,
    }
}

fn template() -> Value {
    json!({"spec": {"interval": "1h", "chart": "app", "sourceRef": {"kind": "HelmRepository", "name": "charts"}}})
}
