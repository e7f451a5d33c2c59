//! What is waited for: the health of what was applied, and other Kustomizations.

use std::time::Duration;

use api::kustomize::{Kustomization, KustomizationSpec};
use controllers::kustomizations::Settings;
use serde_json::{Value, json};
use testkit::cluster::object_settled;

use super::bed::{Setting, config_map};
use crate::sources::bed::condition;

/// ConfigMaps are well once their value says so, and fail when it says that.
fn by_value() -> Value {
    json!([{
        "apiVersion": "v1", "kind": "ConfigMap",
        "current": "data.a == 'good'", "failed": "data.a == 'bad'",
    }])
}

fn message(object: &Kustomization, kind: &str) -> String {
    condition(object, kind)
        .map(|found| found.message)
        .unwrap_or_default()
}

/// `wait`, `timeout`, HL1, HL9: what does not get well in time is told with its name, and `Healthy` with it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_does_not_get_well_in_time_is_told() {
    let setting = Setting::with(&[("one.yaml", &config_map("one", "on its way"))]).await;
    let more = json!({"wait": true, "timeout": "1s", "interval": "1h", "healthCheckExprs": by_value()});
    setting.create("app", more).await;
    let running = setting
        .bed
        .until("app", |object| {
            message(object, "Reconciling").starts_with("Running health checks")
        })
        .await;
    let revision = running
        .status
        .as_ref()
        .unwrap()
        .last_attempted_revision
        .clone()
        .unwrap();
    assert_eq!(
        message(&running, "Reconciling"),
        format!("Running health checks for revision {revision} with a timeout of 30s")
    );
    assert_eq!(
        condition(&running, "Healthy").unwrap().status.to_string(),
        "Unknown"
    );
    // That is waited for longer than anything else here.
    let objects = setting.bed.other::<KustomizationSpec>();
    let failed = object_settled(objects, "app", Duration::from_secs(120), |object| {
        let object = object.ok_or("it is gone".to_owned())?;
        let ready = condition(object, "Ready");
        match ready.is_some_and(|ready| ready.reason == "HealthCheckFailed") {
            true => Ok(object.clone()),
            false => Err("it is waited for".to_owned()),
        }
    });
    let failed = failed.await.unwrap();
    let told = message(&failed, "Ready");
    let space = &setting.bed.namespace;
    let took = told
        .strip_prefix("health check failed after ")
        .unwrap_or_default();
    assert!(took >= "30." || took.starts_with("1m"), "{told}");
    assert!(
        told.ends_with(&format!(
            "timeout waiting for: [ConfigMap/{space}/one status: 'InProgress']"
        )),
        "{told}"
    );
    assert_eq!(condition(&failed, "Healthy").unwrap().reason, "HealthCheckFailed");
    let history = failed.status.unwrap().history;
    assert_eq!(history[0].last_reconciled_status, "HealthCheckFailed");
}

/// HL2, HL3, HL7: the first that has failed ends the wait; expressions say what that is. What is well is `Healthy`, and without checks nothing is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_object_that_has_failed_ends_the_wait() {
    let setting = Setting::with(&[
        ("app/one.yaml", &config_map("one", "bad")),
        ("app/two.yaml", &config_map("two", "on its way")),
        ("more/three.yaml", &config_map("three", "good")),
    ])
    .await;
    let more = json!({"path": "app", "wait": true, "timeout": "10m", "healthCheckExprs": by_value()});
    setting.create("app", more).await;
    let failed = setting.bed.ready("app", "False", "HealthCheckFailed").await;
    let told = message(&failed, "Ready");
    assert!(
        told.contains("failed early due to stalled resources: [ConfigMap/"),
        "{told}"
    );
    setting
        .commit(&[
            ("app/one.yaml", &config_map("one", "good")),
            ("app/two.yaml", &config_map("two", "good")),
        ])
        .await;
    let well = setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
    let healthy = condition(&well, "Healthy").unwrap();
    assert_eq!(
        (healthy.status.to_string().as_str(), healthy.reason.as_str()),
        ("True", "Succeeded")
    );
    setting.bed.patch("app", json!({"spec": {"wait": false}})).await;
    setting
        .bed
        .until("app", |object| {
            let status = object.status.as_ref().unwrap();
            status.observed_generation == Some(2) && condition(object, "Healthy").is_none()
        })
        .await;
}

/// `healthChecks`, HL4, HL5, HL6: what is named is waited for, by the rules of its kind; a Job is done when it is complete.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_named_is_waited_for_by_the_rules_of_its_kind() {
    let job = "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: job\nspec:\n  suspend: true\n  template:\n    spec:\n      \
               restartPolicy: Never\n      containers: [{name: c, image: i}]\n";
    let claim = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata:\n  name: claim\nspec:\n  accessModes: [ReadWriteOnce]\n  \
                 storageClassName: nobody\n  resources: {requests: {storage: 1Gi}}\n";
    let setting = Setting::with(&[("job.yaml", job), ("claim.yaml", claim)]).await;
    let space = setting.bed.namespace.clone();
    let check = |kind: &str, version: &str, name: &str| json!({"apiVersion": version, "kind": kind, "name": name, "namespace": space});
    let job = json!({"healthChecks": [check("Job", "batch/v1", "job")]});
    setting.create("held", job).await;
    setting.bed.ready("held", "True", "ReconciliationSucceeded").await;
    let claim = json!({"timeout": "1s", "healthChecks": [check("PersistentVolumeClaim", "v1", "claim")]});
    setting.create("waits", claim).await;
    let waits = setting
        .bed
        .until("waits", |object| {
            message(object, "Reconciling").starts_with("Running health checks")
        })
        .await;
    assert_eq!(condition(&waits, "Ready").unwrap().status.to_string(), "Unknown");
}

