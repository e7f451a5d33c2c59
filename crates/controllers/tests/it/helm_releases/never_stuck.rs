//! The dead ends of others are none here: releases that are left pending, retries that are used up, waits that hold others up.

use std::time::Duration;

use apiserver::fault::{Fault, Rule};
use helm::record::{Change, Driver, Status, from_object, to_object};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Secret;
use kube::Api;
use kube::api::{Patch, PatchParams};
use serde_json::json;

use super::bed::{CONFIG, Setting};
use super::hands::said;
use crate::sources::bed::condition;

const FILES: [(&str, &str); 2] = [
    ("app/values.yaml", "a: one\njob: false\n"),
    ("app/templates/config.yaml", CONFIG),
];

/// A Job that nobody runs, so that whoever waits for it waits.
const NEVER: &str = "{{ if .Values.job }}
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Release.Name }}-never
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: a, image: none}]
{{ end }}";

/// Leaves the record after this one as somebody does who is ended in the middle of it, and who said this of himself.
async fn leave(setting: &Setting, version: i64, status: Status, operator: Option<&str>) {
    let secrets: Api<Secret> = Api::namespaced(setting.bed.cluster.client(), &setting.bed.namespace);
    let name = format!("sh.helm.release.v1.web.v{version}");
    let stored = secrets.get(&name).await.unwrap();
    let mut record = from_object(&model::convert::from_serde(&stored).unwrap()).unwrap();
    record.version = version + 1;
    record.set_status(status, "Preparing");
    let change = Change::Create(jiff::Timestamp::now().as_second());
    let left = to_object(&record, &setting.bed.namespace, Driver::Secret, change).unwrap();
    let mut left: Secret = model::convert::to_serde(&left).unwrap();
    if let Some(operator) = operator {
        let annotation = ("sluice.dev/operator".to_owned(), operator.to_owned());
        left.metadata.annotations = Some([annotation].into_iter().collect());
    }
    secrets.create(&Default::default(), &left).await.unwrap();
}

/// engine.md §2, row 3: "another operation is in progress" is the end of nothing.
#[tokio::test]
async fn a_release_that_was_left_in_the_middle_of_its_work_goes_on() {
    let mut setting = Setting::with(&FILES).await;
    setting.create("web", json!({"maxHistory": 0})).await;
    setting.deployed("web", 1).await;
    let mut version = 1;
    for status in [
        Status::PendingInstall,
        Status::PendingUpgrade,
        Status::PendingRollback,
        Status::Uninstalling,
    ] {
        setting.bed.kill();
        // A process that is gone had the lease that it names no more.
        let dead = format!("{}/nobody/dead", setting.bed.namespace);
        let operator = (status == Status::PendingRollback).then_some(dead.as_str());
        leave(&setting, version, status, operator).await;
        setting.start();
        version += 2;
        setting.deployed("web", version).await;
    }
    let records = setting.records("web").await;
    let statuses: Vec<&str> = records.iter().map(|(_, status)| status.as_str()).collect();
    // One that was being uninstalled by somebody else is none of ours: it is released over.
    let expected = [
        "superseded",
        "failed",
        "superseded",
        "failed",
        "superseded",
        "failed",
        "superseded",
        "uninstalling",
        "deployed",
    ];
    assert_eq!(statuses, expected);
}

