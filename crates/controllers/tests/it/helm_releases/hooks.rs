//! Hooks and tests.

use serde_json::json;

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
