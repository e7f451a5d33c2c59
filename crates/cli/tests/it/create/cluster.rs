//! Objects are made in the cluster, changed, and waited for.

use std::process::{Output, Stdio};

use k8s_openapi::api::core::v1::{Namespace, Secret, ServiceAccount};
use k8s_openapi::api::rbac::v1::RoleBinding;
use kube::Api;
use kube::api::{DynamicObject, Patch, PatchParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};
use testkit::Cluster;
use testkit::cluster::object_settled;

use super::{SLUICE, said};

struct Bed {
    cluster: Cluster,
    namespace: String,
}

impl Bed {
    async fn start() -> Bed {
        let cluster = Cluster::start().await;
        let namespace = cluster.namespace("create").await;
        for definition in api::definitions() {
            let definition = serde_json::to_value(definition.to_value()).unwrap();
            cluster.serve(&definition).await;
        }
        Bed { cluster, namespace }
    }

    fn api(&self, group: &str, version: &str, kind: &str, plural: &str) -> Api<DynamicObject> {
        let kind = GroupVersionKind::gvk(group, version, kind);
        let resource = ApiResource::from_gvk_with_plural(&kind, plural);
        Api::namespaced_with(self.cluster.client(), &self.namespace, &resource)
    }

    async fn create(&self, line: &str) -> Output {
        let mut command = tokio::process::Command::new(SLUICE);
        command
            .arg("create")
            .args(line.split(' '))
            .arg(format!(
                "--kubeconfig={}",
                self.cluster.kubeconfig().await.display()
            ))
            .arg(format!("--namespace={}", self.namespace))
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command.output().await.unwrap()
    }

