//! What others change about the objects of a release, and what is not looked at.

use api::helm::HelmRelease;
use kube::api::Patch;
use serde_json::{Value, json};

use super::bed::{CONFIG, Setting};
use super::hands::{message, said};

/// Another object of the release, a hook, and a label that the chart sets.
const MORE: &str = "apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-more
  labels: {own: chart}
data: {a: more, b: more}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-hook
  annotations: {helm.sh/hook: pre-install}
data: {a: hook}
";

const FILES: [(&str, &str); 3] = [
    ("app/values.yaml", "a: one\n"),
    ("app/templates/config.yaml", CONFIG),
    ("app/templates/more.yaml", MORE),
];

async fn by_hand(setting: &Setting, name: &str, patch: Value) {
    let patch = Patch::Merge(patch);
    let patched = setting
        .config_maps()
        .patch(name, &Default::default(), &patch)
        .await;
    patched.unwrap();
}

fn drifted(object: &HelmRelease) -> bool {
    said(object, &["Drifted"])[0].starts_with("Drifted=True")
}

/// §3.6, `driftDetection`, `Drifted`: what is gone or has changed is told, with what the release is; labels of the chart count, those of others, hooks and
/// ignored fields do not.
#[tokio::test]
async fn what_differs_is_told_and_what_is_ignored_is_not() {
    let setting = Setting::with(&FILES).await;
    let ignore = json!([
        {"paths": ["/data/b"], "target": {"kind": "ConfigMap", "name": "web-m.*"}},
        {"paths": ["/data/a"], "target": {"kind": "ConfigMap", "name": "mor"}},
    ]);
    let spec = json!({"driftDetection": {"mode": "warn", "ignore": ignore}});
    setting.create("web", spec).await;
    setting.deployed("web", 1).await;
    let object = setting.ask("web").await;
    assert_eq!(said(&object, &["Drifted"]), ["Drifted=False NoDriftDetected"]);
    by_hand(&setting, "web-hook", json!({"data": {"a": "by hand"}})).await;
    let strange = json!({"metadata": {"labels": {"strange": "1"}, "annotations": {"strange": "1"}}, "data": {"b": "by hand"}});
    by_hand(&setting, "web-more", strange).await;
    let object = setting.ask("web").await;
    assert_eq!(said(&object, &["Drifted"]), ["Drifted=False NoDriftDetected"]);

    by_hand(
        &setting,
        "web-more",
        json!({"metadata": {"labels": {"own": "by-hand"}}}),
    )
    .await;
    setting
        .config_maps()
        .delete("web", &Default::default())
        .await
        .unwrap();
    setting.ask("web").await;
    let both = |object: &HelmRelease| {
        let told = message(object, "Drifted");
        drifted(object) && told.contains("/web-more changed (") && told.contains("/web removed")
    };
    let object = setting.bed.until("web", both).await;
    let space = &setting.bed.namespace;
    let wanted = format!("Cluster state of release {space}/web.v1 has drifted from the desired state:\n");
    let told = message(&object, "Drifted");
    assert!(told.starts_with(&wanted), "{told}");
    assert_eq!(
        said(&object, &["Drifted", "Ready"]),
        ["Drifted=True DriftDetected", "Ready=True InstallSucceeded"]
    );
    setting
        .bed
        .until_event(|event| {
            let is_warning = event.type_.as_deref() == Some("Warning");
            is_warning && event.reason.as_deref() == Some("DriftDetected")
        })
        .await;
    setting.value("web", None).await;
}

/// §3.6: what is gone is made again and what has changed is set right, without a release; an object that is ignored as a whole is neither.
#[tokio::test]
async fn what_differs_is_set_right_but_for_what_is_ignored() {
    let setting = Setting::with(&FILES).await;
    let ignore = json!([{"paths": [""], "target": {"name": "web-more"}}]);
    let spec = json!({"driftDetection": {"mode": "enabled", "ignore": ignore}});
    setting.create("web", spec).await;
    setting.deployed("web", 1).await;
    by_hand(&setting, "web-more", json!({"data": {"a": "by hand"}})).await;
    setting
        .config_maps()
        .delete("web", &Default::default())
        .await
        .unwrap();
    setting.value("web", Some("one")).await;
    setting.value("web-more", Some("by hand")).await;
    let told = setting
        .bed
        .until_event(|event| event.reason.as_deref() == Some("DriftCorrected"))
        .await;
    let text = told.message.unwrap();
    assert!(text.contains(&format!("{}/web", setting.bed.namespace)), "{text}");
    setting
        .until_said(
            "web",
            &["Drifted=False NoDriftDetected", "Ready=True InstallSucceeded"],
        )
        .await;
    assert_eq!(setting.records("web").await.len(), 1);
    // With the mode off nobody looks.
    setting
        .change("web", json!({"driftDetection": {"mode": "disabled"}}))
        .await;
    let handled = |object: &HelmRelease| object.status.as_ref().unwrap().observed_generation == Some(2);
    setting.bed.until("web", handled).await;
    by_hand(&setting, "web", json!({"data": {"a": "by hand"}})).await;
    setting.ask("web").await;
    setting.value("web", Some("by hand")).await;
}

