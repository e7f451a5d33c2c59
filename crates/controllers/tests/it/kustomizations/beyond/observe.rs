//! `sluice.dev/observe`

use k8s_openapi::api::core::v1::Secret;
use kube::Api;
use serde_json::json;

use super::super::bed::{Setting, config_map};
use super::ready_message;

const SECRET: &str =
    "apiVersion: v1\nkind: Secret\nmetadata:\n  name: login\nstringData:\n  password: geheim\n";

/// What would change is told by objects and fields, in the condition and in an event, and nothing is applied.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_would_change_is_told_and_nothing_is_applied() {
    let setting = Setting::with(&[("one.yaml", &config_map("one", "1")), ("login.yaml", SECRET)]).await;
    let observe = json!({"sluice.dev/observe": "enabled"});
    setting.create_asking("app", observe, json!({"wait": true})).await;
    let object = setting.bed.ready("app", "False", "DriftDetected").await;
    let (message, space) = (ready_message(&object), &setting.bed.namespace);
    assert!(message.starts_with("Observed revision: main@sha1:"), "{message}");
    assert!(
        message.contains("2 to create (nothing is applied: observe is enabled)"),
        "{message}"
    );
    assert!(
        message.contains(&format!("ConfigMap/{space}/one would be created")),
        "{message}"
    );
    assert!(
        !message.contains("geheim") && !message.contains("Z2VoZWlt"),
        "{message}"
    );
    let status = object.status.clone().unwrap();
    assert_eq!(status.observed_generation, Some(1));
    assert!(status.last_applied_revision.is_none() && status.last_attempted_revision.is_some());
    assert!(status.inventory.unwrap_or_default().entries.is_empty());
    setting.value("one", None).await;
    setting
        .bed
        .until_event(|event| event.reason.as_deref() == Some("DriftDetected"))
        .await;
    // A request is answered, and is a request to look.
    setting.bed.requested("app", "now").await;
    setting.value("one", None).await;
    // It is applied when it is not only observed any more.
    setting.ask("app", json!({"sluice.dev/observe": null})).await;
    setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
    setting.value("one", Some("1")).await;
}

/// What somebody changes is told when it is seen, and a new revision too; what would be deleted stays, also with the object.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn drift_and_new_revisions_are_told_when_they_are_seen_and_left_as_they_are() {
    let setting = Setting::with(&[
        ("one.yaml", &config_map("one", "1")),
        ("two.yaml", &config_map("two", "1")),
        ("login.yaml", SECRET),
    ])
    .await;
    setting.create("app", json!({})).await;
    let applied = setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
    setting.ask("app", json!({"sluice.dev/observe": "enabled"})).await;
    let object = setting
        .bed
        .until("app", |object| {
            ready_message(object).ends_with("nothing would change")
        })
        .await;
    let revision = object.status.unwrap().last_applied_revision;
    assert_eq!(revision, applied.status.unwrap().last_applied_revision);

    let space = setting.bed.namespace.clone();
    let secrets: Api<Secret> = Api::namespaced(setting.bed.cluster.client(), &space);
    let patch = kube::api::Patch::Merge(json!({"stringData": {"password": "changed"}}));
    secrets.patch("login", &Default::default(), &patch).await.unwrap();
    let object = setting.bed.ready("app", "False", "DriftDetected").await;
    let message = ready_message(&object);
    assert!(
        message.ends_with(&format!(
            "Secret/{space}/login would be configured: /data/password"
        )),
        "{message}"
    );

    let commit = setting
        .server
        .repository("app")
        .change("main")
        .delete("two.yaml")
        .commit();
    setting.fetch().await;
    let told = format!("ConfigMap/{space}/two would be deleted");
    let object = setting
        .bed
        .until("app", |object| ready_message(object).contains(&told))
        .await;
    let attempted = object.status.unwrap().last_attempted_revision.unwrap();
    assert!(attempted.ends_with(&commit.to_string()), "{attempted}");
    setting.value("two", Some("1")).await;
    let login = secrets.get("login").await.unwrap();
    assert_eq!(login.data.unwrap()["password"].0, b"changed");

    setting.bed.delete("app").await;
    setting.value("one", Some("1")).await;
    setting.value("two", Some("1")).await;
}