    /// Says of an object in its `generation` what a controller would, as soon as it is there.
    async fn answer(&self, api: &Api<DynamicObject>, generation: i64, status: &str, message: &str) {
        let is_there = |found: Option<&DynamicObject>| match found {
            Some(found) if found.metadata.generation == Some(generation) => Ok(()),
            _ => Err("it is not there".to_owned()),
        };
        object_settled(api.clone(), "app", testkit::DEADLINE, is_there)
            .await
            .unwrap();
        let status = json!({"status": {
            "observedGeneration": generation,
            "artifact": {
                "path": "a", "url": "http://a/b", "revision": message, "digest": "sha256:0", "lastUpdateTime": "2026-01-02T03:04:05Z",
            },
            "conditions": [{
                "type": "Ready", "status": status, "reason": "Told", "message": message, "observedGeneration": generation,
                "lastTransitionTime": "2026-01-02T03:04:05Z",
            }],
        }});
        let patch = Patch::Merge(&status);
        api.patch_status("app", &PatchParams::default(), &patch)
            .await
            .unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_is_created_changed_and_waited_for() {
    let bed = Bed::start().await;
    let api = bed.api(
        "source.toolkit.fluxcd.io",
        "v1",
        "GitRepository",
        "gitrepositories",
    );
    let line = "source git app --url=https://git.test/app --branch=main --username=ada --password=geheim --label=a=b";
    let (output, ()) = tokio::join!(bed.create(line), bed.answer(&api, 1, "False", "no such branch"));
    assert!(!output.status.success(), "{}", said(&output));
    assert!(
        said(&output).contains("✔ GitRepository created"),
        "{}",
        said(&output)
    );
    assert!(said(&output).contains("no such branch"), "{}", said(&output));
    assert!(!said(&output).contains("geheim"));
    let secrets: Api<Secret> = Api::namespaced(bed.cluster.client(), &bed.namespace);
    let data = secrets.get("app").await.unwrap().data.unwrap();
    assert_eq!(data["password"].0, b"geheim");

    // What was said of the object before does not count.
    let line = line
        .replace("=main", "=trunk")
        .replace("geheim", "neu")
        .replace("a=b", "c=d");
    let (output, ()) = tokio::join!(bed.create(&line), bed.answer(&api, 2, "True", "trunk@sha1:0"));
    assert!(output.status.success(), "{}", said(&output));
    assert!(
        said(&output).contains("✔ GitRepository updated"),
        "{}",
        said(&output)
    );
    assert!(
        said(&output).contains("✔ fetched revision trunk@sha1:0"),
        "{}",
        said(&output)
    );
    let object = serde_json::to_value(api.get("app").await.unwrap()).unwrap();
    assert_eq!(object["spec"]["ref"], json!({"branch": "trunk"}));
    assert_eq!(object["spec"]["secretRef"], json!({"name": "app"}));
    assert_eq!(object["metadata"]["labels"], json!({"c": "d"}));
    assert_eq!(
        secrets.get("app").await.unwrap().data.unwrap()["password"].0,
        b"neu"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn secrets_are_stored_and_what_nobody_works_on_is_not_waited_for() {
    let bed = Bed::start().await;
    for (line, name, key) in [
        (
            "secret proxy app-proxy --address=http://proxy.test",
            "app-proxy",
            "address",
        ),
        (
            "secret helm app-helm --username=a --password=b",
            "app-helm",
            "username",
        ),
        (
            "secret oci app-oci --url=ghcr.io --username=a --password=b",
            "app-oci",
            ".dockerconfigjson",
        ),
        (
            "source helm app --url=oci://registry.test/charts --username=a --password=b",
            "helm-app",
            "password",
        ),
    ] {
        let output = bed.create(line).await;
        assert!(output.status.success(), "{line}: {}", said(&output));
        let secrets: Api<Secret> = Api::namespaced(bed.cluster.client(), &bed.namespace);
        let secret = secrets.get(name).await.unwrap();
        assert!(secret.data.unwrap().contains_key(key), "{line}");
    }
    let api = bed.api(
        "source.toolkit.fluxcd.io",
        "v1",
        "HelmRepository",
        "helmrepositories",
    );
    let object: Value = serde_json::to_value(api.get("app").await.unwrap()).unwrap();
    assert_eq!(object["spec"]["secretRef"]["name"], "helm-app");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tenant_is_created_and_its_role_replaced() {
    let bed = Bed::start().await;
    let output = bed
        .create("tenant dev --with-namespace=dev-web,dev-db --label=a=b")
        .await;
    assert!(output.status.success(), "{}", said(&output));
    assert!(
        said(&output).contains("✔ tenant setup completed"),
        "{}",
        said(&output)
    );
    let namespaces: Api<Namespace> = Api::all(bed.cluster.client());
    for namespace in ["dev-web", "dev-db"] {
        let found = namespaces.get(namespace).await.unwrap();
        assert_eq!(found.metadata.labels.unwrap()["toolkit.fluxcd.io/tenant"], "dev");
        let accounts: Api<ServiceAccount> = Api::namespaced(bed.cluster.client(), namespace);
        accounts.get("dev").await.unwrap();
    }
    let bindings: Api<RoleBinding> = Api::namespaced(bed.cluster.client(), "dev-web");
    let first = bindings.get("dev-reconciler").await.unwrap();
    assert_eq!(first.role_ref.name, "cluster-admin");

    // The same again changes nothing.
    let output = bed
        .create("tenant dev --with-namespace=dev-web --label=a=b")
        .await;
    assert!(output.status.success(), "{}", said(&output));
    let same = bindings.get("dev-reconciler").await.unwrap();
    assert_eq!(same.metadata.resource_version, first.metadata.resource_version);

    let output = bed
        .create("tenant dev --with-namespace=dev-web --skip-namespace --cluster-role=edit --label=c=d")
        .await;
    assert!(output.status.success(), "{}", said(&output));
    let other = bindings.get("dev-reconciler").await.unwrap();
    assert_eq!(other.role_ref.name, "edit");
    assert_ne!(other.metadata.uid, first.metadata.uid);
    let accounts: Api<ServiceAccount> = Api::namespaced(bed.cluster.client(), "dev-web");
    let labels = accounts.get("dev").await.unwrap().metadata.labels.unwrap();
    assert_eq!(labels.get("c").map(String::as_str), Some("d"));
    let labels = namespaces.get("dev-web").await.unwrap().metadata.labels.unwrap();
    assert_eq!(
        labels.get("a").map(String::as_str),
        Some("b"),
        "the namespace was to be skipped"
    );
}
