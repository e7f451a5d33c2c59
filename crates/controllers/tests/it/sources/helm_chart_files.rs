//! HelmChart, of the files of Git repositories and buckets.

use api::source::{BucketSpec, GitRepositorySpec, HelmRepositorySpec};
use serde_json::json;
use testkit::git::{Repository, Server};
use testkit::helm::{self, Chart};

use super::bed::condition;
use super::helm_chart::{ChartBed, message, revision, spec, started};

/// The files of charts below a directory.
fn files(directory: &str, chart: &Chart) -> Vec<(String, String)> {
    let files = chart.all_files().into_iter();
    files
        .map(|(path, content)| (format!("{directory}/{path}"), String::from_utf8(content).unwrap()))
        .collect()
}

fn commit(repository: &Repository, chart: &Chart) -> String {
    let files = files("charts/app", chart);
    let named = files
        .iter()
        .map(|(path, content)| (path.as_str(), content.as_str()));
    repository.commit("main", "Change", named).to_string()
}

async fn follow(bed: &ChartBed, server: &Server) {
    let source = json!({"url": server.clone_url("team/app"), "interval": "1s", "ref": {"branch": "main"}});
    bed.create_other::<GitRepositorySpec>("app", source).await;
}

/// Waits until the source of a chart has a revision, and the chart has seen it.
async fn seen(bed: &ChartBed, name: &str, commit: &str) -> api::source::HelmChart {
    bed.until(name, |object| {
        let status = object.status.as_ref();
        let revision = status.and_then(|status| status.observed_source_artifact_revision.clone());
        revision.is_some_and(|revision| revision.ends_with(commit))
            && condition(object, "Reconciling").is_none()
    })
    .await
}

/// HC8: a chart that is none stalls, also where its version were to get metadata (which is why there is no `MetadataPatchError`, as
/// there is none of Flux); one that cannot be packed is tried again
#[tokio::test]
async fn charts_that_are_none_or_cannot_be_packed_are_told_by_reason() {
    let server = Server::start();
    let repository = server.repository("team/app");
    let version = "apiVersion: v2\nname: app\nversion: not.a.version\n";
    let schema = "apiVersion: v2\nname: app\nversion: 1.0.0\n";
    repository.commit(
        "main",
        "Start",
        [
            ("charts/version/Chart.yaml", version),
            ("charts/schema/Chart.yaml", schema),
            ("charts/schema/values.schema.json", "no JSON"),
        ],
    );
    let bed = started().await;
    follow(&bed, &server).await;
    for (name, rest, reason, stalls) in [
        (
            "version",
            json!({"reconcileStrategy": "Revision"}),
            "InvalidChartReference",
            true,
        ),
        ("schema", json!({}), "ChartPackageError", false),
    ] {
        let path = format!("charts/{name}");
        bed.create(name, spec("GitRepository", "app", &path, rest)).await;
        let object = bed.ready(name, "False", reason).await;
        let kind = if stalls { "FetchFailed" } else { "BuildFailed" };
        assert_eq!(condition(&object, kind).unwrap().reason, reason);
        assert_eq!(condition(&object, "Stalled").is_some(), stalls, "{name}");
    }
}

/// HC2: what gzip compresses a thousandfold in our own archive is no bomb.
#[tokio::test]
async fn a_chart_beside_a_large_file_of_zeros_is_packed() {
    let server = Server::start();
    let repository = server.repository("team/app");
    commit(&repository, &Chart::new("app", "1.0.0"));
    repository.commit(
        "main",
        "Add a disk",
        [("disk.img", "\0".repeat(20 << 20).as_str())],
    );
    let bed = started().await;
    follow(&bed, &server).await;
    bed.create("app", spec("GitRepository", "app", "./charts/app", json!({})))
        .await;
    let object = bed.ready("app", "True", "ChartPackageSucceeded").await;
    assert_eq!(revision(&object), "1.0.0");
}

