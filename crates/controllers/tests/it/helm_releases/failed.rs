//! What goes wrong, and how it is put right.

use serde_json::json;

use super::bed::{CONFIG, Setting};
use crate::sources::bed::condition;

#[tokio::test]
async fn a_template_that_fails_is_told_with_its_line_and_nothing_is_stored() {
    let setting = Setting::with(&[(
        "app/templates/config.yaml",
        "a: {{ required \"a is needed\" .Values.a }}\n",
    )])
    .await;
    setting.create("web", json!({})).await;
    let object = setting.ready("web", "False", "InstallFailed").await;
    let message = condition(&object, "Ready").unwrap().message.clone();
    assert!(message.contains("app/templates/config.yaml:1:"), "{message}");
    assert!(message.contains("a is needed"), "{message}");
    assert!(setting.records("web").await.is_empty());
    setting
        .commit(&[
            ("app/templates/config.yaml", CONFIG),
            ("app/values.yaml", "a: good\n"),
            ("app/Chart.yaml", super::bed::CHART),
        ])
        .await;
    setting.deployed("web", 1).await;
    setting.value("web", Some("good")).await;
}

/// A Deployment that never gets ready makes the upgrade fail; the release before comes back.
#[tokio::test]
async fn an_upgrade_that_fails_is_rolled_back() {
    let setting = Setting::with(&[
        ("app/values.yaml", "a: one\n"),
        ("app/templates/config.yaml", CONFIG),
    ])
    .await;
    let remediation =
        json!({"upgrade": {"timeout": "2s", "remediation": {"retries": 1, "remediateLastFailure": true}}});
    setting.create("web", remediation).await;
    setting.deployed("web", 1).await;
    let broken = "apiVersion: batch/v1
kind: Job
metadata:
  name: never
spec:
  suspend: false
  template:
    spec:
      restartPolicy: Never
      containers: [{name: a, image: none}]
";
    setting
        .commit(&[
            ("app/Chart.yaml", super::bed::CHART),
            ("app/values.yaml", "a: two\n"),
            ("app/templates/config.yaml", CONFIG),
            ("app/templates/job.yaml", broken),
        ])
        .await;
    let object = setting.ready("web", "False", "RollbackSucceeded").await;
    setting.value("web", Some("one")).await;
    let status = object.status.unwrap();
    assert!(status.upgrade_failures.unwrap_or_default() >= 1, "{status:?}");
}
