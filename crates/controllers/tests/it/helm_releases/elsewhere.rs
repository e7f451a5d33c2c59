//! Releases that are made as somebody else, or in another cluster.

use std::fs;

use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use kube::Api;
use serde_json::{Value, json};
use testkit::cluster::object_settled;

use super::bed::{CONFIG, Setting};
use super::hands::{message, said};

const SERVICE: &str = "{{ if .Values.service }}
apiVersion: v1
kind: Service
metadata:
  name: {{ .Release.Name }}
spec: {clusterIP: None}
{{ end }}
";

const FILES: [(&str, &str); 3] = [
    ("app/values.yaml", "a: one\n"),
    ("app/templates/config.yaml", CONFIG),
    ("app/templates/service.yaml", SERVICE),
];

/// `serviceAccountName`, `bad:forbidden`, HS3: all is done as the account, records too: what it may not do fails by name, and what runs stays.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_release_is_made_with_the_rights_of_its_account() {
    let setting = Setting::with(&FILES).await;
    setting.bed.account("maps", &["configmaps", "secrets"]).await;
    let space = setting.bed.namespace.clone();
    let elsewhere = setting.bed.cluster.namespace("forbidden").await;
    setting.create("web", json!({"serviceAccountName": "maps"})).await;
    setting.deployed("web", 1).await;
    setting.value("web", Some("one")).await;
    setting
        .change("web", json!({"values": {"service": true, "a": "two"}}))
        .await;
    let object = setting.ready("web", "False", "UpgradeFailed").await;
    let told = message(&object, "Ready");
    assert!(
        told.contains(&format!("system:serviceaccount:{space}:maps")),
        "{told}"
    );
    assert!(told.contains("web") && told.contains("services"), "{told}");
    setting.value("web", Some("one")).await;
    let far = json!({"serviceAccountName": "maps", "targetNamespace": elsewhere});
    setting.create("far", far).await;
    let object = setting.ready("far", "False", "InstallFailed").await;
    let told = message(&object, "Ready");
    assert!(told.contains(&elsewhere) && told.contains("forbidden"), "{told}");
    // Without rights to records nothing can be said.
    setting
        .create("nobody", json!({"serviceAccountName": "nobody"}))
        .await;
    let object = setting.ready("nobody", "False", "StateError").await;
    assert!(message(&object, "Ready").contains(&format!("system:serviceaccount:{space}:nobody")));
}

/// HR8: what was made as an account that is gone stays, and the object goes all the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_made_as_an_account_that_is_gone_is_left_behind() {
    let setting = Setting::with(&FILES).await;
    setting.bed.account("brief", &["configmaps", "secrets"]).await;
    setting
        .create("web", json!({"serviceAccountName": "brief"}))
        .await;
    setting.deployed("web", 1).await;
    let accounts: Api<ServiceAccount> = Api::namespaced(setting.bed.cluster.client(), &setting.bed.namespace);
    accounts.delete("brief", &Default::default()).await.unwrap();
    setting.bed.delete("web").await;
    setting.value("web", Some("one")).await;
    assert_eq!(setting.records("web").await.len(), 1);
}

/// HR8: one that was never installed goes at once; records that are gone are no hindrance.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_not_installed_goes_without_an_uninstall() {
    let setting = Setting::with(&FILES).await;
    setting
        .create("never", json!({"dependsOn": [{"name": "nobody"}]}))
        .await;
    setting.ready("never", "False", "DependencyNotReady").await;
    setting.bed.delete("never").await;
    setting.create("web", json!({})).await;
    setting.deployed("web", 1).await;
    setting
        .secrets()
        .delete("sh.helm.release.v1.web.v1", &Default::default())
        .await
        .unwrap();
    setting.bed.delete("web").await;
    setting.value("web", Some("one")).await;
}

/// `kubeConfig`, HR8, HS3, HS6: objects and records go to the cluster of the kubeconfig; one that is missing or cannot be used is told without what is in it, and a release
/// whose kubeconfig is gone leaves what it has made.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn releases_are_made_in_the_cluster_of_their_kubeconfig() {
    let setting = Setting::with(&FILES).await;
    // The other cluster: an embedded one of its own, which has no kind of Flux.
    let other = testkit::Cluster::embedded(apiserver::Server::builder());
    let there = other.namespace("far").await;
    let path = other.kubeconfig().await;
    let config: Value = serde_json::to_value(yaml::parse(&fs::read(&path).unwrap()).unwrap()).unwrap();
    let far = json!({
        "kubeConfig": {"secretRef": {"name": "far"}}, "releaseName": "web",
        "targetNamespace": there, "storageNamespace": there,
    });
    setting.create("web", far).await;
    let object = setting.ready("web", "False", "RESTClientError").await;
    let told = message(&object, "Ready");
    assert!(
        told.contains(&format!("'{}/far'", setting.bed.namespace)),
        "{told}"
    );
    let labels = json!({"reconcile.fluxcd.io/watch": "Enabled"});
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "far", "labels": labels},
        "stringData": {"value": config.to_string()},
    });
    setting.put(secret).await;
    setting.deployed("web", 1).await;
    let maps: Api<k8s_openapi::api::core::v1::ConfigMap> = Api::namespaced(other.client(), &there);
    maps.get("web").await.unwrap();
    let secrets: Api<k8s_openapi::api::core::v1::Secret> = Api::namespaced(other.client(), &there);
    secrets.get("sh.helm.release.v1.web.v1").await.unwrap();
    setting.value("web", None).await;
    setting.change("web", json!({"values": {"a": "two"}})).await;
    setting.deployed("web", 2).await;

    let bad = setting.bed.kubeconfig(Some("no-token-of-anybody")).await;
    setting.bed.secret("bad", "Opaque", json!({"own": bad})).await;
    let by_bad = json!({"kubeConfig": {"secretRef": {"name": "bad", "key": "own"}}});
    setting.create("stranger", by_bad).await;
    let object = setting
        .bed
        .until("stranger", |object| {
            said(object, &["Ready"])[0].starts_with("Ready=False")
        })
        .await;
    let told = message(&object, "Ready");
    assert!(!told.contains("no-token-of-anybody"), "{told}");
    setting
        .bed
        .secret("broken", "Opaque", json!({"value": "password: [geheim"}))
        .await;
    setting
        .create("broken", json!({"kubeConfig": {"secretRef": {"name": "broken"}}}))
        .await;
    let object = setting.ready("broken", "False", "RESTClientError").await;
    assert!(
        !message(&object, "Ready").contains("geheim"),
        "{}",
        message(&object, "Ready")
    );

    setting
        .secrets()
        .delete("far", &Default::default())
        .await
        .unwrap();
    setting.bed.delete("web").await;
    maps.get("web").await.unwrap();
}

/// HR8: a namespace that is deleted with a release in it goes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_namespace_is_deleted_with_the_release_in_it() {
    let setting = Setting::with(&FILES).await;
    setting.create("web", json!({})).await;
    setting.deployed("web", 1).await;
    let namespaces: Api<Namespace> = Api::all(setting.bed.cluster.client());
    namespaces
        .delete(&setting.bed.namespace, &Default::default())
        .await
        .unwrap();
    setting.bed.gone("web").await;
    // The source and its HelmChart have finalizers, too, and somebody who works on them.
    let gone = object_settled(
        namespaces,
        &setting.bed.namespace,
        std::time::Duration::from_secs(60),
        |space| match space {
            None => Ok(()),
            Some(space) => Err(format!("{:?}", space.status)),
        },
    );
    gone.await.unwrap();
}