/// HC2, HC4, HC12: packed from the store, and only when the version is another one.
#[tokio::test]
async fn a_chart_of_files_is_packed_when_its_version_changes() {
    let server = Server::start();
    let repository = server.repository("team/app");
    let chart = Chart::new("app", "1.0.0")
        .values("a: 1\n")
        .template("cm.yaml", "kind: ConfigMap\n");
    let first = commit(
        &repository,
        &chart
            .clone()
            .file(".helmignore", "secret*\n")
            .file("secret.txt", "x"),
    );
    let bed = started().await;
    follow(&bed, &server).await;
    // The version is for repositories with an index only.
    let wanted = json!({"version": "9.x"});
    bed.create("app", spec("GitRepository", "app", "./charts/app", wanted))
        .await;
    let object = bed.ready("app", "True", "ChartPackageSucceeded").await;
    assert_eq!(message(&object), "packaged 'app' chart with version '1.0.0'");
    let artifact = object.status.as_ref().unwrap().artifact.clone().unwrap();
    assert_eq!(
        artifact.path,
        format!("helmchart/{}/app/app-1.0.0.tgz", bed.namespace)
    );
    assert_eq!(bed.file(&object, "app/templates/cm.yaml"), "kind: ConfigMap\n");
    let names = bed.names(Some(&artifact));
    assert!(!names.iter().any(|name| name.contains("secret")), "{names:?}");
    assert_eq!(
        object.status.unwrap().observed_source_artifact_revision,
        Some(format!("main@sha1:{first}"))
    );
    let told = "packaged 'app' chart with version '1.0.0'";
    bed.until_told("app", "Normal", "ChartPackageSucceeded", told)
        .await;
    let second = commit(&repository, &chart.clone().values("a: 2\n"));
    let same = seen(&bed, "app", &second).await;
    assert_eq!(
        same.status.unwrap().artifact.unwrap(),
        artifact,
        "the version is the same"
    );
    commit(&repository, &Chart::new("app", "1.1.0").values("a: 3\n"));
    let new = bed.version("app", "1.1.0").await;
    assert_eq!(bed.file(&new, "app/values.yaml"), "a: 3\n");
}

/// HC3: every revision makes a chart where that is asked for; values files lie anywhere in the source.
#[tokio::test]
async fn every_revision_makes_a_chart_where_that_is_asked_for() {
    let server = Server::start();
    let repository = server.repository("team/app");
    let chart = Chart::new("app", "1.0.0").values("a: 1\nb: 1\n");
    commit(&repository, &chart);
    let first = repository
        .commit("main", "Values", [("prod.yaml", "b: 2\n")])
        .to_string();
    let bed = started().await;
    follow(&bed, &server).await;
    let each = json!({"reconcileStrategy": "Revision"});
    bed.create("each", spec("GitRepository", "app", "charts/app", each))
        .await;
    let both =
        json!({"reconcileStrategy": "Revision", "valuesFiles": ["charts/app/values.yaml", "prod.yaml"]});
    bed.create("both", spec("GitRepository", "app", "charts/app", both))
        .await;
    bed.version("each", &format!("1.0.0+{}", &first[..12])).await;
    let object = bed.version("both", &format!("1.0.0+{}.1", &first[..12])).await;
    assert_eq!(bed.file(&object, "app/values.yaml"), "a: 1\nb: 2\n");
    assert!(message(&object).ends_with(" and merged values files [charts/app/values.yaml prod.yaml]"));
    let second = commit(&repository, &chart.values("a: 2\n"));
    bed.version("each", &format!("1.0.0+{}", &second[..12])).await;
    bed.version("both", &format!("1.0.0+{}.1", &second[..12])).await;
}

/// HC5: dependencies lie in the source, or in a repository that a HelmRepository of the namespace has the credentials for.
#[tokio::test]
async fn dependencies_are_added_from_the_source_and_from_repositories() {
    let charts = helm::Server::builder().basic("ada", "geheim").start();
    charts.add(&Chart::new("redis", "7.1.0"));
    charts.add(&Chart::new("redis", "8.0.0"));
    let server = Server::start();
    let repository = server.repository("team/app");
    let parent = Chart::new("app", "1.0.0")
        .values("")
        .dependency("common", "1.x", "file://../common")
        .dependency("redis", "7.x", &charts.url());
    let common = files("charts/common", &Chart::new("common", "1.4.0"));
    let named = common
        .iter()
        .map(|(path, content)| (path.as_str(), content.as_str()));
    repository.commit("main", "Common", named);
    commit(&repository, &parent);
    let bed = started().await;
    follow(&bed, &server).await;
    bed.create("app", spec("GitRepository", "app", "charts/app", json!({})))
        .await;
    let failed = bed.ready("app", "False", "DependencyBuildError").await;
    assert!(condition(&failed, "BuildFailed").is_some() && condition(&failed, "Stalled").is_none());
    assert!(
        message(&failed).contains("failed to add remote dependency 'redis'"),
        "{}",
        message(&failed)
    );
    let login = json!({"username": "ada", "password": "geheim"});
    bed.secret("login", "Opaque", login).await;
    // The same address in another form.
    let source =
        json!({"url": format!("{}/", charts.url()), "interval": "1h", "secretRef": {"name": "login"}});
    bed.create_other::<HelmRepositorySpec>("charts", source).await;
    let object = bed.ready("app", "True", "ChartPackageSucceeded").await;
    assert!(
        bed.file(&object, "app/charts/common/Chart.yaml")
            .contains("1.4.0")
    );
    assert!(bed.file(&object, "app/charts/redis/Chart.yaml").contains("7.1.0"));
    bed.until_told(
        "app",
        "Normal",
        "ResolvedDependencies",
        "resolved 2 chart dependencies",
    )
    .await;
}

