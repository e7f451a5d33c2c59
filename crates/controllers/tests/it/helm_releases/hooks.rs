//! Hooks and tests.

use std::time::Duration;

use k8s_openapi::api::batch::v1::Job;
use kube::Api;
use kube::api::DeleteParams;
use serde_json::json;
use testkit::cluster::object_settled;

use super::bed::{CONFIG, Setting};
use crate::sources::bed::condition;

fn hook(name: &str, events: &str, weight: i32, policy: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  annotations:\n    helm.sh/hook: {events}\n    helm.sh/hook-weight: \"{weight}\"\n    helm.sh/hook-delete-policy: {policy}\ndata: {{a: \"{{{{ .Release.Revision }}}}\"}}\n"
    )
}

#[tokio::test]
async fn hooks_run_with_their_event_and_go_as_they_say() {
    let first = hook("first", "pre-install,pre-upgrade", -1, "before-hook-creation");
    let brief = hook("brief", "post-install", 0, "hook-succeeded");
    let setting = Setting::with(&[
        ("app/values.yaml", "a: one\n"),
        ("app/templates/config.yaml", CONFIG),
        ("app/templates/first.yaml", &first),
        ("app/templates/brief.yaml", &brief),
    ])
    .await;
    setting.create("web", json!({})).await;
    let object = setting.deployed("web", 1).await;
    setting.value("first", Some("1")).await;
    setting.value("brief", None).await;
    let inventory = object.status.unwrap().inventory.unwrap();
    assert_eq!(
        inventory.entries.len(),
        1,
        "hooks are not of the release: {inventory:?}"
    );
    setting
        .bed
        .patch("web", json!({"spec": {"values": {"a": "two"}}}))
        .await;
    setting.deployed("web", 2).await;
    setting.value("first", Some("2")).await;
    setting.bed.api.delete("web", &Default::default()).await.unwrap();
    setting.bed.gone("web").await;
    setting.value("first", Some("2")).await;
}

#[tokio::test]
async fn tests_are_run_and_told() {
    let test = hook("check", "test", 0, "before-hook-creation");
    let setting = Setting::with(&[
        ("app/values.yaml", "a: one\n"),
        ("app/templates/config.yaml", CONFIG),
        ("app/templates/test.yaml", &test),
    ])
    .await;
    setting.create("web", json!({"test": {"enable": true}})).await;
    let object = setting.ready("web", "True", "TestSucceeded").await;
    let message = condition(&object, "Ready").unwrap().message.clone();
    assert!(
        message.ends_with(": 1 test hook completed successfully"),
        "{message}"
    );
    let status = object.status.unwrap();
    let tests = status.history[0].test_hooks.clone().unwrap();
    assert_eq!(tests["check"].phase.as_deref(), Some("Succeeded"));
    setting.value("check", Some("1")).await;
}

#[tokio::test]
async fn a_hook_that_fails_fails_the_release() {
    let broken = "apiVersion: v1\nkind: NoSuchKind\nmetadata:\n  name: broken\n  annotations: {helm.sh/hook: pre-install}\n";
    let setting = Setting::with(&[
        ("app/values.yaml", "a: one\n"),
        ("app/templates/config.yaml", CONFIG),
        ("app/templates/broken.yaml", broken),
    ])
    .await;
    setting.create("web", json!({})).await;
    let object = setting.ready("web", "False", "InstallFailed").await;
    let message = condition(&object, "Ready").unwrap().message.clone();
    assert!(
        message.contains("failed pre-install: hook app/templates/broken.yaml"),
        "{message}"
    );
    setting.value("web", None).await;
}

/// HR9: a hook that somebody deletes has not run to its end.
#[tokio::test]
async fn a_hook_that_is_deleted_while_it_runs_fails_the_release() {
    let job = "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: migrate\n  annotations: {helm.sh/hook: pre-install}\nspec:\n  template:\n    spec:\n      restartPolicy: Never\n      containers: [{name: c, image: none}]\n";
    let setting = Setting::with(&[
        ("app/values.yaml", "a: one\n"),
        ("app/templates/config.yaml", CONFIG),
        ("app/templates/job.yaml", job),
    ])
    .await;
    setting.create("web", json!({"timeout": "3s"})).await;
    let jobs: Api<Job> = Api::namespaced(setting.bed.cluster.client(), &setting.bed.namespace);
    let there = object_settled(
        jobs.clone(),
        "migrate",
        Duration::from_secs(30),
        |job| match job {
            Some(_) => Ok(()),
            None => Err("there is no Job".to_owned()),
        },
    );
    there.await.unwrap();
    let now = DeleteParams::background();
    jobs.delete("migrate", &now).await.unwrap();
    let object = setting.ready("web", "False", "InstallFailed").await;
    let message = condition(&object, "Ready").unwrap().message.clone();
    assert!(message.contains("failed pre-install"), "{message}");
    setting.value("web", None).await;
}

/// HR9, `healthCheckExprs`: a hook of a kind that expressions are about is waited for by them.
#[tokio::test]
async fn a_hook_is_waited_for_by_expressions() {
    let first = hook("first", "pre-install", 0, "before-hook-creation");
    let setting = Setting::with(&[
        ("app/values.yaml", "a: one\n"),
        ("app/templates/config.yaml", CONFIG),
        ("app/templates/first.yaml", &first),
    ])
    .await;
    let judged = json!([{"apiVersion": "v1", "kind": "ConfigMap", "current": "data.a != '1'"}]);
    setting.create("web", json!({"healthCheckExprs": judged})).await;
    setting.value("first", Some("1")).await;
    // It is waited for: nothing of the release is there until somebody says that it may be.
    let records = setting.records("web").await;
    assert_eq!(records, [("1".to_owned(), "pending-install".to_owned())]);
    setting.value("web", None).await;
    setting.put_value("first", "go").await;
    setting.deployed("web", 1).await;
}
