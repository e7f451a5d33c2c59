//! Each rule of the schemas accepts what is right and refuses what is not, with its message.

use serde_json::{Value, json};

use crate::served::Served;

/// Checks that the server takes the one spec and refuses the other with that message.
async fn check(kind: &str, version: &str, good: Value, bad: Value, message: &str) {
    let served = Served::start(kind).await;
    served.create(version, "good", &good).await.unwrap();
    let refused = served.create(version, "bad", &bad).await.unwrap_err();
    assert!(refused.contains(message), "{refused}");
    served.finish().await;
}

/// `base` with the fields of `more`.
fn with(base: &Value, more: Value) -> Value {
    let mut value = base.clone();
    for (key, more) in more.as_object().unwrap() {
        value[key] = more.clone();
    }
    value
}

mod source {
    use super::*;

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
}

mod appliers {
    use super::*;

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
        let path =
            |path| release(json!({"valuesFrom": [{"kind": "Secret", "name": "a", "targetPath": path}]}));
        check(
            "HelmRelease",
            "v2",
            path(r"a\.b/c.d[0].e-f"),
            path("a b"),
            "spec.valuesFrom[0].targetPath",
        )
        .await;
    }
}

mod notification {
    use super::*;

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
}

mod image {
    use super::*;

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
}

mod extensions {
    use super::*;

    fn generator(name: &str, more: Value) -> Value {
        let copy = json!([{"from": "@a/**", "to": "@artifact/"}]);
        let sources = json!([{"alias": "a", "kind": "GitRepository", "name": "a"}]);
        with(
            &json!({"sources": sources, "artifacts": [{"name": name, "copy": copy}]}),
            more,
        )
    }

    const MESSAGE: &str = "artifact names must be valid Kubernetes object names when pathPattern is not set";

    #[tokio::test]
    async fn artifacts_without_a_path_pattern_have_names_of_objects() {
        let (good, bad) = (generator("a.b-c", json!({})), generator("{{ .name }}", json!({})));
        check("ArtifactGenerator", "v1beta1", good, bad.clone(), MESSAGE).await;
        check(
            "ArtifactGenerator",
            "v1beta1",
            with(&bad, json!({"pathPattern": "@a/apps/*"})),
            bad,
            MESSAGE,
        )
        .await;
    }
}
