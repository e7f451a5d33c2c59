//! The objects that are compared.

use serde_json::{Value, json};

use super::servers::Servers;

/// One object: as it is made, and as it is changed.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) object: Value,
    /// A merge patch.
    pub(super) then: Value,
    /// Whether nobody works on it.
    pub(super) is_static: bool,
}

fn case(kind: &str, name: &str, spec: Value) -> Case {
    let is_static = spec["type"] == "oci";
    Case {
        name: name.to_owned(),
        object: json!({"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": kind, "spec": spec}),
        then: json!({}),
        is_static,
    }
}

impl Case {
    fn then(mut self, spec: Value) -> Self {
        self.then = json!({"spec": spec});
        self
    }
}

/// All of them.
pub(super) fn cases(servers: &Servers) -> Vec<Case> {
    let mut all = git(servers);
    all.extend(git_include(servers));
    all.extend(git_access(servers));
    all.extend(oci(servers));
    all.extend(oci_access(servers));
    all.extend(helm(servers));
    all.extend(buckets(servers));
    all.extend(charts());
    all.extend(charts_of_files());
    all
}

/// `rest` over what all objects of a kind have.
fn with(mut base: Value, rest: Value) -> Value {
    if let (Some(base), Value::Object(rest)) = (base.as_object_mut(), rest) {
        base.extend(rest);
    }
    base
}

fn git(servers: &Servers) -> Vec<Case> {
    let spec = |repository: &str, rest: Value| {
        let url = servers.git.clone_url(repository);
        with(
            json!({"url": url, "interval": "1h", "ref": {"branch": "main"}}),
            rest,
        )
    };
    let git = |name: &str, rest: Value| case("GitRepository", name, spec("team/app", rest));
    let commit = &servers.commit;
    vec![
        git("git-branch", json!({})),
        git("git-ignore", json!({"ignore": "docs/\n"})).then(json!({"ignore": "app.yaml\n"})),
        git("git-tag", json!({"ref": {"tag": "v1.0.0"}})),
        git("git-annotated-tag", json!({"ref": {"tag": "v2.0.0"}})),
        git("git-semver", json!({"ref": {"semver": ">=1.0.0 <2.0.0"}}))
            .then(json!({"ref": {"semver": ">=3.0.0"}})),
        git("git-semver-bad", json!({"ref": {"semver": "not a range"}})),
        git("git-name", json!({"ref": {"name": "refs/tags/v1.0.0"}})),
        git("git-name-missing", json!({"ref": {"name": "refs/heads/nowhere"}})),
        git("git-commit", json!({"ref": {"commit": commit, "branch": "main"}})),
        git("git-commit-alone", json!({"ref": {"commit": commit}})),
        git(
            "git-commit-missing",
            json!({"ref": {"commit": "0123456789012345678901234567890123456789"}}),
        ),
        git(
            "git-tag-over-semver",
            json!({"ref": {"tag": "v1.0.0", "semver": "2.x"}}),
        ),
        git("git-branch-missing", json!({"ref": {"branch": "nowhere"}}))
            .then(json!({"ref": {"branch": "main"}})),
        git("git-tag-missing", json!({"ref": {"tag": "v9"}})),
        git("git-no-ref", json!({"ref": null})),
        git("git-sparse", json!({"sparseCheckout": ["deploy/a", "./docs"]})),
        git("git-sparse-outside", json!({"sparseCheckout": ["../.."]})),
        git("git-sparse-missing", json!({"sparseCheckout": ["nowhere"]})),
        git(
            "git-submodules",
            json!({"url": servers.git.clone_url("team/modules"), "recurseSubmodules": true}),
        ),
        git(
            "git-sparse-submodules",
            json!({"url": servers.git.clone_url("team/modules"), "recurseSubmodules": true, "sparseCheckout": ["vendor"]}),
        ),
        git(
            "git-sparse-submodule",
            json!({"url": servers.git.clone_url("team/modules"), "recurseSubmodules": true, "sparseCheckout": ["vendor/lib"]}),
        ),
        git(
            "git-sparse-inside-submodule",
            json!({"url": servers.git.clone_url("team/modules"), "recurseSubmodules": true, "sparseCheckout": ["vendor/lib/deploy"]}),
        ),
        git("git-suspended", json!({"suspend": true})),
        git("git-suspended-later", json!({})).then(json!({"suspend": true})),
        git("git-failed-suspended", json!({"ref": {"branch": "nowhere"}})).then(json!({"suspend": true})),
        git(
            "git-stalled-suspended",
            json!({"verify": {"mode": "Tag", "secretRef": {"name": "ada"}}}),
        )
        .then(json!({"suspend": true})),
        git(
            "git-verify-tag-of-branch",
            json!({"verify": {"mode": "Tag", "secretRef": {"name": "ada"}}}),
        ),
        git(
            "git-verify-unsigned",
            json!({"verify": {"mode": "HEAD", "secretRef": {"name": "ada"}}}),
        ),
        git(
            "git-verify-no-secret",
            json!({"verify": {"mode": "HEAD", "secretRef": {"name": "nobody"}}}),
        ),
        case("GitRepository", "git-charts", spec("team/charts", json!({}))),
        case("GitRepository", "git-empty", spec("team/empty", json!({}))),
        case("GitRepository", "git-missing", spec("team/nowhere", json!({}))),
        case("GitRepository", "git-gone", spec("team/gone", json!({}))),
        case(
            "GitRepository",
            "git-no-server",
            with(
                spec("team/app", json!({})),
                json!({"url": "http://127.0.0.1:9/app"}),
            ),
        ),
    ]
}

