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

#[tokio::test]
async fn a_git_repository_has_a_minute() {
    let spec = json!({"url": "https://example.com/app", "interval": "1m", "verify": {"secretRef": {"name": "keys"}}});
    let mut expected = spec.clone();
    expected["timeout"] = json!("60s");
    expected["verify"]["mode"] = json!("HEAD");
    check("GitRepository", "v1", spec, expected, unobserved()).await;
}

#[tokio::test]
async fn an_oci_repository_uses_the_secret_and_cosign() {
    let spec = json!({"url": "oci://example.com/app", "interval": "1m", "verify": {}});
    let mut expected = spec.clone();
    expected["timeout"] = json!("60s");
    expected["provider"] = json!("generic");
    expected["verify"]["provider"] = json!("cosign");
    check("OCIRepository", "v1", spec, expected, unobserved()).await;
}

#[tokio::test]
async fn a_helm_repository_uses_the_secret() {
    let spec = json!({"url": "https://example.com/charts"});
    let mut expected = spec.clone();
    expected["provider"] = json!("generic");
    check("HelmRepository", "v1", spec, expected, unobserved()).await;
}

#[tokio::test]
async fn a_helm_chart_takes_any_version() {
    let spec =
        json!({"chart": "podinfo", "interval": "1m", "sourceRef": {"kind": "HelmRepository", "name": "a"}});
    let mut expected = spec.clone();
    expected["version"] = json!("*");
    expected["reconcileStrategy"] = json!("ChartVersion");
    check("HelmChart", "v1", spec, expected, unobserved()).await;
}

#[tokio::test]
async fn a_bucket_speaks_s3() {
    let spec = json!({"bucketName": "a", "endpoint": "example.com", "interval": "1m"});
    let mut expected = spec.clone();
    expected["provider"] = json!("generic");
    expected["timeout"] = json!("60s");
    check("Bucket", "v1", spec, expected, unobserved()).await;
}

#[tokio::test]
async fn an_external_artifact_has_no_status_at_first() {
    check("ExternalArtifact", "v1", json!({}), json!({}), Value::Null).await;
}
