//! What others do to a release.

use std::time::Duration;

use controllers::helm_releases::Settings;
use kube::api::Patch;
use serde_json::json;

use super::bed::{CONFIG, Setting};
use crate::sources::bed::condition;

const FILES: [(&str, &str); 2] = [
    ("app/values.yaml", "a: one\n"),
    ("app/templates/config.yaml", CONFIG),
];

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
    setting.ask("web").await;
    let object = setting
        .bed
        .until("web", |object| {
            condition(object, "Drifted").is_some_and(|drifted| drifted.status.to_string() == "True")
        })
        .await;
    let drifted = condition(&object, "Drifted").unwrap();
    assert_eq!(drifted.reason, "DriftDetected");
    let told = format!(
        "ConfigMap/{}/web changed (0 additions, 1 changes, 0 removals)",
        setting.bed.namespace
    );
    assert!(drifted.message.ends_with(&told), "{}", drifted.message);
    setting.value("web", Some("by hand")).await;
}

#[tokio::test]
async fn what_an_object_lacks_is_told_apart_from_what_it_has_too_much() {
    let setting = Setting::with(&FILES).await;
    setting
        .create("web", json!({"driftDetection": {"mode": "warn"}}))
        .await;
    setting.deployed("web", 1).await;
    let patch = Patch::Merge(json!({"data": {"a": null}}));
    setting
        .config_maps()
        .patch("web", &Default::default(), &patch)
        .await
        .unwrap();
    let told = "/web changed (1 additions, 0 changes, 0 removals)";
    let is_told = |object: &api::helm::HelmRelease| {
        condition(object, "Drifted").is_some_and(|drifted| drifted.message.ends_with(told))
    };
    setting.bed.until("web", is_told).await;
}

#[tokio::test]
async fn an_object_that_asks_not_to_be_compared_stays_as_somebody_made_it() {
    let excluded = CONFIG.replace(
        "metadata:\n",
        "metadata:\n  annotations: {helm.toolkit.fluxcd.io/driftDetection: disabled}\n",
    );
    let other = CONFIG.replace("{{ .Release.Name }}", "other");
    let setting = Setting::with(&[
        FILES[0],
        ("app/templates/config.yaml", &excluded),
        ("app/templates/other.yaml", &other),
    ])
    .await;
    setting
        .create("web", json!({"driftDetection": {"mode": "enabled"}}))
        .await;
    setting.deployed("web", 1).await;
    for name in ["web", "other"] {
        let patch = Patch::Merge(json!({"data": {"a": "by hand"}}));
        let maps = setting.config_maps();
        maps.patch(name, &Default::default(), &patch).await.unwrap();
    }
    setting.value("other", Some("one")).await;
    setting.ask("web").await;
    setting.value("web", Some("by hand")).await;
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
    let settings = Settings {
        requeue_dependency: Duration::from_secs(3600),
        ..Settings::default()
    };
    let setting = Setting::with_settings(&FILES, settings).await;
    setting
        .create("web", json!({"dependsOn": [{"name": "base"}]}))
        .await;
    let object = setting.ready("web", "False", "DependencyNotReady").await;
    let message = condition(&object, "Ready").unwrap().message.clone();
    assert!(message.contains("/base' dependency: "), "{message}");
    setting.create("base", json!({})).await;
    setting.deployed("base", 1).await;
    // It is woken: it would look again after an hour.
    setting.deployed("web", 1).await;
}