/// What includes others is woken when all of them are settled, so that both sides see the same.
fn git_include(servers: &Servers) -> Vec<Case> {
    let url = servers.git.clone_url("team/app");
    let git = |name: &str, list: Value| {
        let spec = json!({
            "url": url, "interval": "1h", "ref": {"tag": "v1.0.0"}, "suspend": true, "include": list,
        });
        case("GitRepository", name, spec).then(json!({"suspend": false}))
    };
    let of = |name: &str| json!({"repository": {"name": name}});
    let part = |from: &str, to: &str| with(of("git-charts"), json!({"fromPath": from, "toPath": to}));
    vec![
        git("include-all", json!([of("git-charts")])),
        git(
            "include-parts",
            json!([
                part("charts/app", "vendor/app"),
                part("./charts", "../../outside")
            ]),
        ),
        git("include-taken", json!([part("", "docs")])),
        git("include-root", json!([part("charts", "/")])),
        git("include-nothing", json!([part("nowhere", "to")])),
        git("include-unknown", json!([of("nowhere")])),
        git("include-without-artifact", json!([of("git-tag-missing")])),
    ]
}

fn git_access(servers: &Servers) -> Vec<Case> {
    let url = servers.closed_git.clone_url("team/app");
    let moved = servers.moved_git.clone_url("team/app");
    let git = |name: &str, rest: Value| {
        let base = json!({"url": url, "interval": "1h", "ref": {"branch": "main"}});
        case("GitRepository", name, with(base, rest))
    };
    let secret = |name: &str| json!({"secretRef": {"name": name}});
    vec![
        git("git-closed", json!({})).then(secret("ada")),
        git("git-basic", secret("ada")).then(secret("eve")),
        git("git-wrong", secret("eve")),
        git("git-broken-token", secret("broken-token")),
        git("git-moved", json!({"url": moved, "secretRef": {"name": "ada"}})),
        git(
            "git-moved-wrong",
            json!({"url": moved, "secretRef": {"name": "eve"}}),
        ),
        git("git-half", secret("half")),
        git("git-password-alone", secret("password")),
        git("git-two-ways", secret("both")),
        git("git-empty-secret", secret("empty")),
        git("git-no-secret", secret("nobody")),
        git("git-app-data", secret("app")),
        git("git-github-without-secret", json!({"provider": "github"})),
        git(
            "git-github-without-app",
            json!({"provider": "github", "secretRef": {"name": "ada"}}),
        ),
        git("git-bad-ca", secret("bad-ca")),
        git("git-no-proxy", json!({"proxySecretRef": {"name": "nobody"}})),
        git("git-bad-proxy", json!({"proxySecretRef": {"name": "bad-proxy"}})),
        git(
            "git-dead-proxy",
            json!({"proxySecretRef": {"name": "dead-proxy"}}),
        ),
        git(
            "git-ssh-bad-known-hosts",
            json!({"url": "ssh://git@127.0.0.1:9/app", "secretRef": {"name": "bad-known-hosts"}}),
        ),
        git(
            "git-ssh-without-identity",
            json!({"url": "ssh://git@127.0.0.1:9/app", "secretRef": {"name": "ada"}}),
        ),
        git(
            "git-ssh-without-secret",
            json!({"url": "ssh://git@127.0.0.1:9/app"}),
        ),
    ]
}

