//! What is missing or malformed is told with what to do about it, and told once.

use api::source::{GitRepositorySpec, HelmChartSpec, HelmRepositorySpec, OciRepositorySpec};
use api::{ReconcileStatus, Spec};
use controllers::sources::{GitRepositories, HelmRepositories, OciRepositories};
use serde_json::{Value, json};
use testkit::http::{Reply, Request};
use testkit::oci::Artifact;

use crate::sources::bed::{Bed, condition};
use crate::sources::helm_chart;

/// Makes an object that cannot become ready, and looks at what is told of it.
async fn told<S>(bed: &Bed<S>, name: &str, spec: Value, reason: &str, words: &[&str]) -> String
where
    S: Spec<Status: ReconcileStatus + PartialEq>,
{
    bed.create(name, spec).await;
    let object = bed.ready(name, "False", reason).await;
    let message = condition(&object, "Ready").unwrap().message;
    for word in words {
        assert_eq!(message.matches(word).count(), 1, "{word:?}: {message}");
    }
    message
}

#[tokio::test]
async fn a_secret_and_a_directory_that_are_missing_in_git() {
    let server = testkit::git::Server::start();
    server.repository("app").commit("main", "Start", [("a", "1")]);
    let mut bed: Bed<GitRepositorySpec> = Bed::start().await;
    bed.run(GitRepositories::new);
    let spec = |rest: Value| {
        super::with(
            json!({"url": server.clone_url("app"), "interval": "1h", "ref": {"branch": "main"}}),
            rest,
        )
    };
    let secret = format!(
        "the Secret '{}/nobody' does not exist: create it, or correct the reference to it",
        bed.namespace
    );
    let nobody = spec(json!({"secretRef": {"name": "nobody"}}));
    let message = told(&bed, "secret", nobody, "AuthenticationFailed", &[&secret]).await;
    assert_eq!(message.matches("nobody").count(), 1, "{message}");
    let words = [
        "sparse checkout dir 'gone' does not exist in repository",
        "correct its name, or add it to the repository",
    ];
    let sparse = spec(json!({"sparseCheckout": ["gone"]}));
    told(&bed, "sparse", sparse, "GitOperationFailed", &words).await;
}

#[tokio::test]
async fn a_layer_that_is_missing_and_a_name_that_cannot_be_one() {
    let registry = testkit::oci::Server::start();
    registry.push("team/app", "latest", &Artifact::files(&[("a", "1")]));
    let windows = testkit::archive::tgz(&[testkit::archive::File::new(r"a\b", "1")]);
    let content = "application/vnd.cncf.flux.content.v1.tar+gzip";
    registry.push(
        "team/windows",
        "latest",
        &Artifact::empty("application/x").layer(content, windows),
    );
    let mut bed: Bed<OciRepositorySpec> = Bed::start().await;
    bed.run(OciRepositories::new);
    let spec = |name: &str, rest: Value| {
        let url = format!("oci://{}/team/{name}", registry.host());
        super::with(json!({"url": url, "interval": "1h", "insecure": true}), rest)
    };
    let reason = "OCIArtifactLayerOperationFailed";
    let words = [
        "failed to find layer with media type 'text/x' in artifact",
        "check the media type and the layers that there are",
    ];
    let layer = spec("app", json!({"layerSelector": {"mediaType": "text/x"}}));
    told(&bed, "layer", layer, reason, &words).await;
    let words = [r#"the name "a\\b", which has a backslash: make it without that entry"#];
    told(&bed, "windows", spec("windows", json!({})), reason, &words).await;
}

#[tokio::test]
async fn indexes_that_are_none() {
    let server = testkit::http::Server::serve(|request: &Request| match request.path() {
        "/empty/index.yaml" => Reply::text(""),
        "/text/index.yaml" => Reply::text("just words"),
        "/list/index.yaml" => Reply::text("- a\n"),
        "/unversioned/index.yaml" => Reply::text("entries: {}\n"),
        _ => Reply::status(503),
    });
    let mut bed: Bed<HelmRepositorySpec> = Bed::start().await;
    bed.run(HelmRepositories::new);
    for (name, reason, words) in [
        (
            "empty",
            "IndexationFailed",
            ["empty index.yaml file", "write it with 'helm repo index'"],
        ),
        (
            "text",
            "IndexationFailed",
            ["it is no object", "write it with 'helm repo index'"],
        ),
        ("list", "IndexationFailed", ["it is no object", "check the URL"]),
        (
            "unversioned",
            "IndexationFailed",
            [
                "no API version specified",
                "'helm repo index', which says 'apiVersion: v1'",
            ],
        ),
        (
            "broken",
            "Failed",
            ["503", "if that comes again, look at the log of the server"],
        ),
    ] {
        let spec = json!({"url": format!("{}/{name}", server.url()), "interval": "1h"});
        told(&bed, name, spec, reason, &words).await;
    }
}

#[tokio::test]
async fn charts_versions_values_and_sources_that_are_missing() {
    let charts = testkit::helm::Server::start();
    charts.add(&testkit::helm::Chart::new("podinfo", "6.1.0"));
    let bed: Bed<HelmChartSpec> = helm_chart::started().await;
    let source = json!({"url": charts.url(), "interval": "1h"});
    bed.create_other::<HelmRepositorySpec>("charts", source).await;
    for (name, source, chart, rest, reason, words) in [
        (
            "chart",
            "charts",
            "gone",
            json!({}),
            "InvalidChartReference",
            ["no chart 'gone'", "check its name"],
        ),
        (
            "version",
            "charts",
            "podinfo",
            json!({"version": "7.x"}),
            "InvalidChartReference",
            [
                "matching '7.x'",
                "check the version and those that the repository has",
            ],
        ),
        (
            "values",
            "charts",
            "podinfo",
            json!({"valuesFiles": ["gone.yaml"]}),
            "ValuesFilesError",
            [
                "gone.yaml' (reference",
                "correct the list of values files, or let missing ones be ignored",
            ],
        ),
        (
            "source",
            "nowhere",
            "podinfo",
            json!({}),
            "SourceUnavailable",
            ["\"nowhere\" not found", "create it, or correct spec.sourceRef"],
        ),
    ] {
        let spec = helm_chart::spec("HelmRepository", source, chart, rest);
        told(&bed, name, spec, reason, &words).await;
    }
}
