//! Kustomizations that another one applies.

use kube::ResourceExt;
use serde_json::json;

use super::bed::{Setting, config_map};

const FINALIZER: &str = "finalizers.fluxcd.io";

/// The manifest of an inner one.
fn inner(namespace: &str, interval: &str) -> String {
    let object = json!({
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
        "metadata": {"name": "inner", "namespace": namespace},
        "spec": {
            "interval": interval, "path": "./inner", "prune": true, "targetNamespace": namespace,
            "sourceRef": {"kind": "GitRepository", "name": "app"},
        },
    });
    object.to_string()
}

/// The manifest has no finalizer, and the inner one keeps it all the same: without it nobody would clear up after it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_inner_one_keeps_its_finalizer_and_clears_up_when_it_is_pruned() {
    let files = [
        ("inner/one.yaml", config_map("one", "1")),
        ("outer/two.yaml", config_map("two", "1")),
    ];
    let files = files.each_ref().map(|(path, text)| (*path, text.as_str()));
    let setting = Setting::with(&files).await;
    let namespace = setting.bed.namespace.clone();
    let made = [("outer/inner.yaml", inner(&namespace, "1h"))];
    setting.commit(&[(made[0].0, &made[0].1)]).await;
    setting
        .create("outer", json!({"path": "./outer", "wait": true}))
        .await;
    setting
        .bed
        .ready("inner", "True", "ReconciliationSucceeded")
        .await;
    setting
        .bed
        .ready("outer", "True", "ReconciliationSucceeded")
        .await;
    setting.value("one", Some("1")).await;
    let changed = setting
        .commit(&[("outer/inner.yaml", &inner(&namespace, "2h"))])
        .await;
    setting.applied("outer", &changed).await;
    let object = setting.applied("inner", &changed).await;
    assert_eq!(object.spec.interval.to_string(), "2h0m0s");
    assert_eq!(object.finalizers(), [FINALIZER]);

    let repository = setting.server.repository("app");
    repository.change("main").delete("outer/inner.yaml").commit();
    setting.fetch().await;
    setting.bed.gone("inner").await;
    setting.value("one", None).await;
    setting.value("two", Some("1")).await;
}