/// HC5, HC8: what cannot be built says what is wrong, and the last good chart stays.
#[tokio::test]
async fn what_cannot_be_built_says_why_and_the_last_chart_stays() {
    let server = Server::start();
    let repository = server.repository("team/app");
    commit(&repository, &Chart::new("app", "1.0.0").values("a: 1\n"));
    let bed = started().await;
    follow(&bed, &server).await;
    bed.create("app", spec("GitRepository", "app", "charts/app", json!({})))
        .await;
    bed.version("app", "1.0.0").await;
    let alias = Chart::new("app", "1.1.0").dependency("redis", "7.x", "@stable");
    let missing = Chart::new("app", "1.1.0").dependency("common", "1.x", "file://../common");
    let escape = Chart::new("app", "1.1.0").dependency("common", "1.x", "file://../../../../etc");
    for (chart, says) in [
        (alias, "aliased repository dependency is not supported: @stable"),
        (missing, "no chart found at '/charts/common'"),
        (escape, "no chart found at '/etc'"),
    ] {
        let at = commit(&repository, &chart);
        let object = bed
            .until("app", |object| {
                let status = object.status.as_ref().unwrap();
                let seen = status.observed_source_artifact_revision.clone();
                seen.is_some_and(|seen| seen.ends_with(&at))
                    && condition(object, "BuildFailed").is_some()
                    && message(object).contains(says)
            })
            .await;
        assert_eq!(
            condition(&object, "BuildFailed").unwrap().reason,
            "DependencyBuildError"
        );
        assert_eq!(revision(&object), "1.0.0", "the last good chart stays");
        bed.packed(&object);
    }
    for (name, path, rest, reason) in [
        ("no-path", "charts/other", json!({}), "InvalidChartReference"),
        ("no-chart", "charts", json!({}), "InvalidChartReference"),
        ("outside", "../../etc", json!({}), "InvalidChartReference"),
        (
            "no-values",
            "charts/app",
            json!({"valuesFiles": ["none.yaml"]}),
            "ValuesFilesError",
        ),
        (
            "bad-values",
            "charts/app",
            json!({"valuesFiles": ["bad.yaml"]}),
            "ValuesFilesError",
        ),
    ] {
        repository.commit("main", "Bad", [("bad.yaml", "a: [1\n")]);
        commit(&repository, &Chart::new("app", "1.0.0").values("a: 1\n"));
        bed.create(name, spec("GitRepository", "app", path, rest)).await;
        let object = bed.ready(name, "False", reason).await;
        assert_eq!(condition(&object, "Stalled").unwrap().reason, reason, "{name}");
    }
    bed.version("app", "1.0.0").await;
}

/// HC2: a bucket is a source like Git.
#[tokio::test]
async fn a_bucket_holds_charts_too() {
    let server = testkit::s3::Server::builder().key("id", "geheim").start();
    let bucket = server.bucket("charts");
    for (path, content) in files("app", &Chart::new("app", "1.0.0").values("a: 1\n")) {
        bucket.put(&path, content);
    }
    let bed = started().await;
    let key = json!({"accesskey": "id", "secretkey": "geheim"});
    bed.secret("key", "Opaque", key).await;
    let source = json!({
        "endpoint": server.host(), "bucketName": "charts", "insecure": true, "interval": "1h", "secretRef": {"name": "key"},
    });
    bed.create_other::<BucketSpec>("app", source).await;
    let each = json!({"reconcileStrategy": "Revision"});
    bed.create("app", spec("Bucket", "app", "app", each)).await;
    let object = bed.ready("app", "True", "ChartPackageSucceeded").await;
    let seen = object
        .status
        .clone()
        .unwrap()
        .observed_source_artifact_revision
        .unwrap();
    let hex = seen.strip_prefix("sha256:").unwrap();
    assert_eq!(revision(&object), format!("1.0.0+{}", &hex[..12]));
}