/// A process of ours that is alive is not disturbed; once its lease has run out its work is taken up.
#[tokio::test]
async fn a_release_that_another_process_works_on_is_left_to_it_while_it_is_alive() {
    let mut setting = Setting::with(&FILES).await;
    setting.create("web", json!({})).await;
    setting.deployed("web", 1).await;
    setting.bed.kill();
    let namespace = setting.bed.namespace.clone();
    let leases: Api<Lease> = Api::namespaced(setting.bed.cluster.client(), &namespace);
    let lease = |at: jiff::Timestamp| {
        json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "helm-controller"},
            "spec": {"holderIdentity": "pod_1", "leaseDurationSeconds": 3600, "renewTime": format!("{at:.6}")},
        })
    };
    let parameters = PatchParams::apply("tests").force();
    let held = Patch::Apply(lease(jiff::Timestamp::now()));
    leases.patch("helm-controller", &parameters, &held).await.unwrap();
    let operator = format!("{namespace}/helm-controller/pod_1");
    leave(&setting, 1, Status::PendingUpgrade, Some(&operator)).await;
    setting.start();
    let object = setting.ready("web", "False", "PendingRelease").await;
    let message = condition(&object, "Ready").unwrap().message.clone();
    assert!(message.contains(&operator), "{message}");
    let pending = ("2".to_owned(), "pending-upgrade".to_owned());
    assert!(setting.records("web").await.contains(&pending));
    let long_ago = jiff::Timestamp::now() - Duration::from_secs(7200);
    let run_out = Patch::Apply(lease(long_ago));
    leases
        .patch("helm-controller", &parameters, &run_out)
        .await
        .unwrap();
    setting.deployed("web", 3).await;
}

/// A record of ours says who works on it for as long as somebody does.
#[tokio::test]
async fn an_operation_is_recorded_with_who_does_it() {
    let operator = controllers::helm_releases::Operator {
        namespace: "flux-system".to_owned(),
        lease: "helm-controller-leader-election".to_owned(),
        identity: "pod_7".to_owned(),
    };
    let settings = controllers::helm_releases::Settings {
        operator: Some(operator.clone()),
        ..Default::default()
    };
    let setting = Setting::with_settings(
        &[FILES[0], FILES[1], ("app/templates/never.yaml", NEVER)],
        settings,
    )
    .await;
    setting.create("web", json!({"values": {"job": true}})).await;
    setting.value("web", Some("one")).await;
    let secrets: Api<Secret> = Api::namespaced(setting.bed.cluster.client(), &setting.bed.namespace);
    let named = async || {
        let secret = secrets.get("sh.helm.release.v1.web.v1").await.unwrap();
        secret
            .metadata
            .annotations
            .unwrap_or_default()
            .remove("sluice.dev/operator")
    };
    assert_eq!(named().await, Some(operator.to_string()));
    setting
        .bed
        .patch("web", json!({"spec": {"values": {"job": false}}}))
        .await;
    setting.deployed("web", 2).await;
    assert_eq!(named().await, None);
}

/// engine.md §2, row 3: "retries exhausted" lasts until anything is changed that the release is made of.
#[tokio::test]
async fn retries_that_are_used_up_are_armed_again_by_values_that_nobody_marked() {
    let bad = CONFIG.replace("{{ .Release.Name }}", "{{ .Values.name }}");
    let setting = Setting::with(&[FILES[0], ("app/templates/config.yaml", &bad)]).await;
    setting.set_values("values", "name: Bad_Name\n").await;
    let values = json!([{"kind": "ConfigMap", "name": "values"}]);
    setting
        .create("web", json!({"interval": "1s", "valuesFrom": values}))
        .await;
    let is_stalled = |object: &api::helm::HelmRelease| {
        condition(object, "Stalled").is_some_and(|stalled| stalled.reason == "RetriesExceeded")
    };
    setting.bed.until("web", is_stalled).await;
    // Nothing is asked while nothing changes.
    setting.asked.until_quiet().await;
    setting.asked.forget();
    tokio::time::sleep(Duration::from_millis(2500)).await;
    assert_eq!(setting.asked.all(), Vec::<String>::new());
    setting.set_values("values", "name: good\n").await;
    setting.value("good", Some("one")).await;
    let object = setting.deployed("web", 2).await;
    assert!(condition(&object, "Stalled").is_none());
}

