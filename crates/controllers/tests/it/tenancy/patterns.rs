//! Patterns of a spec are compiled with little memory, and beside the work on other objects.

use serde_json::{Value, json};

use crate::helm_releases::bed::{CONFIG, Setting as HelmSetting};
use crate::kustomizations::bed::{Setting, config_map};
use crate::sources::bed::condition;

/// Rules whose patterns were compiled to some 10 MiB each, and again with each look at any object.
fn large() -> Value {
    let pattern = r"\pL{300}";
    let target =
        json!({"group": pattern, "version": pattern, "kind": pattern, "name": pattern, "namespace": pattern});
    json!(vec![json!({"paths": ["/data/a"], "target": target}); 200])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn patterns_of_kustomizations_are_bounded() {
    let setting = Setting::with(&[("one.yaml", &config_map("one", "1"))]).await;
    setting.create("bad", json!({"ignore": large()})).await;
    let object = setting.bed.ready("bad", "False", "ReconciliationFailed").await;
    let message = condition(&object, "Ready").unwrap().message;
    assert!(
        message.contains("spec.ignore: the patterns of targets need more memory"),
        "{message}"
    );
    assert!(message.contains("[0].target.group"), "{message}");
    let rules = json!(vec![json!({"paths": ["/data/a"]}); 1_001]);
    setting.bed.patch("bad", json!({"spec": {"ignore": rules}})).await;
    setting
        .bed
        .until("bad", |object| {
            let ready = condition(object, "Ready");
            ready.is_some_and(|ready| ready.message.contains("spec.ignore: there are 1001 ignore rules"))
        })
        .await;
    // Others are applied, and rules that fit are used.
    let rule = json!({"paths": ["/data/a"], "target": {"kind": "ConfigMap", "name": "o.*"}});
    setting.create("app", json!({"ignore": [rule]})).await;
    setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
    setting.value("one", Some("1")).await;
    let patch = kube::api::Patch::Merge(json!({"data": {"a": "2"}}));
    let by = kube::api::PatchParams {
        field_manager: Some("somebody".to_owned()),
        ..Default::default()
    };
    setting.config_maps().patch("one", &by, &patch).await.unwrap();
    setting.bed.requested("app", "now").await;
    setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
    setting.value("one", Some("2")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn patterns_of_releases_are_bounded() {
    let setting = HelmSetting::with(&[("app/templates/config.yaml", CONFIG)]).await;
    let drift = json!({"mode": "enabled", "ignore": large()});
    setting
        .create("web", json!({"values": {"a": "1"}, "driftDetection": drift}))
        .await;
    setting
        .bed
        .until("web", |object| {
            let conditions = object.status.iter().flat_map(|status| &status.conditions);
            conditions.into_iter().any(|one| {
                one.message
                    .contains("spec.driftDetection.ignore: the patterns of targets")
            })
        })
        .await;
}
