//! The rules of providers and receivers.

use serde_json::{Value, json};

use super::{check, with};

fn receiver(kind: &str, more: Value) -> Value {
    with(
        &json!({"type": kind, "resources": [{"kind": "GitRepository", "name": "a"}]}),
        more,
    )
}

fn providers() -> Value {
    let validations = json!([{"expression": "true", "message": "never"}]);
    json!([{"issuerURL": "https://example.com", "validations": validations}])
}

#[tokio::test]
async fn only_git_providers_have_a_commit_status() {
    let provider = |kind| json!({"type": kind, "commitStatusExpr": "'a'"});
    let message = "spec.commitStatusExpr is only supported for the 'github', 'gitlab', 'gitea'";
    check(
        "Provider",
        "v1beta3",
        provider("bitbucket"),
        provider("slack"),
        message,
    )
    .await;
}

#[tokio::test]
async fn a_receiver_of_tokens_knows_who_issues_them() {
    let good = receiver("generic-oidc", json!({"oidcProviders": providers()}));
    let bad = receiver("generic-oidc", json!({}));
    check(
        "Receiver",
        "v1",
        good,
        bad,
        "generic-oidc receivers must define at least one oidcProvider",
    )
    .await;
}

#[tokio::test]
async fn only_a_receiver_of_tokens_has_issuers() {
    let good = receiver("github", json!({"secretRef": {"name": "a"}, "oidcProviders": []}));
    let bad = receiver(
        "github",
        json!({"secretRef": {"name": "a"}, "oidcProviders": providers()}),
    );
    check(
        "Receiver",
        "v1",
        good,
        bad,
        "oidcProviders can only be set when type is generic-oidc",
    )
    .await;
}

#[tokio::test]
async fn a_receiver_of_tokens_has_no_secret() {
    let good = receiver("generic-oidc", json!({"oidcProviders": providers()}));
    let bad = with(&good, json!({"secretRef": {"name": "a"}}));
    check(
        "Receiver",
        "v1",
        good,
        bad,
        "secretRef cannot be set when type is generic-oidc",
    )
    .await;
}

#[tokio::test]
async fn other_receivers_have_a_secret() {
    let good = receiver("quay", json!({"secretRef": {"name": "a"}}));
    check(
        "Receiver",
        "v1",
        good,
        receiver("quay", json!({})),
        "secretRef is required when type is not generic-oidc",
    )
    .await;
}