fn oci(servers: &Servers) -> Vec<Case> {
    let spec = |repository: &str, rest: Value| {
        let url = format!("oci://{}/{repository}", servers.registry.host());
        with(json!({"url": url, "interval": "1h", "insecure": true}), rest)
    };
    let oci = |name: &str, rest: Value| case("OCIRepository", name, spec("team/app", rest));
    let helm = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";
    let chart =
        json!({"layerSelector": {"mediaType": helm, "operation": "copy"}, "ref": {"semver": ">=6.0.0"}});
    let tagged = |repository: &str| format!("oci://{}/{repository}", servers.registry.host());
    vec![
        oci("oci-latest", json!({})),
        oci("oci-tag", json!({"ref": {"tag": "1.0.0"}})).then(json!({"ref": {"tag": "v1.2.0"}})),
        oci("oci-digest", json!({"ref": {"digest": servers.digest}})),
        oci(
            "oci-digest-and-tag",
            json!({"ref": {"digest": servers.digest, "tag": "1.0.0"}}),
        ),
        oci("oci-semver", json!({"ref": {"semver": "1.x"}})),
        oci(
            "oci-semver-filter",
            json!({"ref": {"semver": ">=0.0.0-0", "semverFilter": ".*-rc.*"}}),
        ),
        oci("oci-semver-none", json!({"ref": {"semver": ">=9"}})),
        oci("oci-semver-bad", json!({"ref": {"semver": "not a range"}})),
        oci(
            "oci-filter-bad",
            json!({"ref": {"semver": "1.x", "semverFilter": "("}}),
        ),
        oci("oci-tag-missing", json!({"ref": {"tag": "nowhere"}})),
        oci("oci-digest-bad", json!({"ref": {"digest": "sha256:abc"}})),
        oci(
            "oci-digest-missing",
            json!({"ref": {"digest": format!("sha256:{}", "0".repeat(64))}}),
        ),
        oci("oci-ignore", json!({"ignore": "*.yaml\n"})).then(json!({"ignore": "nothing\n"})),
        oci(
            "oci-media-type-missing",
            json!({"layerSelector": {"mediaType": "text/none"}}),
        ),
        oci("oci-suspended", json!({"suspend": true})),
        oci("oci-suspended-later", json!({})).then(json!({"suspend": true})),
        oci(
            "oci-url-with-tag",
            json!({"url": format!("{}:latest", tagged("team/app"))}),
        ),
        oci(
            "oci-url-with-digest",
            json!({"url": format!("{}@{}", tagged("team/app"), servers.digest)}),
        ),
        case("OCIRepository", "oci-chart", spec("team/chart", chart)),
        case("OCIRepository", "oci-text", spec("team/text", json!({}))),
        case(
            "OCIRepository",
            "oci-text-copied",
            spec("team/text", json!({"layerSelector": {"operation": "copy"}})),
        ),
        case("OCIRepository", "oci-escape", spec("team/escape", json!({}))),
        case("OCIRepository", "oci-missing", spec("team/nowhere", json!({}))),
        case("OCIRepository", "oci-gone", spec("team/gone", json!({}))),
        case(
            "OCIRepository",
            "oci-no-server",
            with(
                spec("team/app", json!({})),
                json!({"url": "oci://127.0.0.1:9/app"}),
            ),
        ),
    ]
}