/// `healthCheckExprs`, HL8: an expression that is none stalls the object, until somebody corrects it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_expression_that_cannot_be_read_stalls_the_object() {
    let setting = Setting::with(&[("one.yaml", &config_map("one", "good"))]).await;
    let broken = json!([{"apiVersion": "v1", "kind": "ConfigMap", "current": "data."}]);
    setting
        .create("app", json!({"wait": true, "healthCheckExprs": broken}))
        .await;
    let stalled = setting.bed.ready("app", "False", "InvalidCELExpression").await;
    assert_eq!(condition(&stalled, "Stalled").unwrap().status.to_string(), "True");
    setting.value("one", None).await;
    setting
        .bed
        .patch("app", json!({"spec": {"healthCheckExprs": by_value()}}))
        .await;
    setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
}

/// HL10: what depends on another of the same source waits until that has applied the very revision.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dependency_of_the_same_source_has_to_have_applied_the_same_revision() {
    let setting = Setting::with(&[
        ("a/one.yaml", &config_map("one", "good")),
        ("b/two.yaml", &config_map("two", "1")),
    ])
    .await;
    let waits = json!({"path": "a", "wait": true, "timeout": "10m", "healthCheckExprs": by_value()});
    setting.create("first", waits).await;
    setting
        .create("second", json!({"path": "b", "dependsOn": [{"name": "first"}]}))
        .await;
    setting
        .bed
        .ready("second", "True", "ReconciliationSucceeded")
        .await;
    setting
        .commit(&[
            ("a/one.yaml", &config_map("one", "on its way")),
            ("b/two.yaml", &config_map("two", "2")),
        ])
        .await;
    setting.bed.ready("second", "False", "DependencyNotReady").await;
    setting.value("two", Some("1")).await;
    setting
        .commit(&[("a/one.yaml", &config_map("one", "good"))])
        .await;
    setting.value("two", Some("2")).await;
}

/// HL11: an expression says when a dependency is ready, in the place of the check or, with the gate `AdditiveCELDependencyCheck`, besides it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_expression_says_when_a_dependency_is_ready() {
    for additive in [false, true] {
        let settings = Settings {
            additive_dependency_check: additive,
            requeue_dependency: Duration::from_secs(3600),
            ..Settings::default()
        };
        let files = [("b/two.yaml", &*config_map("two", "1"))];
        let setting = Setting::with_settings(&files, settings).await;
        // It has no path, and so is never ready.
        setting.create("first", json!({"path": "nowhere"})).await;
        setting.bed.ready("first", "False", "ArtifactFailed").await;
        let expression = "dep.metadata.name == 'first' && self.metadata.name == 'second'";
        let second = json!({"path": "b", "dependsOn": [{"name": "first", "readyExpr": expression}]});
        setting.create("second", second).await;
        match additive {
            false => {
                setting
                    .bed
                    .ready("second", "True", "ReconciliationSucceeded")
                    .await
            }
            true => setting.bed.ready("second", "False", "DependencyNotReady").await,
        };
    }
}

/// What is not there yet is no matter of the interval: that it has come is seen.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dependency_that_comes_later_is_seen_at_once() {
    let settings = Settings {
        requeue_dependency: Duration::from_secs(3600),
        ..Settings::default()
    };
    let files = [("b/two.yaml", &*config_map("two", "1"))];
    let setting = Setting::with_settings(&files, settings).await;
    let expression = "dep.metadata.name == 'first'";
    let second = json!({"path": "b", "dependsOn": [{"name": "first", "readyExpr": expression}]});
    setting.create("second", second).await;
    setting.bed.ready("second", "False", "DependencyNotReady").await;
    // It has no path, and so is never ready.
    setting.create("first", json!({"path": "nowhere"})).await;
    setting
        .bed
        .ready("second", "True", "ReconciliationSucceeded")
        .await;
}

/// The gate `CancelHealthCheckOnNewRevision`: a wait that a newer revision ends is told as such, with what ended it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wait_that_a_newer_revision_ends_is_told_where_a_gate_asks_for_it() {
    let settings = Settings {
        tell_canceled: true,
        ..Settings::default()
    };
    let setting = Setting::with_settings(&[("one.yaml", &config_map("one", "on its way"))], settings).await;
    let more = json!({"wait": true, "timeout": "10m", "healthCheckExprs": by_value()});
    setting.create("app", more).await;
    let waits = |object: &api::kustomize::Kustomization| {
        let healthy = condition(object, "Healthy");
        healthy.is_some_and(|healthy| healthy.status.to_string() == "Unknown")
    };
    setting.bed.until("app", waits).await;
    setting.commit(&[("one.yaml", &config_map("one", "good"))]).await;
    let by = format!("GitRepository/{}/app", setting.bed.namespace);
    let told = format!("Health checks canceled due to new reconciliation triggered by {by}");
    let event = setting
        .bed
        .until_event(|event| event.message.as_deref() == Some(&told))
        .await;
    assert_eq!(event.reason.as_deref(), Some("HealthCheckCanceled"));
    setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
}
