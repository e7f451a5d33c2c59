//! Kustomizations of other clusters, by kubeconfigs in Secrets.

use std::fs;

use base64::Engine as _;
use controllers::kustomizations::Settings;
use k8s_openapi::api::core::v1::ServiceAccount;
use k8s_openapi::api::rbac::v1::RoleBinding;
use kube::Api;
use serde_json::{Value, json};

use super::bed::{Setting, config_map};
use crate::sources::bed::condition;

/// §2.10: each kubeconfig is its own way, even to the same address, and one that is changed is read again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clusters_are_reached_with_the_credentials_of_their_own_kubeconfigs() {
    let setting = Setting::with(&[
        ("a/one.yaml", &config_map("one", "1")),
        ("b/two.yaml", &config_map("two", "1")),
    ])
    .await;
    let good = setting.bed.kubeconfig(None).await;
    let bad = setting.bed.kubeconfig(Some("no-token-of-anybody")).await;
    setting
        .bed
        .secret("good", "Opaque", json!({"value.yaml": good}))
        .await;
    setting.bed.secret("bad", "Opaque", json!({"own": bad})).await;
    let by_good = json!({"path": "./a", "kubeConfig": {"secretRef": {"name": "good"}}});
    setting.create("one", by_good).await;
    setting.bed.ready("one", "True", "ReconciliationSucceeded").await;
    setting.value("one", Some("1")).await;
    let by_bad = json!({"path": "./b", "kubeConfig": {"secretRef": {"name": "bad", "key": "own"}}});
    setting.create("two", by_bad).await;
    let object = setting.bed.ready("two", "False", "ReconciliationFailed").await;
    let message = condition(&object, "Ready").unwrap().message;
    assert!(!message.contains("no-token-of-anybody"), "{message}");
    setting.bed.change_secret("bad", json!({"own": good})).await;
    setting.bed.requested("two", "now").await;
    setting.bed.ready("two", "True", "ReconciliationSucceeded").await;
    setting.value("two", Some("1")).await;
    // One that is in use and is changed is used no more.
    setting
        .bed
        .change_secret("good", json!({"value.yaml": bad}))
        .await;
    setting.bed.requested("one", "now").await;
    setting.bed.ready("one", "False", "ReconciliationFailed").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kubeconfigs_that_cannot_be_used_are_told() {
    let setting = Setting::with(&[("one.yaml", &config_map("one", "1"))]).await;
    setting.bed.secret("empty", "Opaque", json!({"other": "x"})).await;
    setting
        .bed
        .secret("broken", "Opaque", json!({"value": "password: [geheim"}))
        .await;
    let namespace = setting.bed.namespace.clone();
    for (name, told) in [
        (
            "nobody",
            format!("unable to read KubeConfig secret '{namespace}/nobody'"),
        ),
        (
            "empty",
            format!("KubeConfig secret '{namespace}/empty' does not contain a 'value' key with a kubeconfig"),
        ),
        ("broken", format!("KubeConfig secret '{namespace}/broken'")),
    ] {
        setting
            .create(name, json!({"kubeConfig": {"secretRef": {"name": name}}}))
            .await;
        let object = setting.bed.ready(name, "False", "ReconciliationFailed").await;
        let message = condition(&object, "Ready").unwrap().message;
        assert!(message.contains(&told), "{message}");
        assert!(!message.contains("geheim"), "{message}");
    }
}

/// §2.10: a ConfigMap says where a cluster is, and the ServiceAccount that it names opens it, if the gate lets it. What is wrong with it is told.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clusters_that_know_our_accounts_are_reached_by_a_config_map() {
    let settings = Settings {
        object_level_workload_identity: true,
        ..Settings::default()
    };
    let setting = Setting::with_settings(&[("one.yaml", &config_map("one", "1"))], settings).await;
    let path = setting.bed.cluster.kubeconfig().await;
    let config: Value = serde_json::to_value(yaml::parse(&fs::read(&path).unwrap()).unwrap()).unwrap();
    let cluster = &config["clusters"][0]["cluster"];
    let mut data = json!({"provider": "generic", "address": cluster["server"], "serviceAccountName": "far"});
    if let Some(ca) = cluster["certificate-authority-data"].as_str() {
        let ca = base64::engine::general_purpose::STANDARD.decode(ca).unwrap();
        data["ca.crt"] = json!(String::from_utf8(ca).unwrap());
    }
    // The audience of the cluster itself, which is what it asks for.
    data["audiences"] = json!("https://kubernetes.default.svc.cluster.local\nhttps://kubernetes.default.svc");
    let make = async |name: &str, data: &Value| {
        let map = serde_json::from_value(json!({"metadata": {"name": name}, "data": data})).unwrap();
        setting
            .config_maps()
            .create(&Default::default(), &map)
            .await
            .unwrap();
    };
    make("good", &data).await;
    make("cloud", &json!({"provider": "aws", "cluster": "arn"})).await;
    let (client, space) = (setting.bed.cluster.client(), setting.bed.namespace.clone());
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), &space);
    let account = serde_json::from_value(json!({"metadata": {"name": "far"}})).unwrap();
    accounts.create(&Default::default(), &account).await.unwrap();
    let by = |name: &str| json!({"kubeConfig": {"configMapRef": {"name": name}}});
    setting.create("good", by("good")).await;
    // It is somebody who may do nothing: that is who one is there.
    let object = setting.bed.ready("good", "False", "ReconciliationFailed").await;
    let message = condition(&object, "Ready").unwrap().message;
    assert!(
        message.contains(&format!("system:serviceaccount:{space}:far")),
        "{message}"
    );
    let bindings: Api<RoleBinding> = Api::namespaced(client, &space);
    let binding = serde_json::from_value(json!({
        "metadata": {"name": "far"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "ServiceAccount", "name": "far", "namespace": space}],
    }))
    .unwrap();
    bindings.create(&Default::default(), &binding).await.unwrap();
    setting.bed.ask("good", "now").await;
    setting.bed.ready("good", "True", "ReconciliationSucceeded").await;
    setting.value("one", Some("1")).await;
    for (name, told) in [
        (
            "cloud",
            "clusters of the provider 'aws' are not reached yet: use 'generic'",
        ),
        ("nowhere", "failed to get configmap"),
    ] {
        setting.create(name, by(name)).await;
        let object = setting.bed.ready(name, "False", "ReconciliationFailed").await;
        let message = condition(&object, "Ready").unwrap().message;
        assert!(message.contains(told), "{message}");
    }
}
