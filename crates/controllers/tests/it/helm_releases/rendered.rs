//! What is changed about rendered manifests before they are applied.

use api::helm::HelmRelease;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt;
use serde_json::{Value, json};

use super::bed::{CONFIG, Setting};
use super::hands::said;

const HOOK: &str = "apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-hook
  annotations: {helm.sh/hook: \"pre-install,pre-upgrade\"}
data: {a: hook}
";

const POD: &str = "apiVersion: v1
kind: ReplicationController
metadata:
  name: {{ .Release.Name }}
spec:
  replicas: 0
  selector: {app: x}
  template:
    metadata: {labels: {app: x}}
    spec:
      containers: [{name: c, image: \"registry.test/app:1\"}]
";

const FILES: [(&str, &str); 4] = [
    ("app/values.yaml", "a: one\n"),
    ("app/templates/config.yaml", CONFIG),
    ("app/templates/hook.yaml", HOOK),
    ("app/templates/pod.yaml", POD),
];

/// Renderers: the second finds what the first has set.
fn renderers() -> Value {
    let set = |name: &str, path: &str, value: &str| {
        json!({
            "target": {"kind": "ConfigMap", "name": name},
            "patch": format!("- {{op: add, path: {path}, value: {value}}}"),
        })
    };
    json!([
        {"kustomize": {
            "patches": [set(".*", "/data/a", "first"), set(".*", "/metadata/labels", "{origin: own, common: own}")],
            "images": [{"name": "registry.test/app", "newTag": "2"}],
        }},
        {"kustomize": {"patches": [set("web.*", "/data/a", "second")]}},
    ])
}

async fn map(setting: &Setting, name: &str) -> ConfigMap {
    setting.config_maps().get(name).await.unwrap()
}

fn data(map: &ConfigMap) -> &str {
    &map.data.as_ref().unwrap()["a"]
}

/// `postRenderers`, `postRenderStrategy`, `commonMetadata`, §3.5: renderers one after the other, then the common labels and annotations, then the labels of the origin,
/// which nothing overwrites. Hooks are changed as well unless that is not wanted.
#[tokio::test]
async fn manifests_are_changed_by_all_renderers_in_their_order() {
    let setting = Setting::with(&FILES).await;
    let common = json!({
        "labels": {"common": "yes", "helm.toolkit.fluxcd.io/name": "nobody"}, "annotations": {"team": "a"},
    });
    for (name, strategy) in [
        ("web", None),
        ("web-nohooks", Some("nohooks")),
        ("web-separate", Some("separate")),
        ("web-combined", Some("combined")),
    ] {
        let mut spec = json!({"postRenderers": renderers(), "commonMetadata": common});
        if let Some(strategy) = strategy {
            spec["postRenderStrategy"] = json!(strategy);
        }
        setting.create(name, spec).await;
        let object = setting.deployed(name, 1).await;
        let changed = map(&setting, name).await;
        assert_eq!(data(&changed), "second", "{name}");
        let labels = changed.labels();
        assert_eq!(
            (labels["origin"].as_str(), labels["common"].as_str()),
            ("own", "yes")
        );
        assert_eq!(labels["helm.toolkit.fluxcd.io/name"], name);
        assert_eq!(changed.annotations()["team"], "a");
        let hook = map(&setting, &format!("{name}-hook")).await;
        let is_changed = strategy != Some("nohooks");
        assert_eq!(data(&hook), if is_changed { "second" } else { "hook" }, "{name}");
        assert_eq!(hook.labels().contains_key("common"), is_changed, "{name}");
        let record = setting.record(name, 1).await;
        assert!(
            record.manifest.contains("registry.test/app:2"),
            "{}",
            record.manifest
        );
        let status = object.status.unwrap();
        assert!(
            status
                .observed_post_renderers_digest
                .unwrap()
                .starts_with("sha256:")
        );
        assert!(
            status
                .observed_common_metadata_digest
                .unwrap()
                .starts_with("sha256:")
        );
    }
}

/// §3.5, `OutOfSync`: other renderers or other common metadata are a reason for an upgrade, and only with the generation that has them.
#[tokio::test]
async fn other_renderers_and_metadata_make_a_release() {
    let setting = Setting::with(&FILES).await;
    setting.create("web", json!({})).await;
    let object = setting.deployed("web", 1).await;
    let status = object.status.unwrap();
    assert_eq!(status.observed_post_renderers_digest, None);
    setting.change("web", json!({"postRenderers": renderers()})).await;
    setting.deployed("web", 2).await;
    setting
        .change("web", json!({"commonMetadata": {"labels": {"common": "yes"}}}))
        .await;
    let object = setting.deployed("web", 3).await;
    let mut status = object.status.unwrap();
    // What the status says of a generation that was dealt with is not compared again.
    status.observed_post_renderers_digest = Some("sha256:0".to_owned());
    let patch = json!({"status": {"observedPostRenderersDigest": "sha256:0"}});
    let patch = kube::api::Patch::Merge(patch);
    let by = Default::default();
    setting.bed.api.patch_status("web", &by, &patch).await.unwrap();
    let object = setting.ask("web").await;
    assert_eq!(object.status.unwrap().history[0].version, 3);
    setting
        .change("web", json!({"postRenderers": null, "commonMetadata": null}))
        .await;
    setting.deployed("web", 4).await;
    setting.value("web", Some("one")).await;
    // What is no part of the release makes none.
    setting.change("web", json!({"interval": "2h"})).await;
    let handled = |object: &HelmRelease| object.status.as_ref().unwrap().observed_generation == Some(5);
    let object = setting.bed.until("web", handled).await;
    assert_eq!(said(&object, &["Ready"]), ["Ready=True UpgradeSucceeded"]);
    assert_eq!(object.status.unwrap().history[0].version, 4);
}

/// §3.5: renderers that cannot be used fail the release before anything is stored, and what runs stays.
#[tokio::test]
async fn renderers_that_cannot_be_used_are_told() {
    let setting = Setting::with(&FILES).await;
    setting.create("web", json!({})).await;
    setting.deployed("web", 1).await;
    let patch = json!({"target": {"kind": "ConfigMap"}, "patch": "- {op: test, path: /data/a, value: x}"});
    setting
        .change(
            "web",
            json!({"postRenderers": [{"kustomize": {"patches": [patch]}}]}),
        )
        .await;
    let object = setting.ready("web", "False", "UpgradeFailed").await;
    let told = super::hands::message(&object, "Ready");
    assert!(
        told.contains("error while running post render on files"),
        "{told}"
    );
    assert_eq!(setting.records("web").await.len(), 1);
    setting.value("web", Some("one")).await;
}
