//! The rules of image policies.

use serde_json::{Value, json};

use super::{check, with};

fn policy(more: Value) -> Value {
    with(
        &json!({"imageRepositoryRef": {"name": "a"}, "policy": {"semver": {"range": "*"}}}),
        more,
    )
}

#[tokio::test]
async fn an_image_policy_has_an_interval_only_if_digests_are_always_looked_up() {
    let good = policy(json!({"interval": "1m", "digestReflectionPolicy": "Always"}));
    let bad = policy(json!({"interval": "1m", "digestReflectionPolicy": "IfNotPresent"}));
    let message = "spec.interval is only accepted when spec.digestReflectionPolicy is set to 'Always'";
    check("ImagePolicy", "v1", good, bad, message).await;
}

#[tokio::test]
async fn an_image_policy_that_always_looks_up_digests_has_an_interval() {
    let bad = policy(json!({"digestReflectionPolicy": "Always"}));
    let message = "spec.interval must be set when spec.digestReflectionPolicy is set to 'Always'";
    check("ImagePolicy", "v1", policy(json!({})), bad, message).await;
}
