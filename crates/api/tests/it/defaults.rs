//! What the server fills in.

use serde_json::{Value, json};

use crate::served::Served;

/// Creates an object and compares it with what it should have become.
async fn check(kind: &str, version: &str, spec: Value, expected: Value, status: Value) {
    let served = Served::start(kind).await;
    let created = served.create(version, "a", &spec).await.unwrap();
    assert_eq!(created["spec"], expected);
    assert_eq!(created["status"], status);
    served.finish().await;
}

fn unobserved() -> Value {
    json!({"observedGeneration": -1})
}

/// X2, X3: defaults, of the status too
#[tokio::test]
async fn a_git_repository_has_a_minute() {
    let spec = json!({"url": "https://example.com/app", "interval": "1m", "verify": {"secretRef": {"name": "keys"}}});
    let mut expected = spec.clone();
    expected["timeout"] = json!("60s");
    expected["verify"]["mode"] = json!("HEAD");
    check("GitRepository", "v1", spec, expected, unobserved()).await;
}

/// X3
#[tokio::test]
async fn an_oci_repository_uses_the_secret_and_cosign() {
    let spec = json!({"url": "oci://example.com/app", "interval": "1m", "verify": {}});
    let mut expected = spec.clone();
    expected["timeout"] = json!("60s");
    expected["provider"] = json!("generic");
    expected["verify"]["provider"] = json!("cosign");
    check("OCIRepository", "v1", spec, expected, unobserved()).await;
}

/// X3
#[tokio::test]
async fn a_helm_repository_uses_the_secret() {
    let spec = json!({"url": "https://example.com/charts"});
    let mut expected = spec.clone();
    expected["provider"] = json!("generic");
    check("HelmRepository", "v1", spec, expected, unobserved()).await;
}

/// X3
#[tokio::test]
async fn a_helm_chart_takes_any_version() {
    let spec =
        json!({"chart": "podinfo", "interval": "1m", "sourceRef": {"kind": "HelmRepository", "name": "a"}});
    let mut expected = spec.clone();
    expected["version"] = json!("*");
    expected["reconcileStrategy"] = json!("ChartVersion");
    check("HelmChart", "v1", spec, expected, unobserved()).await;
}

/// X3
#[tokio::test]
async fn a_bucket_speaks_s3() {
    let spec = json!({"bucketName": "a", "endpoint": "example.com", "interval": "1m"});
    let mut expected = spec.clone();
    expected["provider"] = json!("generic");
    expected["timeout"] = json!("60s");
    check("Bucket", "v1", spec, expected, unobserved()).await;
}

/// X3
#[tokio::test]
async fn an_external_artifact_has_no_status_at_first() {
    check("ExternalArtifact", "v1", json!({}), json!({}), Value::Null).await;
}

/// X3
#[tokio::test]
async fn a_kustomization_is_not_forced() {
    let spec = json!({
        "interval": "1m",
        "prune": true,
        "sourceRef": {"kind": "GitRepository", "name": "a"},
        "postBuild": {"substituteFrom": [{"kind": "ConfigMap", "name": "a"}]},
    });
    let mut expected = spec.clone();
    expected["force"] = json!(false);
    expected["postBuild"]["substituteFrom"][0]["optional"] = json!(false);
    check("Kustomization", "v1", spec, expected, unobserved()).await;
}

/// X3
#[tokio::test]
async fn a_helm_release_takes_any_version_and_deletes_in_the_background() {
    let source = json!({"kind": "HelmRepository", "name": "a"});
    let spec = json!({
        "interval": "1m",
        "chart": {"spec": {"chart": "podinfo", "sourceRef": source, "verify": {}}},
        "uninstall": {},
        "values": {"kept": {"as": ["it", 1, true]}},
    });
    let mut expected = spec.clone();
    expected["chart"]["spec"]["version"] = json!("*");
    expected["chart"]["spec"]["reconcileStrategy"] = json!("ChartVersion");
    expected["chart"]["spec"]["verify"]["provider"] = json!("cosign");
    expected["uninstall"]["deletionPropagation"] = json!("background");
    check("HelmRelease", "v2", spec, expected, unobserved()).await;
}

#[tokio::test]
async fn an_alert_passes_on_all_events_and_has_no_status() {
    let spec = json!({"providerRef": {"name": "a"}, "eventSources": [{"kind": "Bucket", "name": "*"}]});
    let mut expected = spec.clone();
    expected["eventSeverity"] = json!("info");
    check("Alert", "v1beta3", spec, expected, Value::Null).await;
}

#[tokio::test]
async fn a_receiver_is_looked_at_every_ten_minutes() {
    let resources = json!([{"kind": "GitRepository", "name": "a"}]);
    let spec = json!({"type": "github", "resources": resources, "secretRef": {"name": "a"}});
    let mut expected = spec.clone();
    expected["interval"] = json!("10m");
    check("Receiver", "v1", spec, expected, unobserved()).await;
}

#[tokio::test]
async fn an_image_repository_leaves_out_signatures() {
    let spec = json!({"image": "example.com/app", "interval": "1m"});
    let mut expected = spec.clone();
    expected["exclusionList"] = json!(["^.*\\.sig$"]);
    expected["provider"] = json!("generic");
    check("ImageRepository", "v1", spec, expected, unobserved()).await;
}

#[tokio::test]
async fn an_image_policy_takes_the_last_tag_and_no_digest() {
    let spec = json!({"imageRepositoryRef": {"name": "a"}, "policy": {"alphabetical": {}}});
    let mut expected = spec.clone();
    expected["digestReflectionPolicy"] = json!("Never");
    expected["policy"]["alphabetical"]["order"] = json!("asc");
    check("ImagePolicy", "v1", spec, expected, unobserved()).await;
}

#[tokio::test]
async fn an_image_update_automation_changes_what_comments_mark() {
    let spec = json!({"interval": "1m", "sourceRef": {"name": "a"}});
    let mut expected = spec.clone();
    expected["sourceRef"]["kind"] = json!("GitRepository");
    expected["update"] = json!({"strategy": "Setters"});
    check("ImageUpdateAutomation", "v1", spec, expected, unobserved()).await;
}
