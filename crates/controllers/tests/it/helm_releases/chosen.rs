//! What specs and gates choose.

use controllers::helm_releases::Settings;
use helm::record::from_object;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Secret;
use kube::Api;
use kube::api::Patch;
use serde_json::json;

use super::bed::{CONFIG, Setting};

const FILES: [(&str, &str); 2] = [
    ("app/values.yaml", "a: one\n"),
    ("app/templates/config.yaml", CONFIG),
];

const JOB: &str = "apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Release.Name }}
spec:
  completions: 1
  template:
    spec:
      restartPolicy: Never
      containers: [{name: a, image: none}]
";

async fn apply_method(setting: &Setting, version: i64) -> String {
    let secrets: Api<Secret> = Api::namespaced(setting.bed.cluster.client(), &setting.bed.namespace);
    let stored = secrets
        .get(&format!("sh.helm.release.v1.web.v{version}"))
        .await
        .unwrap();
    let record = from_object(&model::convert::from_serde(&stored).unwrap()).unwrap();
    record.apply_method
}

/// §3.1: Helm 3 counts a Job as done by its pods, kstatus by its condition.
#[tokio::test]
async fn readiness_is_told_by_the_rules_of_helm_3_where_that_is_asked_for() {
    let setting = Setting::with(&[FILES[0], ("app/templates/job.yaml", JOB)]).await;
    if setting.bed.cluster.is_real() {
        // There the status of Jobs is not ours to write.
        return;
    }
    setting
        .create("web", json!({"waitStrategy": {"name": "legacy"}}))
        .await;
    setting
        .create(
            "other",
            json!({"waitStrategy": {"name": "poller"}, "timeout": "10m"}),
        )
        .await;
    let jobs: Api<Job> = Api::namespaced(setting.bed.cluster.client(), &setting.bed.namespace);
    for name in ["web", "other"] {
        let is_there = |job: Option<&Job>| job.map(|_| ()).ok_or_else(|| "it is not there".to_owned());
        let limit = testkit::DEADLINE;
        testkit::cluster::object_settled(jobs.clone(), name, limit, is_there)
            .await
            .unwrap();
        let patch = Patch::Merge(json!({"status": {"succeeded": 1}}));
        jobs.patch_status(name, &Default::default(), &patch)
            .await
            .unwrap();
    }
    setting.deployed("web", 1).await;
    assert_eq!(setting.records("other").await[0].1, "pending-install");
}

/// §3.10: the gate `UseHelm3Defaults`, and RS2: what the record says is followed.
#[tokio::test]
async fn helm_3_defaults_are_recorded_and_followed() {
    let settings = Settings {
        helm3_defaults: true,
        ..Settings::default()
    };
    let setting = Setting::with_settings(&FILES, settings).await;
    setting.create("web", json!({})).await;
    setting.deployed("web", 1).await;
    assert_eq!(apply_method(&setting, 1).await, "csa");
    setting
        .bed
        .patch("web", json!({"spec": {"values": {"a": "two"}}}))
        .await;
    setting.deployed("web", 2).await;
    assert_eq!(apply_method(&setting, 2).await, "csa");
    let enabled = json!({"spec": {"values": {"a": "three"}, "upgrade": {"serverSideApply": "enabled"}}});
    setting.bed.patch("web", enabled).await;
    setting.deployed("web", 3).await;
    assert_eq!(apply_method(&setting, 3).await, "ssa");
}

/// How often helm-controller has written a ConfigMap by which operation: updates, applies.
async fn operations(setting: &Setting) -> (usize, usize) {
    let map = setting.config_maps().get("web").await.unwrap();
    let entries = map.metadata.managed_fields.unwrap();
    let count = |operation: &str| {
        let of_helm = |manager: &Option<String>| manager.as_deref().is_some_and(|name| name.contains("helm"));
        let by = entries
            .iter()
            .filter(|entry| of_helm(&entry.manager) && entry.operation.as_deref() == Some(operation));
        by.count()
    };
    (count("Update"), count("Apply"))
}

const TWO: &str = "apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
data:
  a: {{ .Values.a | quote }}
  {{- if .Values.b }}
  b: {{ .Values.b | quote }}
  {{- end }}
";

/// HR7, RS2 and helm-controller's `ssa.sh`: without server-side apply fields are owned by updates, what is wanted no more goes, what others have added stays.
#[tokio::test]
async fn a_release_is_applied_by_patches_where_that_is_asked_for() {
    let files = [
        ("app/values.yaml", "a: one\n"),
        ("app/templates/config.yaml", TWO),
    ];
    let setting = Setting::with(&files).await;
    let spec = json!({
        "values": {"a": "one", "b": "1"}, "install": {"serverSideApply": false},
        "driftDetection": {"mode": "enabled"}, "upgrade": {"remediation": {"retries": 1}},
    });
    setting.create("web", spec).await;
    setting.deployed("web", 1).await;
    assert_eq!(operations(&setting).await, (1, 0));
    let patch = Patch::Merge(json!({"data": {"c": "of others"}}));
    let maps = setting.config_maps();
    maps.patch("web", &Default::default(), &patch).await.unwrap();
    let values = json!({"spec": {"values": {"a": "two", "b": null}}});
    setting.bed.patch("web", values).await;
    setting.deployed("web", 2).await;
    assert_eq!(apply_method(&setting, 2).await, "csa");
    let data = maps.get("web").await.unwrap().data.unwrap();
    let expected = [("a", "two"), ("c", "of others")].map(|(key, value)| (key.to_owned(), value.to_owned()));
    assert_eq!(data, expected.into_iter().collect());
    assert_eq!(operations(&setting).await.1, 0);
    // Drift is put right in the same way.
    let patch = Patch::Merge(json!({"data": {"a": "by hand"}}));
    maps.patch("web", &Default::default(), &patch).await.unwrap();
    setting.value("web", Some("two")).await;
    maps.delete("web", &Default::default()).await.unwrap();
    setting.value("web", Some("two")).await;
    assert_eq!(operations(&setting).await, (1, 0));
    let enabled = json!({"spec": {"values": {"a": "three"}, "upgrade": {"serverSideApply": "enabled"}}});
    setting.bed.patch("web", enabled).await;
    setting.deployed("web", 3).await;
    let (_, applies) = operations(&setting).await;
    assert_eq!(applies, 1);
    let disabled = json!({"spec": {"values": {"a": "four"}, "upgrade": {"serverSideApply": "disabled"}}});
    setting.bed.patch("web", disabled).await;
    setting.deployed("web", 4).await;
    setting.value("web", Some("four")).await;
    let (updates, _) = operations(&setting).await;
    assert_eq!(updates, 1);
}

/// §3.10: the gate `AllowDNSLookups`.
#[tokio::test]
async fn names_are_looked_up_only_where_that_is_allowed() {
    let template = CONFIG.replace(".Values.a", "(getHostByName \"localhost\")");
    let files = [("app/templates/config.yaml", template.as_str())];
    let settings = Settings {
        dns_lookups: true,
        ..Settings::default()
    };
    for (settings, is_allowed) in [(settings, true), (Settings::default(), false)] {
        let setting = Setting::with_settings(&files, settings).await;
        setting.create("web", json!({})).await;
        setting.deployed("web", 1).await;
        let map = setting.config_maps().get("web").await.unwrap();
        let found = map.data.unwrap()["a"].clone();
        assert_eq!(
            ["127.0.0.1", "::1"].contains(&found.as_str()),
            is_allowed,
            "{found}"
        );
    }
}
