//! `sluice controller kustomize` beside `sluice controller source`, as two processes.

use std::process::{Command, Stdio};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::{DynamicObject, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};
use testkit::cluster::object_settled;

use super::bed::{Bed, LIMIT};

/// A process that ends with its test.
pub(super) struct Running(pub(super) std::process::Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Artifacts of another process are fetched from it and applied.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_goes_through_both_programs_into_the_cluster() {
    let bed = Bed::start().await;
    serve_kustomizations(&bed).await;
    let server = testkit::git::Server::start();
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: one\ndata:\n  a: b\n";
    server
        .repository("app")
        .commit("main", "Start", [("one.yaml", text)]);
    let source = bed.program().start();
    let kustomize = Command::new(env!("CARGO_BIN_EXE_sluice"))
        .args(["controller", "kustomize", "--watch-all-namespaces=false"])
        .args(["--metrics-addr=0", "--health-addr=0"])
        .arg(format!("--kubeconfig={}", bed.kubeconfig.display()))
        .env("RUNTIME_NAMESPACE", &bed.namespace)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let _kustomize = Running(kustomize);
    let spec = json!({"url": server.clone_url("app"), "interval": "1h", "ref": {"branch": "main"}});
    bed.create("GitRepository", "app", json!({}), spec).await;
    create_kustomization(&bed, "app").await;
    applied(&bed, "one").await;
    kustomization_ready(&bed, "app").await;
    source.stop().await;
}

/// Has the cluster serve Kustomizations.
pub(super) async fn serve_kustomizations(bed: &Bed) {
    for definition in api::definitions() {
        let definition = serde_json::to_value(definition.to_value()).unwrap();
        if definition["spec"]["names"]["kind"] == "Kustomization" {
            bed.cluster.serve(&definition).await;
        }
    }
}

pub(super) fn kustomizations(bed: &Bed) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("kustomize.toolkit.fluxcd.io", "v1", "Kustomization");
    let resource = ApiResource::from_gvk_with_plural(&kind, "kustomizations");
    Api::namespaced_with(bed.cluster.client(), &bed.namespace, &resource)
}

/// A Kustomization of the GitRepository of the same name.
pub(super) async fn create_kustomization(bed: &Bed, name: &str) {
    create_kustomization_of(bed, name, name, json!({})).await;
}

/// A Kustomization of a GitRepository, with more in its spec.
pub(super) async fn create_kustomization_of(bed: &Bed, name: &str, source: &str, more: Value) {
    let mut object = json!({
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
        "metadata": {"name": name},
        "spec": {
            "interval": "1h", "prune": true, "targetNamespace": bed.namespace,
            "sourceRef": {"kind": "GitRepository", "name": source},
        },
    });
    for (field, value) in more.as_object().unwrap() {
        object["spec"][field] = value.clone();
    }
    let object = serde_json::from_value(object).unwrap();
    let created = kustomizations(bed).create(&PostParams::default(), &object).await;
    created.unwrap();
}

/// Waits for a ConfigMap.
pub(super) async fn applied(bed: &Bed, name: &str) -> ConfigMap {
    let maps: Api<ConfigMap> = Api::namespaced(bed.cluster.client(), &bed.namespace);
    let applied = object_settled(maps, name, LIMIT, |found| match found {
        Some(found) => Ok(found.clone()),
        None => Err("it is not there".into()),
    });
    applied.await.unwrap()
}

/// Waits until a Kustomization is ready.
pub(super) async fn kustomization_ready(bed: &Bed, name: &str) {
    let ready = object_settled(kustomizations(bed), name, LIMIT, |object| match object {
        Some(object) if super::bed::is_ready(&object.data["status"]) => Ok(()),
        Some(object) => Err(object.data["status"].to_string()),
        None => Err("it is not there".into()),
    });
    ready.await.unwrap();
}
