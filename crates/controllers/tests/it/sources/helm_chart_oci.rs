//! HelmChart, of registries.

use std::process::Command;

use api::source::HelmRepositorySpec;
use serde_json::{Value, json};
use testkit::helm::Chart;
use testkit::oci::Server;

use super::bed::condition;
use super::helm_chart::{ChartBed, message, revision, spec, started};

async fn registry(bed: &ChartBed, server: &Server, rest: Value) {
    let mut spec = json!({
        "url": format!("oci://{}/charts", server.host()), "type": "oci", "insecure": true,
    });
    let fields = spec.as_object_mut().unwrap();
    fields.extend(rest.as_object().unwrap().clone());
    bed.create_other::<HelmRepositorySpec>("charts", spec).await;
}

fn push(server: &Server, chart: &Chart) -> String {
    let tag = chart.version().replace('+', "_");
    server
        .push(&format!("charts/{}", chart.name()), &tag, &chart.artifact())
        .to_string()
}

/// HC6, HC10: a version that is given exactly is fetched by its tag, without listing; a poll of it asks nobody.
#[tokio::test]
async fn an_exact_version_of_a_registry_is_fetched_without_listing() {
    let server = Server::start();
    let chart = Chart::new("podinfo", "6.1.0+build.1").values("a: 1\n");
    push(&server, &chart);
    let bed = started().await;
    registry(&bed, &server, json!({})).await;
    let exact = json!({"version": "6.1.0+build.1"});
    bed.create("app", spec("HelmRepository", "charts", "podinfo", exact))
        .await;
    let object = bed.ready("app", "True", "ChartPullSucceeded").await;
    assert_eq!(bed.packed(&object), chart.archive());
    assert_eq!(
        message(&object),
        "pulled 'podinfo' chart with version '6.1.0+build.1'"
    );
    assert_eq!(object.status.unwrap().observed_source_artifact_revision, None);
    let asked = server.requests();
    assert!(
        !asked.iter().any(|request| request.path.contains("/tags/")),
        "{asked:?}"
    );
    bed.requested("app", "1").await;
    assert_eq!(server.requests().len(), asked.len());
}

/// HC4: of a range the highest tag is taken; a poll that finds nothing new asks once.
#[tokio::test]
async fn the_highest_tag_of_a_range_is_taken() {
    let server = Server::start();
    for version in ["1.0.0", "1.2.0", "2.0.0"] {
        push(&server, &Chart::new("podinfo", version));
    }
    let bed = started().await;
    registry(&bed, &server, json!({})).await;
    bed.create(
        "app",
        spec("HelmRepository", "charts", "podinfo", json!({"version": "1.x"})),
    )
    .await;
    bed.version("app", "1.2.0").await;
    let asked = server.requests().len();
    bed.requested("app", "1").await;
    assert_eq!(server.requests().len(), asked + 1);
    push(&server, &Chart::new("podinfo", "1.3.0"));
    bed.requested("app", "2").await;
    bed.version("app", "1.3.0").await;
    bed.patch("app", json!({"spec": {"version": "9.x"}})).await;
    let failed = bed.ready("app", "False", "ChartPullError").await;
    assert!(message(&failed).contains("could not locate a version matching provided version string 9.x"));
    assert_eq!(revision(&failed), "1.3.0", "the last good chart stays");
}

