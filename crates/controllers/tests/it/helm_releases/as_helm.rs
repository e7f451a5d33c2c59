//! What Helm does with charts, values and objects that is easily missed.

use api::helm::HelmRelease;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Api;
use serde_json::json;

use super::applied::definition;
use super::bed::{CHART, CONFIG, Setting};
use super::hands::message;

const FILES: [(&str, &str); 2] = [
    ("app/values.yaml", "a: one\n"),
    ("app/templates/config.yaml", CONFIG),
];

const DEPLOYMENT: &str = "apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
spec:
  paused: {{ .Values.paused }}
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec: {containers: [{name: c, image: none}]}
";

/// `upgrade.preserveValues`: what the chart of the release before has said stays too, as with Helm: its values are the defaults of the new one. And that is no reason
/// for one more upgrade.
#[tokio::test]
async fn the_defaults_of_the_release_before_stay_where_values_are_to_stay() {
    let setting = Setting::with(&FILES).await;
    setting
        .create("keeps", json!({"upgrade": {"preserveValues": true}}))
        .await;
    setting.create("plain", json!({})).await;
    for name in ["keeps", "plain"] {
        setting.deployed(name, 1).await;
    }
    setting.commit(&[("app/values.yaml", "a: two\nb: 5\n")]).await;
    for (name, value) in [("keeps", "one"), ("plain", "two")] {
        setting.deployed(name, 2).await;
        setting.value(name, Some(value)).await;
    }
    let record = setting.record("keeps", 2).await;
    let stored = record.chart.unwrap().values;
    assert_eq!(serde_json::to_value(&stored).unwrap(), json!({"a": "one"}));
    setting.change("keeps", json!({"values": {"b": 6}})).await;
    setting.deployed("keeps", 3).await;
    setting.value("keeps", Some("one")).await;
    let object = setting.ask("keeps").await;
    assert_eq!(object.status.unwrap().history[0].version, 3);
}

/// `install.crds`: a chart below that takes no part brings no definitions, and they are not listed.
#[tokio::test]
async fn definitions_of_charts_that_take_no_part_are_not_made() {
    let setting = Setting::with(&FILES).await;
    let group = format!("{}.sluice.test", setting.bed.namespace);
    let name = format!("parts.{group}");
    let path = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}");
    setting.bed.cluster.delete_at_end(path);
    let chart = format!("{CHART}dependencies:\n- name: sub\n  version: 1.0.0\n  condition: sub.enabled\n");
    let below = CHART.replace("name: app", "name: sub");
    let brought = definition(&group, "parts", &["v1"]);
    setting
        .commit(&[
            ("app/Chart.yaml", &chart),
            ("app/charts/sub/Chart.yaml", &below),
            ("app/charts/sub/crds/part.yaml", &brought),
        ])
        .await;
    let listed = |object: &HelmRelease| {
        let status = object.status.as_ref().unwrap();
        let entries = &status.inventory.as_ref().unwrap().entries;
        entries.iter().any(|entry| *entry.id.0.name == *name)
    };
    let definitions: Api<CustomResourceDefinition> = Api::all(setting.bed.cluster.client());
    setting
        .create("without", json!({"values": {"sub": {"enabled": false}}}))
        .await;
    let object = setting.deployed("without", 1).await;
    assert!(!listed(&object), "{:?}", object.status);
    assert!(definitions.get_opt(&name).await.unwrap().is_none());
    setting
        .create("with", json!({"values": {"sub": {"enabled": true}}}))
        .await;
    let object = setting.deployed("with", 1).await;
    assert!(listed(&object), "{:?}", object.status);
    definitions.get(&name).await.unwrap();
}

/// `waitStrategy`, HR9: nothing goes on with a paused Deployment, and nobody waits for it.
#[tokio::test]
async fn a_paused_deployment_is_not_waited_for() {
    let setting = Setting::with(&[("app/templates/deployment.yaml", DEPLOYMENT)]).await;
    let spec = |paused: bool, waiter: &str| json!({"values": {"paused": paused}, "timeout": "2s", "waitStrategy": {"name": waiter}});
    for waiter in ["poller", "legacy"] {
        setting
            .create(&format!("still-{waiter}"), spec(true, waiter))
            .await;
        setting
            .create(&format!("goes-{waiter}"), spec(false, waiter))
            .await;
    }
    for waiter in ["poller", "legacy"] {
        setting.deployed(&format!("still-{waiter}"), 1).await;
        setting
            .ready(&format!("goes-{waiter}"), "False", "InstallFailed")
            .await;
    }
}

/// HS3: objects that cannot be listed are told of by an event, and the release goes on.
#[tokio::test]
async fn an_inventory_that_cannot_be_made_is_told_of() {
    let bad = ("app/crds/bad.yaml", "a: [\n");
    let setting = Setting::with(&[FILES[0], FILES[1], bad]).await;
    setting.create("web", json!({"install": {"crds": "Skip"}})).await;
    let object = setting.deployed("web", 1).await;
    assert_eq!(message(&object, "Stalled"), "");
    let told = setting
        .bed
        .until_event(|event| event.reason.as_deref() == Some("InventoryBuildFailed"))
        .await;
    let space = &setting.bed.namespace;
    let begin = format!("failed to build inventory for {space}/web: failed to parse CRD app/crds/bad.yaml: ");
    let text = told.message.unwrap_or_default();
    assert!(text.starts_with(&begin), "{text}");
    assert_eq!(told.type_.as_deref(), Some("Warning"));
}
