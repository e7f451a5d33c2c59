//! Building charts of repositories.

use source::helm::build::{Content, Options, Stored, from_repository};
use testkit::helm::{Chart, Server};

use super::{archive, chain, chart, repository, text};

fn podinfo() -> Chart {
    Chart::new("podinfo", "6.1.0")
        .values("replicas: 1\nimage:\n  tag: a\n")
        .file("values-prod.yaml", "replicas: 3\nimage:\n  pull: Always\n")
        .template("cm.yaml", "kind: ConfigMap\n")
}

fn server() -> Server {
    let server = Server::start();
    server.add(&podinfo());
    server
}

#[tokio::test]
async fn a_chart_is_handed_on_byte_by_byte() {
    let server = server();
    let built = from_repository(&repository(&server), "podinfo", ">=6", &Options::default())
        .await
        .unwrap();
    assert_eq!(archive(&built), podinfo().archive());
    assert_eq!(built.summary(), "pulled 'podinfo' chart with version '6.1.0'");
    assert_eq!(
        (built.reason(), built.file_name().as_str()),
        ("ChartPullSucceeded", "podinfo-6.1.0.tgz")
    );
}

#[tokio::test]
async fn a_chart_that_is_stored_is_not_fetched_again() {
    let server = server();
    let stored = Stored::of_archive(&podinfo().archive(), &Default::default(), None).unwrap();
    let mut options = Options {
        stored: Some(stored),
        ..Options::default()
    };
    let built = from_repository(&repository(&server), "podinfo", "", &options)
        .await
        .unwrap();
    assert_eq!(built.content, Content::Stored);
    assert_eq!(server.count(http::Method::GET, ".tgz"), 0);
    options.force = true;
    let built = from_repository(&repository(&server), "podinfo", "", &options)
        .await
        .unwrap();
    assert_ne!(built.content, Content::Stored);
}

#[tokio::test]
async fn values_files_are_merged_in_order_into_a_new_version() {
    let server = server();
    let options = Options {
        version_metadata: Some("7".into()),
        values_files: vec![
            "values.yaml".into(),
            "./values-prod.yaml".into(),
            "missing.yaml".into(),
        ],
        ignore_missing_values_files: true,
        ..Options::default()
    };
    let built = from_repository(&repository(&server), "podinfo", "6.1.0", &options)
        .await
        .unwrap();
    assert_eq!(
        built.summary(),
        "packaged 'podinfo' chart with version '6.1.0+7' and merged values files [values.yaml ./values-prod.yaml]"
    );
    let chart = chart(&built);
    assert_eq!(chart.metadata.version, "6.1.0+7");
    assert_eq!(
        text(&chart, "values.yaml"),
        "image:\n  pull: Always\n  tag: a\nreplicas: 3\n"
    );
    assert_eq!(text(&chart, "templates/cm.yaml"), "kind: ConfigMap\n");
    let again = from_repository(&repository(&server), "podinfo", "6.1.0", &options)
        .await
        .unwrap();
    assert_eq!(again, built, "the same chart makes the same bytes");
}

#[tokio::test]
async fn a_missing_values_file_stalls() {
    let server = server();
    let options = Options {
        values_files: vec!["missing.yaml".into()],
        ..Options::default()
    };
    let error = from_repository(&repository(&server), "podinfo", "", &options)
        .await
        .unwrap_err();
    assert_eq!((error.reason(), error.is_stalling()), ("ValuesFilesError", true));
    assert!(
        error
            .to_string()
            .contains("no values file found at path 'missing.yaml'"),
        "{error}"
    );
}

#[tokio::test]
async fn failures_have_the_reasons_of_statuses() {
    let server = server();
    let fetcher = repository(&server);
    let options = Options::default();
    for (name, version, reason, stalls) in [
        ("Podinfo", "", "InvalidChartReference", true),
        ("other", "", "InvalidChartReference", true),
        ("podinfo", "9.x", "InvalidChartReference", true),
        ("podinfo", "no range", "InvalidChartReference", true),
    ] {
        let error = from_repository(&fetcher, name, version, &options)
            .await
            .unwrap_err();
        assert_eq!(
            (error.reason(), error.is_stalling()),
            (reason, stalls),
            "{}",
            chain(&error)
        );
    }
    let metadata = Options {
        version_metadata: Some("not valid!".into()),
        ..Options::default()
    };
    let error = from_repository(&fetcher, "podinfo", "", &metadata)
        .await
        .unwrap_err();
    assert_eq!(
        (error.reason(), error.is_stalling()),
        ("MetadataPatchError", true)
    );

    server.fail(testkit::http::Fault::status(500).on(".tgz"));
    let error = from_repository(&fetcher, "podinfo", "", &options)
        .await
        .unwrap_err();
    assert_eq!((error.reason(), error.is_stalling()), ("ChartPullError", false));

    server.fail(testkit::http::Fault::truncate(20).on(".tgz"));
    let error = from_repository(&fetcher, "podinfo", "", &options)
        .await
        .unwrap_err();
    assert_eq!((error.reason(), error.is_stalling()), ("ChartPullError", false));

    let locked = Server::builder().basic("a", "b").start();
    let error = from_repository(&repository(&locked), "podinfo", "", &options)
        .await
        .unwrap_err();
    assert_eq!(
        (error.reason(), error.is_stalling()),
        ("AuthenticationFailed", false)
    );
}