/// AU5: a pull secret or a name and a password, for that registry; without them Flux calls it unknown.
#[tokio::test]
async fn registries_take_a_pull_secret_or_a_password() {
    let server = Server::builder().basic("ada", "geheim").start();
    push(&server, &Chart::new("podinfo", "6.1.0"));
    let bed = started().await;
    let config = json!({"auths": {server.host(): {"username": "ada", "password": "geheim"}}});
    let other = json!({"auths": {"example.com": {"username": "ada", "password": "geheim"}}});
    let docker = "kubernetes.io/dockerconfigjson";
    bed.secret("pull", docker, json!({".dockerconfigjson": config.to_string()}))
        .await;
    bed.secret("other", docker, json!({".dockerconfigjson": other.to_string()}))
        .await;
    bed.secret(
        "login",
        "Opaque",
        json!({"username": "ada", "password": "geheim"}),
    )
    .await;
    bed.secret("half", "Opaque", json!({"username": "ada"})).await;
    for (name, status, reason, says) in [
        ("pull", "True", "ChartPullSucceeded", "pulled"),
        ("login", "True", "ChartPullSucceeded", "pulled"),
        ("other", "False", "Unknown", "has no credentials for the registry"),
        ("half", "False", "Unknown", "must have both keys"),
        (
            "nowhere",
            "False",
            "Unknown",
            "failed to get authentication secret",
        ),
        (
            "",
            "False",
            "Unknown",
            "failed to authenticate with the Helm repository",
        ),
    ] {
        let url = format!("oci://{}/charts", server.host());
        let mut source = json!({"url": url, "type": "oci", "insecure": true});
        if !name.is_empty() {
            source["secretRef"] = json!({"name": name});
        }
        let name = if name.is_empty() { "none" } else { name };
        bed.create_other::<HelmRepositorySpec>(name, source).await;
        let exact = json!({"version": "6.1.0"});
        bed.create(name, spec("HelmRepository", name, "podinfo", exact))
            .await;
        let object = bed.ready(name, status, reason).await;
        assert!(message(&object).contains(says), "{name}: {}", message(&object));
        assert!(!message(&object).contains("geheim"), "{name}");
    }
}

/// V3, V9, HC11: what must be verified and is not is not stored, and what was stored stays.
#[tokio::test]
async fn a_chart_that_is_not_signed_is_not_taken() {
    let server = Server::start();
    push(&server, &Chart::new("podinfo", "6.1.0"));
    let bed = started().await;
    registry(&bed, &server, json!({})).await;
    bed.create(
        "app",
        spec("HelmRepository", "charts", "podinfo", json!({"version": "6.1.0"})),
    )
    .await;
    bed.version("app", "6.1.0").await;
    let key = rcgen::KeyPair::generate().unwrap().public_key_pem();
    bed.secret("keys", "Opaque", json!({"cosign.pub": key})).await;
    let keyed = json!({"provider": "cosign", "secretRef": {"name": "keys"}});
    bed.patch("app", json!({"spec": {"verify": keyed}})).await;
    let failed = bed.ready("app", "False", "VerificationError").await;
    assert_eq!(
        condition(&failed, "SourceVerified").unwrap().status.to_string(),
        "False"
    );
    assert_eq!(
        condition(&failed, "BuildFailed").unwrap().reason,
        "ChartVerificationError"
    );
    assert!(
        message(&failed).starts_with("chart verification error: "),
        "{}",
        message(&failed)
    );
    assert_eq!(revision(&failed), "6.1.0", "the last good chart stays");
    bed.packed(&failed);
    let missing = json!({"provider": "cosign", "secretRef": {"name": "nowhere"}});
    bed.patch("app", json!({"spec": {"verify": missing}})).await;
    let failed = bed
        .until("app", |object| condition(object, "FetchFailed").is_some())
        .await;
    assert_eq!(condition(&failed, "FetchFailed").unwrap().reason, "Unknown");
    assert_eq!(condition(&failed, "Ready").unwrap().reason, "VerificationError");
    bed.patch("app", json!({"spec": {"verify": null}})).await;
    let object = bed.ready("app", "True", "ChartPullSucceeded").await;
    assert!(condition(&object, "SourceVerified").is_none());
}

