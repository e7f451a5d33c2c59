//! A cluster with Kustomizations and what they have applied, and directories that would change it.

use std::path::PathBuf;
use std::process::Output;

use api::Spec as _;
use api::kustomize::KustomizationSpec;
use kube::Api;
use kube::api::{DynamicObject, Patch, PatchParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};
use testkit::Cluster;

pub(super) struct Bed {
    pub(super) cluster: Cluster,
    pub(super) namespace: String,
    pub(super) kubeconfig: PathBuf,
    pub(super) folder: tempfile::TempDir,
}

impl Bed {
    pub(super) async fn start() -> Self {
        let cluster = Cluster::start().await;
        let namespace = cluster.namespace("diff").await;
        let definition = serde_json::to_value(KustomizationSpec::definition().to_value()).unwrap();
        cluster.serve(&definition).await;
        Bed {
            kubeconfig: cluster.kubeconfig().await,
            cluster,
            namespace,
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// Writes a file of YAML, in which `NAMESPACE` stands for that of the test.
    pub(super) fn write(&self, file: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text.replace("NAMESPACE", &self.namespace)).unwrap();
        path
    }

    pub(super) fn path(&self, folder: &str) -> String {
        self.folder.path().join(folder).display().to_string()
    }

    fn api(&self, object: &Value) -> Api<DynamicObject> {
        let text = |key: &str| object[key].as_str().unwrap();
        let (group, version) = text("apiVersion").split_once('/').unwrap_or(("", "v1"));
        let kind = GroupVersionKind::gvk(group, version, text("kind"));
        let plural = format!("{}s", text("kind").to_lowercase());
        let resource = ApiResource::from_gvk_with_plural(&kind, &plural);
        Api::namespaced_with(self.cluster.client(), &self.namespace, &resource)
    }

    /// Applies all objects of a text as the controller of Kustomizations does.
    pub(super) async fn apply(&self, text: &str) {
        let text = text.replace("NAMESPACE", &self.namespace);
        for document in yaml::documents(&text) {
            let mut object = serde_json::to_value(document.unwrap().value).unwrap();
            let status = object["status"].take();
            object.as_object_mut().unwrap().remove("status");
            let name = object["metadata"]["name"].as_str().unwrap().to_owned();
            let api = self.api(&object);
            let parameters = PatchParams::apply("kustomize-controller").force();
            let applied = api.patch(&name, &parameters, &Patch::Apply(&object)).await;
            applied.unwrap_or_else(|error| panic!("{object}: {error}"));
            if !status.is_null() {
                let patch = json!({"status": status});
                let patch = Patch::Merge(&patch);
                let parameters = PatchParams::default();
                api.patch_status(&name, &parameters, &patch).await.unwrap();
            }
        }
    }

    /// The version of an object.
    pub(super) async fn version(&self, api_version: &str, kind: &str, name: &str) -> String {
        let object = json!({"apiVersion": api_version, "kind": kind});
        let found = self.api(&object).get(name).await.unwrap();
        found.metadata.resource_version.unwrap()
    }

    /// Runs a program against the cluster; the embedded one answers meanwhile.
    pub(super) async fn run(&self, program: &str, arguments: &[&str]) -> Output {
        let mut command = tokio::process::Command::new(program);
        command
            .args(arguments)
            .arg(format!("--kubeconfig={}", self.kubeconfig.display()))
            .arg(format!("--namespace={}", self.namespace))
            .arg("--timeout=30s")
            .kill_on_drop(true);
        command.output().await.unwrap()
    }

    pub(super) async fn sluice(&self, arguments: &[&str]) -> Output {
        self.run(env!("CARGO_BIN_EXE_sluice"), arguments).await
    }
}

pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The Kustomization `app`, which has applied objects, one of which is not among the files any more.
pub(super) const APP: &str = "\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: app, namespace: NAMESPACE}
spec:
  interval: 1h
  prune: true
  path: ./app
  sourceRef: {kind: GitRepository, name: app}
status:
  observedGeneration: 1
  lastAppliedRevision: main@sha1:0
  inventory:
    entries:
      - {id: NAMESPACE_one__ConfigMap, v: v1}
      - {id: NAMESPACE_gone__ConfigMap, v: v1}
";

/// The labels of what `app` applies.
pub(super) const LABELS: &str =
    "{kustomize.toolkit.fluxcd.io/name: app, kustomize.toolkit.fluxcd.io/namespace: NAMESPACE}";