/// engine.md §2, row 4: what is waited for is given up for something newer, at once and without a failure.
#[tokio::test]
async fn something_newer_ends_the_wait_for_what_does_not_become_healthy() {
    let setting = Setting::with(&[FILES[0], FILES[1], ("app/templates/never.yaml", NEVER)]).await;
    setting.create("web", json!({"timeout": "10m"})).await;
    setting.deployed("web", 1).await;
    let values = |a: &str, job: bool| json!({"spec": {"values": {"a": a, "job": job}}});
    setting.bed.patch("web", values("two", true)).await;
    setting.value("web", Some("two")).await;
    setting.bed.patch("web", values("three", false)).await;
    let released = async { setting.deployed("web", 3).await };
    let object = tokio::time::timeout(testkit::DEADLINE, released).await;
    let object = object.expect("nobody waits for the end of the timeout");
    setting.value("web", Some("three")).await;
    let told = |event: &k8s_openapi::api::core::v1::Event| {
        let message = event.message.clone().unwrap_or_default();
        event.reason.as_deref() == Some("HealthCheckCanceled")
            && message
                .starts_with("Health checks canceled due to new reconciliation triggered by HelmRelease/")
    };
    setting.bed.until_event(told).await;
    assert_eq!(object.status.unwrap().upgrade_failures, None);
}

/// engine.md §2, row 4: whoever waits has no worker.
#[tokio::test]
async fn releases_that_wait_hold_up_no_others() {
    let setting = Setting::with(&[FILES[0], FILES[1], ("app/templates/never.yaml", NEVER)]).await;
    // More than can be worked on at once.
    for number in 0..5 {
        let waiting = json!({"timeout": "10m", "values": {"job": true}});
        setting.create(&format!("waiting-{number}"), waiting).await;
    }
    for number in 0..5 {
        setting.value(&format!("waiting-{number}"), Some("one")).await;
    }
    setting.create("web", json!({})).await;
    setting.deployed("web", 1).await;
}

/// HR4, `maxHistory`: a rollback that fails with as many records as are kept is one that failed, and not one that was never begun.
#[tokio::test]
async fn a_rollback_that_fails_ends_also_where_records_are_full() {
    let refused = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: no_NAME\n  annotations: {helm.sh/hook: pre-rollback}\n";
    let files = [FILES[0], FILES[1], ("app/templates/refused.yaml", refused)];
    let setting = Setting::with(&files).await;
    let spec = json!({
        "maxHistory": 2, "upgrade": {"remediation": {"remediateLastFailure": true}},
        "healthCheckExprs": [{"apiVersion": "v1", "kind": "ConfigMap", "current": "data.a != 'bad'", "failed": "data.a == 'bad'"}],
    });
    setting.create("web", spec).await;
    setting.deployed("web", 1).await;
    setting.change("web", json!({"values": {"a": "bad"}})).await;
    let object = setting.stalled("web", "RetriesExceeded").await;
    assert_eq!(
        said(&object, &["Remediated"]),
        ["Remediated=False RollbackFailed"]
    );
    let records = setting.records("web").await;
    let newest = ("3".to_owned(), "failed".to_owned());
    assert_eq!((records.len(), records.last()), (2, Some(&newest)), "{records:?}");
}

/// RS1: a record of long ago that nobody can read is in the way of nothing, and goes with the release.
#[tokio::test]
async fn an_old_record_that_cannot_be_read_is_in_the_way_of_nothing() {
    let setting = Setting::with(&FILES).await;
    setting.create("web", json!({})).await;
    setting.deployed("web", 1).await;
    setting.change("web", json!({"values": {"a": "two"}})).await;
    setting.deployed("web", 2).await;
    let broken = Patch::Merge(json!({"data": {"release": "bm9uc2Vuc2U="}}));
    let secrets = setting.secrets();
    secrets
        .patch("sh.helm.release.v1.web.v1", &Default::default(), &broken)
        .await
        .unwrap();
    setting.change("web", json!({"values": {"a": "three"}})).await;
    setting.deployed("web", 3).await;
    // The newest says what is installed, and is missed.
    secrets
        .patch("sh.helm.release.v1.web.v3", &Default::default(), &broken)
        .await
        .unwrap();
    setting.ask("web").await;
    let object = setting.ready("web", "False", "StateError").await;
    let message = condition(&object, "Ready").unwrap().message.clone();
    assert!(
        message.contains("sh.helm.release.v1.web.v3 cannot be read"),
        "{message}"
    );
    secrets
        .delete("sh.helm.release.v1.web.v3", &Default::default())
        .await
        .unwrap();
    setting.deployed("web", 3).await;
    setting.bed.api.delete("web", &Default::default()).await.unwrap();
    setting.bed.gone("web").await;
    assert!(setting.records("web").await.is_empty());
}