/// HC11: only charts in a registry have signatures that can be asked for.
#[tokio::test]
async fn a_chart_of_an_index_cannot_be_verified() {
    let charts = testkit::helm::Server::start();
    charts.add(&Chart::new("podinfo", "6.1.0"));
    let bed = started().await;
    let source = json!({"url": charts.url(), "interval": "1h"});
    bed.create_other::<HelmRepositorySpec>("charts", source).await;
    let verify = json!({"verify": {"provider": "cosign"}});
    bed.create("app", spec("HelmRepository", "charts", "podinfo", verify))
        .await;
    let object = bed.ready("app", "False", "VerificationError").await;
    assert_eq!(
        condition(&object, "BuildFailed").unwrap().reason,
        "ChartVerificationError"
    );
    assert!(object.status.unwrap().artifact.is_none());
}

/// HC11, V3: a chart that the real cosign signed is taken, and verified again with each run.
#[tokio::test]
async fn a_signed_chart_is_verified_with_each_run() {
    let Some(cosign) = testkit::program::find("cosign") else {
        return;
    };
    let server = Server::start();
    let digest = push(&server, &Chart::new("podinfo", "6.1.0"));
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let done = Command::new(&cosign)
            .args(arguments)
            .current_dir(folder.path())
            .env("COSIGN_PASSWORD", "")
            .output()
            .unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    run(&["generate-key-pair"]);
    let reference = format!("{}/charts/podinfo@{digest}", server.host());
    run(&[
        "sign",
        "--key=cosign.key",
        "--tlog-upload=false",
        "--use-signing-config=false",
        "--yes",
        "--allow-http-registry",
        &reference,
    ]);
    let public = std::fs::read_to_string(folder.path().join("cosign.pub")).unwrap();
    let bed = started().await;
    bed.secret("keys", "Opaque", json!({"cosign.pub": public})).await;
    registry(&bed, &server, json!({})).await;
    let verify = json!({"version": "6.1.0", "verify": {"provider": "cosign", "secretRef": {"name": "keys"}}});
    bed.create("app", spec("HelmRepository", "charts", "podinfo", verify))
        .await;
    let object = bed.ready("app", "True", "ChartPullSucceeded").await;
    let verified = condition(&object, "SourceVerified").unwrap();
    assert_eq!(verified.message, "verified signature of version 6.1.0");
    let asked = server.requests().len();
    bed.requested("app", "1").await;
    assert!(server.requests().len() > asked, "it is verified again");
    // The tag now leads to something that nobody signed: it is not taken.
    push(&server, &Chart::new("podinfo", "6.1.0").values("evil: true\n"));
    bed.requested("app", "2").await;
    let failed = bed.ready("app", "False", "VerificationError").await;
    assert_eq!(
        failed.status.unwrap().artifact,
        object.status.unwrap().artifact,
        "the last good chart stays"
    );
}

/// HC5: a dependency may be in a registry, with the credentials of a HelmRepository of the namespace.
#[tokio::test]
async fn a_dependency_of_a_registry_is_added() {
    let server = Server::builder().basic("ada", "geheim").start();
    push(&server, &Chart::new("redis", "7.1.0"));
    let git = testkit::git::Server::start();
    let address = format!("oci://{}/charts", server.host());
    let chart = Chart::new("app", "1.0.0").dependency("redis", "7.x", &address);
    let files = chart.all_files();
    let files = files
        .iter()
        .map(|(path, content)| (path.as_str(), std::str::from_utf8(content).unwrap()));
    git.repository("team/app").commit("main", "Start", files);
    let bed = started().await;
    let login = json!({"username": "ada", "password": "geheim"});
    bed.secret("login", "Opaque", login).await;
    registry(&bed, &server, json!({"secretRef": {"name": "login"}})).await;
    let source = json!({"url": git.clone_url("team/app"), "interval": "1h", "ref": {"branch": "main"}});
    bed.create_other::<api::source::GitRepositorySpec>("app", source)
        .await;
    bed.create("app", spec("GitRepository", "app", ".", json!({})))
        .await;
    let object = bed.ready("app", "True", "ChartPackageSucceeded").await;
    assert!(bed.file(&object, "app/charts/redis/Chart.yaml").contains("7.1.0"));
}
