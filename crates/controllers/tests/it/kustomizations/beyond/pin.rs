//! `sluice.dev/pin` and `sluice.dev/rolled-back-from`

use api::source::{BucketSpec, GitRepositorySpec};
use kube::ResourceExt;
use serde_json::json;
use testkit::cluster::object_settled;

use super::super::bed::{Setting, config_map};
use super::ready_message;

/// All sources of a test but its own.
async fn pinned_sources(setting: &Setting) -> Vec<String> {
    let all = setting
        .bed
        .other::<GitRepositorySpec>()
        .list(&Default::default())
        .await;
    let names = all.unwrap().items.into_iter().map(|object| object.name_any());
    names.filter(|name| name != "app").collect()
}

/// Waits until a source is gone: its own controller clears up after it.
async fn gone(setting: &Setting, name: &str) {
    let sources = setting.bed.other::<GitRepositorySpec>();
    let gone = object_settled(sources, name, testkit::DEADLINE, |object| match object {
        None => Ok(()),
        Some(_) => Err("it is still there".to_owned()),
    });
    gone.await.unwrap();
}

/// An earlier revision is applied, although no store has it any more, until the source has a newer one than the bad.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_earlier_revision_is_applied_until_there_is_a_newer_one() {
    let setting = Setting::with(&[("one.yaml", &config_map("one", "1"))]).await;
    setting.create("app", json!({})).await;
    let object = setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
    let good = object.status.unwrap().last_applied_revision.unwrap();
    let bad = setting
        .commit(&[
            ("one.yaml", &config_map("one", "bad")),
            ("two.yaml", &config_map("two", "bad")),
        ])
        .await;
    let object = setting.applied("app", &bad).await;
    let history = object.status.unwrap().history;
    assert_eq!(history[1].metadata["revision"], good);

    setting
        .ask(
            "app",
            json!({"sluice.dev/pin": good, "sluice.dev/rolled-back-from": bad}),
        )
        .await;
    let object = setting.applied("app", &good).await;
    assert_eq!(
        ready_message(&object),
        format!("Applied revision: {good} (pinned)")
    );
    setting.value("one", Some("1")).await;
    setting.value("two", None).await;
    let made = pinned_sources(&setting).await;
    assert_eq!(made.len(), 1, "{made:?}");

    let newer = setting.commit(&[("one.yaml", &config_map("one", "3"))]).await;
    let object = setting.applied("app", &newer).await;
    assert_eq!(ready_message(&object), format!("Applied revision: {newer}"));
    setting.value("one", Some("3")).await;
    let is_free = |object: &api::kustomize::Kustomization| {
        !object
            .annotations()
            .keys()
            .any(|name| name.starts_with("sluice.dev/"))
    };
    setting.bed.until("app", is_free).await;
    let told =
        format!("Revision {newer} is newer than {bad}, which was bad: the pin to {good} is taken away");
    setting
        .bed
        .until_event(|event| event.message.as_deref() == Some(&told))
        .await;
    gone(&setting, &made[0]).await;
}

/// A pin without more counts whatever the source has; what depends on the object does not wait for what it will not get to.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pin_stays_until_it_is_taken_away_and_holds_up_no_others() {
    let setting = Setting::with(&[
        ("a/one.yaml", &config_map("one", "1")),
        ("b/two.yaml", &config_map("two", "1")),
    ])
    .await;
    setting.create("first", json!({"path": "./a"})).await;
    setting
        .create("second", json!({"path": "./b", "dependsOn": [{"name": "first"}]}))
        .await;
    let object = setting
        .bed
        .ready("first", "True", "ReconciliationSucceeded")
        .await;
    let start = object.status.unwrap().last_applied_revision.unwrap();
    setting
        .bed
        .ready("second", "True", "ReconciliationSucceeded")
        .await;
    setting.ask("first", json!({"sluice.dev/pin": start})).await;
    let pinned = |object: &api::kustomize::Kustomization| ready_message(object).ends_with("(pinned)");
    setting.bed.until("first", pinned).await;
    let next = setting
        .commit(&[
            ("a/one.yaml", &config_map("one", "2")),
            ("b/two.yaml", &config_map("two", "2")),
        ])
        .await;
    setting.applied("second", &next).await;
    setting.value("two", Some("2")).await;
    setting.value("one", Some("1")).await;
    setting.ask("first", json!({"sluice.dev/pin": null})).await;
    setting.applied("first", &next).await;
    setting.value("one", Some("2")).await;
    for name in pinned_sources(&setting).await {
        gone(&setting, &name).await;
    }
}

/// A revision that cannot be had is told, with what says so, and what was applied stays.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_revision_that_cannot_be_had_is_told() {
    let setting = Setting::with(&[("one.yaml", &config_map("one", "1"))]).await;
    setting.create("app", json!({})).await;
    setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
    let nowhere = format!("main@sha1:{}", "0123456789abcdef".repeat(3).get(..40).unwrap());
    setting.ask("app", json!({"sluice.dev/pin": nowhere})).await;
    let told = format!(
        "revision {nowhere} cannot be had: GitRepository '{}/app-pinned-",
        setting.bed.namespace
    );
    let is_told = |object: &api::kustomize::Kustomization| ready_message(object).starts_with(&told);
    setting.bed.until("app", is_told).await;
    setting.value("one", Some("1")).await;
    // It goes with the object.
    setting.bed.delete("app").await;
    for name in pinned_sources(&setting).await {
        gone(&setting, &name).await;
    }
}

/// A Bucket has no earlier revisions: that is told as something that only a change mends.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_that_keeps_no_earlier_revisions_cannot_be_pinned() {
    let setting = Setting::with(&[("one.yaml", &config_map("one", "1"))]).await;
    let spec = json!({"bucketName": "b", "endpoint": "127.0.0.1:1", "interval": "1h"});
    setting.bed.create_other::<BucketSpec>("bucket", spec).await;
    let path = format!("bucket/{}/bucket/x.tar.gz", setting.bed.namespace);
    let artifact = json!({"status": {"artifact": {
        "path": path, "url": format!("http://127.0.0.1:1/{path}"), "revision": format!("sha256:{}", "ab".repeat(32)),
        "digest": format!("sha256:{}", "ab".repeat(32)), "lastUpdateTime": "2026-01-01T00:00:00Z",
    }}});
    let buckets = setting.bed.other::<BucketSpec>();
    let patch = kube::api::Patch::Merge(&artifact);
    buckets
        .patch_status("bucket", &Default::default(), &patch)
        .await
        .unwrap();
    let pin = json!({"sluice.dev/pin": format!("sha256:{}", "cd".repeat(32))});
    setting
        .create_asking(
            "app",
            pin,
            json!({"sourceRef": {"kind": "Bucket", "name": "bucket"}}),
        )
        .await;
    let object = setting.bed.ready("app", "False", "ArtifactFailed").await;
    let message = ready_message(&object);
    assert!(
        message.contains("a Bucket keeps no earlier revisions"),
        "{message}"
    );
}
