//! Installed, upgraded, tested, uninstalled: what goes well.

use serde_json::json;

use super::bed::{CONFIG, Setting};
use crate::sources::bed::condition;

#[tokio::test]
async fn a_chart_is_installed_upgraded_and_goes_with_its_object() {
    let setting = Setting::with(&[
        ("app/values.yaml", "a: one\n"),
        ("app/templates/config.yaml", CONFIG),
    ])
    .await;
    setting.create("web", json!({})).await;
    let object = setting.deployed("web", 1).await;
    setting.value("web", Some("one")).await;
    let ready = condition(&object, "Ready").unwrap();
    let status = object.status.clone().unwrap();
    let latest = &status.history[0];
    assert_eq!(ready.reason, "InstallSucceeded");
    assert_eq!(
        ready.message,
        format!(
            "Helm install succeeded for release {}/web.v1 with chart app@{}",
            setting.bed.namespace, latest.chart_version
        )
    );
    assert_eq!(latest.app_version.as_deref(), Some("7"));
    assert_eq!(latest.action.as_deref(), Some("install"));
    assert_eq!(status.inventory.unwrap().entries.len(), 1);
    let map = setting.config_maps().get("web").await.unwrap();
    let labels = map.metadata.labels.unwrap();
    assert_eq!(labels["app.kubernetes.io/managed-by"], "Helm");
    assert_eq!(labels["helm.toolkit.fluxcd.io/name"], "web");
    assert_eq!(
        map.metadata.annotations.unwrap()["meta.helm.sh/release-name"],
        "web"
    );

    let told = |event: &k8s_openapi::api::core::v1::Event| {
        let metadata = event.metadata.annotations.clone().unwrap_or_default();
        event.reason.as_deref() == Some("InstallSucceeded")
            && metadata
                .get("helm.toolkit.fluxcd.io/app-version")
                .map(String::as_str)
                == Some("7")
    };
    setting.bed.until_event(told).await;
    setting
        .bed
        .patch("web", json!({"spec": {"values": {"a": "two"}}}))
        .await;
    let object = setting.deployed("web", 2).await;
    setting.value("web", Some("two")).await;
    assert_eq!(condition(&object, "Ready").unwrap().reason, "UpgradeSucceeded");
    let records = setting.records("web").await;
    let expected = [("1", "superseded"), ("2", "deployed")];
    assert_eq!(
        records,
        expected.map(|(version, status)| (version.to_owned(), status.to_owned()))
    );

    setting.bed.api.delete("web", &Default::default()).await.unwrap();
    setting.value("web", None).await;
    setting.bed.gone("web").await;
    assert!(setting.records("web").await.is_empty());
}

#[tokio::test]
async fn what_is_no_longer_in_a_chart_goes_and_what_is_to_be_kept_stays() {
    let other = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: other\ndata: {a: \"1\"}\n";
    let kept = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: kept\n  annotations: {helm.sh/resource-policy: keep}\ndata: {a: \"1\"}\n";
    let setting = Setting::with(&[
        ("app/templates/other.yaml", other),
        ("app/templates/kept.yaml", kept),
    ])
    .await;
    setting.create("web", json!({})).await;
    setting.deployed("web", 1).await;
    setting.value("other", Some("1")).await;
    setting
        .commit(&[
            ("app/templates/other.yaml", ""),
            ("app/templates/kept.yaml", ""),
            ("app/templates/config.yaml", CONFIG),
            ("app/values.yaml", "a: x"),
        ])
        .await;
    setting.deployed("web", 2).await;
    setting.value("other", None).await;
    setting.value("kept", Some("1")).await;
    setting.value("web", Some("x")).await;
}

#[tokio::test]
async fn values_come_from_config_maps_and_secrets_and_the_spec_goes_before() {
    let setting = Setting::with(&[
        ("app/values.yaml", "a: one\n"),
        ("app/templates/config.yaml", CONFIG),
    ])
    .await;
    let map = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "values", "labels": {"reconcile.fluxcd.io/watch": "Enabled"}},
        "data": {"values.yaml": "a: from-map\n"},
    });
    let map = serde_json::from_value(map).unwrap();
    setting
        .config_maps()
        .create(&Default::default(), &map)
        .await
        .unwrap();
    setting
        .create(
            "web",
            json!({"valuesFrom": [{"kind": "ConfigMap", "name": "values"}]}),
        )
        .await;
    setting.deployed("web", 1).await;
    setting.value("web", Some("from-map")).await;
    let patch = json!({"data": {"values.yaml": "a: changed\n"}});
    let patch = kube::api::Patch::Merge(patch);
    setting
        .config_maps()
        .patch("values", &Default::default(), &patch)
        .await
        .unwrap();
    setting.deployed("web", 2).await;
    setting.value("web", Some("changed")).await;
}
