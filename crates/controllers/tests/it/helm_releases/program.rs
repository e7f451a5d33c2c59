//! The real helm reads, rolls back and uninstalls our releases, and we take over its own.

use serde_json::{Value, json};
use testkit::program;
use tokio::process::Command;

use super::bed::{CHART, CONFIG, Setting};

/// Runs helm on the cluster of a setting, in the namespace of its releases.
async fn helm(setting: &Setting, arguments: &[&str]) -> String {
    let kubeconfig = setting.bed.cluster.kubeconfig().await;
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new("helm");
    command
        .args(arguments)
        .args(["--namespace", &setting.bed.namespace])
        .env("KUBECONFIG", kubeconfig)
        .env("HELM_CACHE_HOME", home.path().join("cache"))
        .env("HELM_CONFIG_HOME", home.path().join("config"))
        .env("HELM_DATA_HOME", home.path().join("data"));
    let output = command.output().await.unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "helm {arguments:?}: {errors}");
    text
}

const FILES: [(&str, &str); 2] = [
    ("app/values.yaml", "a: one\n"),
    ("app/templates/config.yaml", CONFIG),
];

#[tokio::test]
async fn helm_reads_rolls_back_and_uninstalls_our_releases() {
    if program::find("helm").is_none() {
        return;
    }
    let setting = Setting::with(&FILES).await;
    setting
        .create("web", json!({"values": {"extra": {"deep": [1, 2.5, "x"]}}}))
        .await;
    setting.deployed("web", 1).await;
    setting
        .bed
        .patch("web", json!({"spec": {"values": {"a": "two"}}}))
        .await;
    setting.deployed("web", 2).await;
    let listed: Vec<Value> = serde_json::from_str(&helm(&setting, &["list", "-o", "json"]).await).unwrap();
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(
        (&listed[0]["name"], &listed[0]["revision"]),
        (&json!("web"), &json!("2"))
    );
    assert_eq!(listed[0]["status"], json!("deployed"));
    assert_eq!(listed[0]["app_version"], json!("7"));
    let history = helm(&setting, &["history", "web", "-o", "json"]).await;
    let history: Vec<Value> = serde_json::from_str(&history).unwrap();
    let told: Vec<_> = history
        .iter()
        .map(|one| (one["revision"].clone(), one["description"].clone()))
        .collect();
    assert_eq!(
        told,
        [
            (json!(1), json!("Install complete")),
            (json!(2), json!("Upgrade complete"))
        ]
    );
    let values = helm(&setting, &["get", "values", "web", "-o", "json"]).await;
    let values: Value = serde_json::from_str(&values).unwrap();
    assert_eq!(values, json!({"a": "two", "extra": {"deep": [1, 2.5, "x"]}}));
    let manifest = helm(&setting, &["get", "manifest", "web"]).await;
    assert!(
        manifest.contains("# Source: app/templates/config.yaml"),
        "{manifest}"
    );
    // Nobody else is to work on it from now on.
    setting.bed.patch("web", json!({"spec": {"suspend": true}})).await;
    // Our fields are of another manager, as those of Flux are.
    helm(&setting, &["rollback", "web", "1", "--force-conflicts"]).await;
    setting.value("web", Some("one")).await;
    helm(&setting, &["uninstall", "web"]).await;
    setting.value("web", None).await;
    assert!(setting.records("web").await.is_empty());
}

#[tokio::test]
async fn a_release_that_helm_made_is_taken_over() {
    if program::find("helm").is_none() {
        return;
    }
    let setting = Setting::with(&FILES).await;
    let folder = tempfile::tempdir().unwrap();
    let chart = folder.path().join("app");
    std::fs::create_dir_all(chart.join("templates")).unwrap();
    std::fs::write(chart.join("Chart.yaml"), CHART).unwrap();
    std::fs::write(chart.join("values.yaml"), "a: of-helm\n").unwrap();
    std::fs::write(chart.join("templates/config.yaml"), CONFIG).unwrap();
    let old = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: old\ndata: {a: \"1\"}\n";
    std::fs::write(chart.join("templates/old.yaml"), old).unwrap();
    helm(&setting, &["install", "web", chart.to_str().unwrap()]).await;
    setting.value("web", Some("of-helm")).await;
    setting.create("web", json!({})).await;
    setting.deployed("web", 2).await;
    setting.value("web", Some("one")).await;
    setting.value("old", None).await;
    let records = setting.records("web").await;
    let statuses: Vec<&str> = records.iter().map(|(_, status)| status.as_str()).collect();
    assert_eq!(statuses, ["superseded", "deployed"]);
    let history = helm(&setting, &["history", "web", "-o", "json"]).await;
    let history: Vec<Value> = serde_json::from_str(&history).unwrap();
    assert_eq!(history.len(), 2, "{history:?}");
}