fn oci_access(servers: &Servers) -> Vec<Case> {
    let url = format!("oci://{}/team/app", servers.closed_registry.host());
    let oci = |name: &str, rest: Value| {
        let base = json!({"url": url, "interval": "1h", "insecure": true});
        case("OCIRepository", name, with(base, rest))
    };
    let secret = |name: &str| json!({"secretRef": {"name": name}});
    let verify = |secret: &str| {
        let open = format!("oci://{}/team/app", servers.registry.host());
        json!({"url": open, "verify": {"provider": "cosign", "secretRef": {"name": secret}}})
    };
    vec![
        oci("oci-closed", json!({})).then(secret("pull")),
        oci("oci-pull-secret", secret("pull")),
        oci("oci-pull-elsewhere", secret("pull-elsewhere")),
        oci("oci-no-docker-config", secret("ada")),
        oci("oci-no-secret", secret("nobody")),
        oci("oci-no-account", json!({"serviceAccountName": "nobody"})),
        oci("oci-no-cert", json!({"certSecretRef": {"name": "nobody"}})),
        oci("oci-bad-cert", json!({"certSecretRef": {"name": "bad-tls"}})),
        oci("oci-no-proxy", json!({"proxySecretRef": {"name": "nobody"}})),
        oci(
            "oci-dead-proxy",
            json!({"proxySecretRef": {"name": "dead-proxy"}}),
        ),
        oci("oci-unsigned", verify("bad-pub")),
        oci("oci-no-public-key", verify("no-pub")),
        oci("oci-no-key-secret", verify("nobody")),
    ]
}

fn helm(servers: &Servers) -> Vec<Case> {
    let helm = |name: &str, url: String, rest: Value| {
        let base = json!({"url": url, "interval": "1h"});
        case("HelmRepository", name, with(base, rest))
    };
    let secret = |name: &str| json!({"secretRef": {"name": name}});
    let (open, closed) = (|| servers.charts.url(), || servers.closed_charts.url());
    vec![
        helm("helm-index", open(), json!({})),
        helm("helm-slash", format!("{}/", open()), json!({})),
        helm("helm-suspended", open(), json!({"suspend": true})),
        helm("helm-suspended-later", open(), json!({})).then(json!({"suspend": true})),
        helm(
            "helm-oci",
            format!("oci://{}/charts", servers.registry.host()),
            json!({"type": "oci"}),
        ),
        helm(
            "helm-oci-plain",
            format!("oci://{}/charts", servers.registry.host()),
            json!({"type": "oci", "insecure": true}),
        ),
        helm("helm-oci-over-http", open(), json!({"type": "oci"})),
        helm(
            "helm-oci-closed",
            format!("oci://{}/team", servers.closed_registry.host()),
            json!({"type": "oci", "insecure": true}),
        ),
        helm(
            "helm-oci-pull-elsewhere",
            format!("oci://{}/team", servers.closed_registry.host()),
            json!({"type": "oci", "insecure": true, "secretRef": {"name": "pull-elsewhere"}}),
        ),
        helm(
            "helm-oci-by-mistake",
            format!("oci://{}/charts", servers.registry.host()),
            secret("nobody"),
        ),
        helm("helm-missing", format!("{}/nowhere", open()), json!({})),
        helm("helm-no-server", "http://127.0.0.1:9".into(), json!({})),
        helm("helm-broken", servers.broken_charts.url(), json!({})),
        helm("helm-closed", closed(), json!({})).then(secret("ada")),
        helm("helm-basic", closed(), secret("ada")).then(secret("eve")),
        helm("helm-moved", servers.moved_charts.url(), secret("ada")).then(secret("eve")),
        helm("helm-half", closed(), secret("half")),
        helm("helm-empty-secret", closed(), secret("empty")),
        helm("helm-no-secret", closed(), secret("nobody")),
        helm(
            "helm-no-cert",
            open(),
            json!({"certSecretRef": {"name": "nobody"}}),
        ),
        helm(
            "helm-bad-cert",
            open(),
            json!({"certSecretRef": {"name": "bad-tls"}}),
        ),
    ]
}

