//! The rules of Kustomizations and HelmReleases.

use serde_json::{Value, json};

use super::{check, with};

fn kustomization(more: Value) -> Value {
    let source = json!({"kind": "GitRepository", "name": "a"});
    with(
        &json!({"interval": "1m", "prune": false, "sourceRef": source}),
        more,
    )
}

fn release(more: Value) -> Value {
    let reference = json!({"kind": "OCIRepository", "name": "a"});
    with(&json!({"interval": "1m", "chartRef": reference}), more)
}

const ONE_OF_BOTH: &str =
    "exactly one of spec.kubeConfig.configMapRef or spec.kubeConfig.secretRef must be specified";

#[tokio::test]
async fn a_kubeconfig_is_somewhere() {
    let good = kustomization(json!({"kubeConfig": {"secretRef": {"name": "a"}}}));
    check(
        "Kustomization",
        "v1",
        good,
        kustomization(json!({"kubeConfig": {}})),
        ONE_OF_BOTH,
    )
    .await;
}

#[tokio::test]
async fn a_kubeconfig_is_in_one_place() {
    let good = release(json!({"kubeConfig": {"configMapRef": {"name": "a"}}}));
    let both = json!({"configMapRef": {"name": "a"}, "secretRef": {"name": "a"}});
    check(
        "HelmRelease",
        "v2",
        good,
        release(json!({"kubeConfig": both})),
        ONE_OF_BOTH,
    )
    .await;
}

#[tokio::test]
async fn a_kustomization_says_whether_it_prunes() {
    let mut bad = kustomization(json!({}));
    bad.as_object_mut().unwrap().remove("prune");
    check("Kustomization", "v1", kustomization(json!({})), bad, "spec.prune").await;
}

#[tokio::test]
async fn a_release_has_one_chart() {
    let chart = json!({"spec": {"chart": "a", "sourceRef": {"kind": "Bucket", "name": "a"}}});
    let message = "either chart or chartRef must be set";
    check(
        "HelmRelease",
        "v2",
        release(json!({})),
        release(json!({"chart": chart})),
        message,
    )
    .await;
    check(
        "HelmRelease",
        "v2",
        release(json!({})),
        json!({"interval": "1m"}),
        message,
    )
    .await;
}

#[tokio::test]
async fn an_install_that_remediates_has_no_retry_interval() {
    let install = |name| release(json!({"install": {"strategy": {"name": name, "retryInterval": "1m"}}}));
    let message = ".retryInterval cannot be set when .name is 'RemediateOnFailure'";
    check(
        "HelmRelease",
        "v2",
        install("RetryOnFailure"),
        install("RemediateOnFailure"),
        message,
    )
    .await;
}

#[tokio::test]
async fn an_upgrade_that_remediates_has_no_retry_interval() {
    let upgrade = |name| release(json!({"upgrade": {"strategy": {"name": name, "retryInterval": "1m"}}}));
    let message = ".retryInterval can only be set when .name is 'RetryOnFailure'";
    check(
        "HelmRelease",
        "v2",
        upgrade("RetryOnFailure"),
        upgrade("RemediateOnFailure"),
        message,
    )
    .await;
}

#[tokio::test]
async fn a_path_in_values_is_one_that_helm_reads() {
    let path = |path| release(json!({"valuesFrom": [{"kind": "Secret", "name": "a", "targetPath": path}]}));
    check(
        "HelmRelease",
        "v2",
        path(r"a\.b/c.d[0].e-f"),
        path("a b"),
        "spec.valuesFrom[0].targetPath",
    )
    .await;
}
