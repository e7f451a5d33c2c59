//! What others do to a release, and what a process before has left.

use std::time::Duration;

use k8s_openapi::api::core::v1::Secret;
use kube::Api;
use kube::api::Patch;
use serde_json::json;

use super::bed::{CONFIG, Setting};
use crate::sources::bed::condition;

const FILES: [(&str, &str); 2] = [
    ("app/values.yaml", "a: one\n"),
    ("app/templates/config.yaml", CONFIG),
];

async fn ask(setting: &Setting) {
    let token = jiff::Timestamp::now().to_string();
    let annotations = json!({"reconcile.fluxcd.io/requestedAt": token});
    setting
        .bed
        .patch("web", json!({"metadata": {"annotations": annotations}}))
        .await;
}

/// A release that detects drift in this way, of which somebody has changed an object.
async fn changed_by_hand(mode: &str) -> Setting {
    let setting = Setting::with(&FILES).await;
    setting
        .create("web", json!({"driftDetection": {"mode": mode}}))
        .await;
    setting.deployed("web", 1).await;
    let patch = Patch::Merge(json!({"data": {"a": "by hand"}}));
    setting
        .config_maps()
        .patch("web", &Default::default(), &patch)
        .await
        .unwrap();
    setting
}

#[tokio::test]
async fn drift_is_put_right_where_that_is_asked_for() {
    let setting = changed_by_hand("enabled").await;
    // Nobody asks for it.
    setting.value("web", Some("one")).await;
    setting
        .bed
        .until_event(|event| event.reason.as_deref() == Some("DriftCorrected"))
        .await;
    let object = setting.deployed("web", 1).await;
    assert_eq!(
        object.status.unwrap().history.len(),
        1,
        "no release was made for it"
    );
}

#[tokio::test]
async fn drift_is_told_and_left_where_that_is_asked_for() {
    let setting = changed_by_hand("warn").await;
    ask(&setting).await;
    let object = setting
        .bed
        .until("web", |object| {
            condition(object, "Drifted").is_some_and(|drifted| drifted.status.to_string() == "True")
        })
        .await;
    assert_eq!(condition(&object, "Drifted").unwrap().reason, "DriftDetected");
    setting.value("web", Some("by hand")).await;
}

/// A process that was killed in the middle of an upgrade leaves a record that says so. It is no reason to stop.
#[tokio::test]
async fn a_release_that_was_left_in_the_middle_of_its_work_goes_on() {
    let mut setting = Setting::with(&FILES).await;
    setting.create("web", json!({})).await;
    setting.deployed("web", 1).await;
    setting.bed.kill();
    // As helm writes it: the same record under the next number, with the status of one that is at work.
    let secrets: Api<Secret> = Api::namespaced(setting.bed.cluster.client(), &setting.bed.namespace);
    let stored = secrets.get("sh.helm.release.v1.web.v1").await.unwrap();
    let object = model::convert::from_serde(&stored).unwrap();
    let mut record = helm::record::from_object(&object).unwrap();
    record.version = 2;
    record.set_status(helm::record::Status::PendingUpgrade, "Preparing upgrade");
    let change = helm::record::Change::Create(jiff::Timestamp::now().as_second());
    let driver = helm::record::Driver::Secret;
    let pending = helm::record::to_object(&record, &setting.bed.namespace, driver, change).unwrap();
    let pending: Secret = model::convert::to_serde(&pending).unwrap();
    secrets.create(&Default::default(), &pending).await.unwrap();
    setting.start();
    setting.deployed("web", 3).await;
    let records = setting.records("web").await;
    let statuses: Vec<&str> = records.iter().map(|(_, status)| status.as_str()).collect();
    assert_eq!(statuses, ["superseded", "failed", "deployed"]);
}

#[tokio::test]
async fn another_name_has_the_release_uninstalled_and_made_anew() {
    let setting = Setting::with(&FILES).await;
    setting.create("web", json!({})).await;
    setting.deployed("web", 1).await;
    setting
        .bed
        .patch("web", json!({"spec": {"releaseName": "site"}}))
        .await;
    setting.value("web", None).await;
    setting.value("site", Some("one")).await;
    assert!(setting.records("web").await.is_empty());
    let object = setting.deployed("web", 1).await;
    assert_eq!(object.status.unwrap().history[0].name, "site");
}

#[tokio::test]
async fn a_release_waits_for_those_it_depends_on() {
    let setting = Setting::with(&FILES).await;
    setting
        .create("web", json!({"dependsOn": [{"name": "base"}]}))
        .await;
    let object = setting.ready("web", "False", "DependencyNotReady").await;
    let message = condition(&object, "Ready").unwrap().message.clone();
    assert!(message.contains("/base' dependency: "), "{message}");
    setting.create("base", json!({})).await;
    let both = async { tokio::join!(setting.deployed("base", 1), setting.deployed("web", 1)) };
    tokio::time::timeout(Duration::from_secs(25), both)
        .await
        .expect("it is woken, and waits for no interval");
}
