//! A release that is as it should be costs nothing, and is looked at again when anything that it is made of changes.

use std::time::Duration;

use k8s_openapi::api::core::v1::Secret;
use kube::Api;
use kube::api::Patch;
use serde_json::json;

use super::bed::{CONFIG, Setting};

const FILES: [(&str, &str); 2] = [
    ("app/values.yaml", "a: one\n"),
    ("app/templates/config.yaml", CONFIG),
];

/// Long enough for several intervals of one second.
const INTERVALS: Duration = Duration::from_millis(3300);

/// A release with values of a ConfigMap that is installed and looked at every second.
async fn resting(more: serde_json::Value) -> Setting {
    let setting = Setting::with(&FILES).await;
    setting.set_values("values", "a: from-map\n").await;
    let mut spec = json!({
        "interval": "1s", "driftDetection": {"mode": "enabled"},
        "valuesFrom": [
            {"kind": "ConfigMap", "name": "values"},
            {"kind": "Secret", "name": "missing", "optional": true},
        ],
    });
    let all = spec.as_object_mut().unwrap();
    all.extend(more.as_object().unwrap().clone());
    setting.create("web", spec).await;
    setting.deployed("web", 1).await;
    setting.value("web", Some("from-map")).await;
    // The first run after it sees what it has made.
    setting.ask("web").await;
    setting.asked.until_quiet().await;
    setting
}

#[tokio::test]
async fn a_look_that_changes_nothing_sends_no_request() {
    let setting = resting(json!({})).await;
    setting.asked.forget();
    tokio::time::sleep(INTERVALS).await;
    assert_eq!(setting.asked.all(), Vec::<String>::new());
}

#[tokio::test]
async fn a_run_that_somebody_asks_for_is_answered_by_one_write() {
    let setting = resting(json!({"interval": "1h", "values": {"a": "from-map"}, "valuesFrom": []})).await;
    setting.asked.forget();
    setting.ask("web").await;
    setting.asked.until_quiet().await;
    let asked = setting.asked.all();
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert!(
        asked[0].starts_with("PATCH ") && asked[0].contains("/web/status"),
        "{asked:?}"
    );
    setting.deployed("web", 1).await;
}

#[tokio::test]
async fn values_that_were_changed_before_somebody_asked_are_read() {
    let setting = resting(json!({"interval": "1h"})).await;
    setting.set_values("values", "a: changed\n").await;
    setting.ask("web").await;
    setting.value("web", Some("changed")).await;
}

#[tokio::test]
async fn values_that_nobody_marked_are_seen_at_the_interval() {
    let setting = resting(json!({})).await;
    setting.set_values("values", "a: changed\n").await;
    setting.deployed("web", 2).await;
    setting.value("web", Some("changed")).await;
    // One that was optional and missing comes.
    setting
        .bed
        .secret("missing", "Opaque", json!({"values.yaml": "a: from-secret\n"}))
        .await;
    setting.deployed("web", 3).await;
    setting.value("web", Some("from-secret")).await;
}

#[tokio::test]
async fn records_that_somebody_else_has_changed_are_seen_at_the_interval() {
    let setting = resting(json!({})).await;
    let secrets: Api<Secret> = Api::namespaced(setting.bed.cluster.client(), &setting.bed.namespace);
    secrets
        .delete("sh.helm.release.v1.web.v1", &Default::default())
        .await
        .unwrap();
    // The release is gone, so that it is installed anew.
    let deployed = [("1".to_owned(), "deployed".to_owned())];
    let is_there = async {
        while setting.records("web").await != deployed {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    tokio::time::timeout(testkit::DEADLINE, is_there)
        .await
        .expect("it is installed anew");
}

#[tokio::test]
async fn an_object_that_somebody_deletes_is_back_within_moments() {
    let setting = resting(json!({"interval": "1h"})).await;
    setting
        .config_maps()
        .delete("web", &Default::default())
        .await
        .unwrap();
    // The interval is an hour.
    setting.value("web", Some("from-map")).await;
}

#[tokio::test]
async fn a_status_that_somebody_has_emptied_is_filled_again() {
    let setting = resting(json!({})).await;
    let patch = Patch::Merge(json!({"status": {"history": null}}));
    setting
        .bed
        .api
        .patch_status("web", &Default::default(), &patch)
        .await
        .unwrap();
    // A release that nobody knows to be its own is taken over.
    setting.deployed("web", 2).await;
}