fn buckets(servers: &Servers) -> Vec<Case> {
    let bucket = |name: &str, rest: Value| {
        let base = json!({
            "endpoint": servers.buckets.host(), "bucketName": "manifests", "interval": "1h", "insecure": true,
            "secretRef": {"name": "keys"},
        });
        case("Bucket", name, with(base, rest))
    };
    vec![
        bucket("bucket-files", json!({})),
        bucket("bucket-prefix", json!({"prefix": "apps/"})),
        bucket("bucket-ignore", json!({"ignore": "*.png\n"})),
        bucket("bucket-prefix-logo", json!({"prefix": "logo"})),
        bucket("bucket-empty", json!({"bucketName": "bare"})),
        bucket("bucket-missing", json!({"bucketName": "nowhere"})),
        bucket("bucket-short-name", json!({"bucketName": "ab"})),
        bucket("bucket-suspended", json!({"suspend": true})),
        bucket("bucket-suspended-later", json!({})).then(json!({"suspend": true})),
        bucket("bucket-wrong-keys", json!({"secretRef": {"name": "wrong-keys"}})),
        bucket("bucket-no-keys", json!({"secretRef": {"name": "ada"}})),
        bucket("bucket-no-secret", json!({"secretRef": {"name": "nobody"}})),
        bucket(
            "bucket-dead-proxy",
            json!({"proxySecretRef": {"name": "dead-proxy"}}),
        ),
        bucket("bucket-no-server", json!({"endpoint": "127.0.0.1:9"})),
    ]
}