/// HR8: a hook that fails after all is deleted is told, and the release is gone all the same.
#[tokio::test]
async fn a_hook_that_fails_at_the_end_keeps_no_release() {
    let refused = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: no_NAME\n  annotations: {helm.sh/hook: post-delete}\n";
    let files = [FILES[0], FILES[1], ("app/templates/refused.yaml", refused)];
    let setting = Setting::with(&files).await;
    setting.create("web", json!({})).await;
    setting.deployed("web", 1).await;
    setting.bed.api.delete("web", &Default::default()).await.unwrap();
    setting
        .bed
        .until_event(|event| {
            let text = event.message.as_deref().unwrap_or_default();
            event.reason.as_deref() == Some("UninstallFailed") && text.contains("failed post-delete")
        })
        .await;
    setting.bed.gone("web").await;
    assert!(setting.records("web").await.is_empty());
    setting.value("web", None).await;
}

/// HR2: whoever writes to the Secret of a record at the same time makes no failure of a release.
#[tokio::test]
async fn a_record_is_written_though_others_write_to_its_secret() {
    let setting = Setting::with(&FILES).await;
    let Some(server) = setting.bed.cluster.server() else {
        // Nobody can have a real server refuse exactly these.
        return;
    };
    setting.create("web", json!({})).await;
    setting.deployed("web", 1).await;
    let conflict = Rule::new(Fault::Conflict).verb("update").resource("", "secrets");
    let conflict = server.faults().add(conflict.times(3));
    setting.change("web", json!({"values": {"a": "two"}})).await;
    setting.deployed("web", 2).await;
    assert_eq!(server.faults().fired(conflict), 3);
    let records = setting.records("web").await;
    let statuses: Vec<&str> = records.iter().map(|(_, status)| status.as_str()).collect();
    assert_eq!(statuses, ["superseded", "deployed"]);
}

/// HR4, engine.md §2, row 3: who is killed in the middle of an upgrade knows afterwards what to go back to.
#[tokio::test]
async fn an_upgrade_that_was_left_and_fails_again_is_rolled_back() {
    let mut setting = Setting::with(&FILES).await;
    let spec = json!({
        "upgrade": {"remediation": {"remediateLastFailure": true}},
        "healthCheckExprs": [{"apiVersion": "v1", "kind": "ConfigMap", "current": "data.a != 'bad'", "failed": "data.a == 'bad'"}],
    });
    setting.create("web", spec).await;
    let object = setting.deployed("web", 1).await;
    setting.bed.kill();
    setting.change("web", json!({"values": {"a": "bad"}})).await;
    leave(&setting, 1, Status::PendingUpgrade, None).await;
    let uid = object.metadata.uid.unwrap();
    let made_for = Patch::Merge(json!({"metadata": {"annotations": {"sluice.dev/made-for": uid}}}));
    let name = "sh.helm.release.v1.web.v2";
    let patched = setting
        .secrets()
        .patch(name, &Default::default(), &made_for)
        .await;
    patched.unwrap();
    setting.start();
    let object = setting.stalled("web", "RetriesExceeded").await;
    assert_eq!(
        said(&object, &["Remediated"]),
        ["Remediated=True RollbackSucceeded"]
    );
    let stories = setting.stories("web").await;
    assert_eq!(
        stories.last().unwrap(),
        "4 deployed: Rollback to 1",
        "{stories:?}"
    );
    setting.value("web", Some("one")).await;
}