/// §3.6: what cannot be set right is told, and the release is not ready until it can.
#[tokio::test]
async fn what_cannot_be_set_right_is_told() {
    let setting = Setting::with(&FILES).await;
    setting
        .create("web", json!({"driftDetection": {"mode": "enabled"}}))
        .await;
    setting.deployed("web", 1).await;
    by_hand(
        &setting,
        "web",
        json!({"data": {"a": "by hand"}, "immutable": true}),
    )
    .await;
    let object = setting
        .bed
        .until("web", |object| {
            said(object, &["Ready"])[0].starts_with("Ready=False")
        })
        .await;
    let told = message(&object, "Ready");
    assert!(told.contains("immutable"), "{told}");
    setting
        .config_maps()
        .delete("web", &Default::default())
        .await
        .unwrap();
    setting.value("web", Some("one")).await;
    let fine = |object: &HelmRelease| said(object, &["Ready"])[0].starts_with("Ready=True");
    setting.bed.until("web", fine).await;
}

/// §3.6: who puts something right leaves alone what is ignored, however the objects are written.
#[tokio::test]
async fn what_is_ignored_is_left_when_something_else_is_set_right() {
    let setting = Setting::with(&FILES).await;
    for (name, install) in [("web", json!({})), ("old", json!({"serverSideApply": false}))] {
        let ignore = json!([{"paths": ["/data/b"]}]);
        let spec = json!({"install": install, "driftDetection": {"mode": "enabled", "ignore": ignore}});
        setting.create(name, spec).await;
        setting.deployed(name, 1).await;
        let more = format!("{name}-more");
        by_hand(&setting, &more, json!({"data": {"b": "scaled"}})).await;
        by_hand(&setting, &more, json!({"data": {"a": "by hand"}})).await;
        setting.value(&more, Some("more")).await;
        let map = setting.config_maps().get(&more).await.unwrap();
        assert_eq!(map.data.unwrap()["b"], "scaled", "{name}");
    }
}

/// §3.6: an object that cannot be compared holds up no others.
#[tokio::test]
async fn what_can_be_set_right_is_beside_what_cannot() {
    let setting = Setting::with(&FILES).await;
    setting
        .create("web", json!({"driftDetection": {"mode": "enabled"}}))
        .await;
    setting.deployed("web", 1).await;
    let stuck = json!({"data": {"a": "by hand"}, "immutable": true});
    by_hand(&setting, "web-more", stuck).await;
    setting
        .bed
        .until("web", |object| message(object, "Ready").contains("immutable"))
        .await;
    by_hand(&setting, "web", json!({"data": {"a": "by hand"}})).await;
    setting.value("web", Some("one")).await;
    setting.value("web-more", Some("by hand")).await;
}

/// §3.6: what others add by kubectl is theirs, also when something else is set right.
#[tokio::test]
async fn what_kubectl_has_added_stays() {
    let setting = Setting::with(&FILES).await;
    setting
        .create("web", json!({"driftDetection": {"mode": "enabled"}}))
        .await;
    setting.deployed("web", 1).await;
    let by_kubectl = kube::api::PatchParams {
        field_manager: Some("kubectl-patch".to_owned()),
        ..Default::default()
    };
    let added = json!({"metadata": {"labels": {"strange": "1"}}, "data": {"b": "added"}});
    for patch in [added, json!({"data": {"a": "by hand"}})] {
        let (maps, patch) = (setting.config_maps(), Patch::Merge(patch));
        maps.patch("web", &by_kubectl, &patch).await.unwrap();
    }
    setting.value("web", Some("one")).await;
    setting.ask("web").await;
    let map = setting.config_maps().get("web").await.unwrap();
    assert_eq!(map.data.unwrap()["b"], "added");
    assert_eq!(map.metadata.labels.unwrap()["strange"], "1");
}