/// Charts of the repositories of other cases.
fn charts() -> Vec<Case> {
    let chart = |name: &str, source: &str, rest: Value| {
        let base = json!({
            "chart": "podinfo", "interval": "1h", "sourceRef": {"kind": "HelmRepository", "name": source},
        });
        case("HelmChart", name, with(base, rest))
    };
    vec![
        chart("chart-latest", "helm-index", json!({})),
        chart("chart-exact", "helm-index", json!({"version": "6.0.0"})).then(json!({"version": "6.1.0"})),
        chart("chart-range", "helm-index", json!({"version": "6.x"})),
        chart("chart-no-version", "helm-index", json!({"version": ">=9"})),
        chart(
            "chart-bad-version",
            "helm-index",
            json!({"version": "not a range"}),
        ),
        chart("chart-unknown", "helm-index", json!({"chart": "nowhere"})),
        chart(
            "chart-values",
            "helm-index",
            json!({"version": "6.1.0", "valuesFiles": ["values.yaml", "prod.yaml"]}),
        ),
        chart(
            "chart-values-default",
            "helm-index",
            json!({"version": "6.1.0", "valuesFiles": ["values.yaml"]}),
        ),
        chart(
            "chart-values-missing",
            "helm-index",
            json!({"version": "6.1.0", "valuesFiles": ["nowhere.yaml"]}),
        ),
        chart(
            "chart-values-ignored",
            "helm-index",
            json!({"version": "6.1.0", "valuesFiles": ["prod.yaml", "nowhere.yaml"], "ignoreMissingValuesFiles": true}),
        ),
        chart("chart-suspended", "helm-index", json!({"suspend": true})),
        chart("chart-no-source", "nowhere", json!({})),
        chart("chart-of-broken", "helm-broken", json!({})),
        chart("chart-closed", "helm-basic", json!({})),
        chart("chart-moved", "helm-moved", json!({})),
        chart(
            "chart-oci",
            "helm-oci",
            json!({"chart": "chart", "version": "6.1.0"}),
        ),
        chart(
            "chart-oci-range",
            "helm-oci",
            json!({"chart": "chart", "version": ">=6.0.0"}),
        ),
        chart("chart-oci-unknown", "helm-oci", json!({"chart": "nowhere"})),
        chart("chart-of-bad-name", "helm-index", json!({"chart": "pod/info"})),
        chart(
            "chart-index-verified",
            "helm-index",
            json!({"verify": {"provider": "cosign"}}),
        ),
        chart(
            "chart-oci-no-secret",
            "helm-oci-plain",
            json!({"chart": "chart", "version": "6.1.0", "verify": {"provider": "cosign", "secretRef": {"name": "nobody"}}}),
        ),
        chart(
            "chart-oci-no-pub",
            "helm-oci-plain",
            json!({"chart": "chart", "version": "6.1.0", "verify": {"provider": "cosign", "secretRef": {"name": "no-pub"}}}),
        ),
        chart(
            "chart-oci-no-policy",
            "helm-oci-plain",
            json!({"chart": "chart", "version": "6.1.0", "verify": {"provider": "notation", "secretRef": {"name": "no-pub"}}}),
        ),
        chart(
            "chart-oci-wrong-type",
            "helm-oci-over-http",
            json!({"version": "6.1.0"}),
        ),
        chart(
            "chart-oci-plain",
            "helm-oci-plain",
            json!({"chart": "chart", "version": "6.1.0"}),
        ),
        chart(
            "chart-oci-plain-range",
            "helm-oci-plain",
            json!({"chart": "chart", "version": ">=6.0.0"}),
        ),
        chart(
            "chart-oci-plain-no-version",
            "helm-oci-plain",
            json!({"chart": "chart", "version": ">=9"}),
        ),
        chart(
            "chart-oci-pull-elsewhere",
            "helm-oci-pull-elsewhere",
            json!({"chart": "app", "version": "6.1.0"}),
        ),
        chart(
            "chart-oci-closed",
            "helm-oci-closed",
            json!({"chart": "app", "version": "6.1.0"}),
        ),
    ]
}

/// Charts in the files of a Git repository or a bucket.
fn charts_of_files() -> Vec<Case> {
    let chart = |name: &str, kind: &str, source: &str, rest: Value| {
        let base = json!({
            "chart": "charts/app", "interval": "1h", "sourceRef": {"kind": kind, "name": source},
        });
        case("HelmChart", name, with(base, rest))
    };
    let git = |name: &str, rest: Value| chart(name, "GitRepository", "git-charts", rest);
    vec![
        git("chart-git", json!({})),
        git("chart-git-revision", json!({"reconcileStrategy": "Revision"})),
        git(
            "chart-git-values",
            json!({"valuesFiles": ["charts/app/values.yaml", "prod.yaml"]}),
        ),
        git(
            "chart-git-values-revision",
            json!({"valuesFiles": ["prod.yaml"], "reconcileStrategy": "Revision"}),
        ),
        git(
            "chart-git-values-missing",
            json!({"valuesFiles": ["nowhere.yaml"]}),
        ),
        git("chart-git-dependency", json!({"chart": "charts/parent"})),
        git("chart-git-dependency-missing", json!({"chart": "charts/orphan"})),
        git("chart-git-no-path", json!({"chart": "charts/nowhere"})),
        git("chart-git-no-chart", json!({"chart": "charts"})),
        git("chart-git-escape", json!({"chart": "../../etc"})),
        git(
            "chart-git-not-ready",
            json!({"sourceRef": {"kind": "GitRepository", "name": "git-missing"}}),
        ),
        chart(
            "chart-bucket",
            "Bucket",
            "bucket-files",
            json!({"chart": "charts/app"}),
        ),
    ]
}
