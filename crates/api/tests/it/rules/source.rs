//! The rules of the sources.

use serde_json::{Value, json};

use super::{check, with};

fn git() -> Value {
    json!({"url": "https://example.com/app", "interval": "1m"})
}

#[tokio::test]
async fn a_git_repository_takes_a_service_account_only_from_azure_and_aws() {
    let good = with(&git(), json!({"serviceAccountName": "a", "provider": "aws"}));
    let bad = with(&git(), json!({"serviceAccountName": "a", "provider": "github"}));
    check(
        "GitRepository",
        "v1",
        good,
        bad,
        "serviceAccountName can only be set when provider is 'azure' or 'aws'",
    )
    .await;
}

/// X2: patterns
#[tokio::test]
async fn a_git_repository_needs_an_address_that_git_knows() {
    let good = with(&git(), json!({"url": "ssh://git@example.com/app"}));
    let bad = with(&git(), json!({"url": "git@example.com:app"}));
    check("GitRepository", "v1", good, bad, "spec.url").await;
}

#[tokio::test]
async fn a_timeout_of_a_source_has_no_hours() {
    let good = with(&git(), json!({"timeout": "1.5m"}));
    let bad = with(&git(), json!({"timeout": "1h"}));
    check("GitRepository", "v1", good, bad, "spec.timeout").await;
}

/// X2: rules in CEL
#[tokio::test]
async fn a_chart_is_verified_only_from_a_helm_repository() {
    let chart = |kind| json!({"chart": "a", "interval": "1m", "verify": {}, "sourceRef": {"kind": kind, "name": "a"}});
    let message = "spec.verify is only supported when spec.sourceRef.kind is 'HelmRepository'";
    check(
        "HelmChart",
        "v1",
        chart("HelmRepository"),
        chart("Bucket"),
        message,
    )
    .await;
}

fn bucket(more: Value) -> Value {
    with(
        &json!({"bucketName": "a", "endpoint": "example.com", "interval": "1m"}),
        more,
    )
}

fn sts(provider: &str, kind: &str) -> Value {
    bucket(json!({"provider": provider, "sts": {"provider": kind, "endpoint": "https://example.com"}}))
}

#[tokio::test]
async fn a_bucket_of_gcp_has_no_sts() {
    let message = "STS configuration is only supported for the 'aws' and 'generic' Bucket providers";
    check("Bucket", "v1", sts("aws", "aws"), sts("gcp", "aws"), message).await;
}

#[tokio::test]
async fn a_bucket_of_aws_has_the_sts_of_aws() {
    let message = "'aws' is the only supported STS provider for the 'aws' Bucket provider";
    check("Bucket", "v1", sts("aws", "aws"), sts("aws", "ldap"), message).await;
}

#[tokio::test]
async fn a_generic_bucket_has_the_sts_of_ldap() {
    let message = "'ldap' is the only supported STS provider for the 'generic' Bucket provider";
    check(
        "Bucket",
        "v1",
        sts("generic", "ldap"),
        sts("generic", "aws"),
        message,
    )
    .await;
}

#[tokio::test]
async fn the_sts_of_aws_needs_no_secret() {
    let (mut good, mut bad) = (sts("generic", "ldap"), sts("aws", "aws"));
    good["sts"]["secretRef"] = json!({"name": "a"});
    bad["sts"]["secretRef"] = json!({"name": "a"});
    check(
        "Bucket",
        "v1",
        good,
        bad,
        "spec.sts.secretRef is not required for the 'aws' STS provider",
    )
    .await;
}

#[tokio::test]
async fn the_sts_of_aws_needs_no_certificate() {
    let (mut good, mut bad) = (sts("generic", "ldap"), sts("aws", "aws"));
    good["sts"]["certSecretRef"] = json!({"name": "a"});
    bad["sts"]["certSecretRef"] = json!({"name": "a"});
    check(
        "Bucket",
        "v1",
        good,
        bad,
        "spec.sts.certSecretRef is not required for the 'aws' STS provider",
    )
    .await;
}

#[tokio::test]
async fn a_generic_bucket_has_no_service_account() {
    let good = bucket(json!({"provider": "aws", "serviceAccountName": "a"}));
    let bad = bucket(json!({"serviceAccountName": "a"}));
    check(
        "Bucket",
        "v1",
        good,
        bad,
        "ServiceAccountName is not supported for the 'generic' Bucket provider",
    )
    .await;
}

#[tokio::test]
async fn a_bucket_has_a_secret_or_a_service_account() {
    let good = bucket(json!({"provider": "aws", "secretRef": {"name": "a"}}));
    let bad = bucket(json!({"provider": "aws", "secretRef": {"name": "a"}, "serviceAccountName": "a"}));
    check(
        "Bucket",
        "v1",
        good,
        bad,
        "cannot set both .spec.secretRef and .spec.serviceAccountName",
    )
    .await;
}
