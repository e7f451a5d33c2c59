//! Kustomizations of other clusters, by kubeconfigs in Secrets.

use std::fs;

use serde_json::{Value, json};

use super::bed::{Setting, config_map};
use crate::sources::bed::condition;

/// A kubeconfig of the cluster of a test, with all in it that it needs, as somebody who shows this token if one is given.
async fn kubeconfig(setting: &Setting, token: Option<&str>) -> String {
    let path = setting.bed.cluster.kubeconfig().await;
    let mut config: Value = serde_json::to_value(yaml::parse(&fs::read(&path).unwrap()).unwrap()).unwrap();
    if let Some(token) = token {
        for user in config["users"].as_array_mut().unwrap() {
            user["user"] = json!({"token": token});
        }
    }
    config.to_string()
}

/// §2.10: each kubeconfig is its own way, even to the same address, and one that is changed is read again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clusters_are_reached_with_the_credentials_of_their_own_kubeconfigs() {
    let setting = Setting::with(&[
        ("a/one.yaml", &config_map("one", "1")),
        ("b/two.yaml", &config_map("two", "1")),
    ])
    .await;
    let good = kubeconfig(&setting, None).await;
    let bad = kubeconfig(&setting, Some("no-token-of-anybody")).await;
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
    setting
        .create("by-map", json!({"kubeConfig": {"configMapRef": {"name": "x"}}}))
        .await;
    let object = setting.bed.ready("by-map", "False", "ReconciliationFailed").await;
    let message = condition(&object, "Ready").unwrap().message;
    assert!(message.contains("configMapRef is not supported yet"), "{message}");
}
