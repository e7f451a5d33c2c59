//! Releases that depend on others which nobody works on here: those of another shard, and suspended ones.

use std::time::Duration;

use controllers::helm_releases::Settings;
use kube::api::Patch;
use serde_json::json;

use super::bed::{CONFIG, Setting};
use super::hands::message;

const FILES: [(&str, &str); 2] = [
    ("app/values.yaml", "a: one\n"),
    ("app/templates/config.yaml", CONFIG),
];

/// Has a release be one of the shard.
async fn take(setting: &Setting, name: &str) {
    let labels = json!({"metadata": {"labels": {"shard": "one"}}});
    setting.bed.patch(name, labels).await;
}

/// `dependsOn`, `chart`: labels say which releases are worked on, not which sources and releases these may name: HelmCharts that are made have none of them, and a
/// release of another shard is asked for. Nothing is asked for one that is known.
#[tokio::test]
async fn a_shard_knows_all_sources_and_asks_for_releases_of_others() {
    let settings = Settings {
        requeue_dependency: Duration::from_secs(1),
        ..Settings::default()
    };
    let mut setting = Setting::with_settings(&FILES, settings).await;
    setting.bed.kill();
    setting.shard = Some("shard=one".to_owned());
    setting.start();
    setting.create("base", json!({})).await;
    let waits = json!({"dependsOn": [{"name": "base"}, {"name": "nobody"}]});
    setting.create("web", waits).await;
    take(&setting, "web").await;
    let object = setting.ready("web", "False", "DependencyNotReady").await;
    let space = setting.bed.namespace.clone();
    assert_eq!(
        message(&object, "Ready"),
        format!("dependency '{space}/base' is not ready")
    );
    let ready = json!({"status": {"observedGeneration": 1, "conditions": [{
        "type": "Ready", "status": "True", "reason": "InstallSucceeded", "message": "",
        "lastTransitionTime": "2026-01-02T03:04:05Z",
    }]}});
    let patched = setting
        .bed
        .api
        .patch_status("base", &Default::default(), &Patch::Merge(ready))
        .await;
    patched.unwrap();
    let missing = format!(
        "unable to get '{space}/nobody' dependency: helmreleases.helm.toolkit.fluxcd.io \"nobody\" not found"
    );
    let says = |object: &api::helm::HelmRelease| message(object, "Ready") == missing;
    setting.bed.until("web", says).await;
    setting
        .change("web", json!({"dependsOn": [{"name": "base"}]}))
        .await;
    setting.deployed("web", 1).await;

    setting.asked.forget();
    setting
        .create("last", json!({"dependsOn": [{"name": "web"}]}))
        .await;
    take(&setting, "last").await;
    setting.deployed("last", 1).await;
    let asked = setting.asked.all();
    let of_web = |request: &&String| request.starts_with("GET") && request.contains("/helmreleases/web");
    assert_eq!(asked.iter().find(of_web), None);
    let base = setting.bed.api.get("base").await.unwrap();
    assert_eq!(base.metadata.finalizers, None, "nobody works on it here");
}

/// `suspend`, `dependsOn`: what is said of a suspended release is said of its newest generation, so that those that depend on it go on.
#[tokio::test]
async fn a_suspended_release_holds_up_none_that_depend_on_it() {
    let setting = Setting::with(&FILES).await;
    setting.create("base", json!({})).await;
    setting.deployed("base", 1).await;
    setting.change("base", json!({"suspend": true})).await;
    let object = setting
        .bed
        .until("base", |object| {
            let status = object.status.as_ref().unwrap();
            status.observed_generation == Some(2)
        })
        .await;
    assert_eq!(object.metadata.generation, Some(2));
    setting
        .create("web", json!({"dependsOn": [{"name": "base"}]}))
        .await;
    setting.deployed("web", 1).await;
}
