//! HelmRepository and HelmChart with what helm has packed, indexed and pushed.

use std::path::Path;
use std::process::Command;

use api::source::{GitRepositorySpec, HelmChart, HelmChartSpec, HelmRepositorySpec};
use controllers::sources::{GitRepositories, HelmCharts, HelmRepositories};
use serde_json::{Value, json};
use testkit::git::Backend;
use testkit::http::{Reply, Request, Server, Service};
use testkit::program;

use super::git::Git;
use super::registry::Registry;
use crate::sources::bad_input::{artifact, with};
use crate::sources::bed::Bed;

/// Runs helm in a folder.
fn helm(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("helm");
    let home = folder.join("home");
    command
        .args(arguments)
        .current_dir(folder)
        .env("HELM_CACHE_HOME", home.join("cache"))
        .env("HELM_CONFIG_HOME", home.join("config"))
        .env("HELM_DATA_HOME", home.join("data"));
    program::run(&mut command)
}

/// Packs a chart of a version and lists it in the index.
fn publish(folder: &Path, version: &str) {
    let chart = folder.join("app");
    if !chart.exists() {
        helm(folder, &["create", "app"]);
    }
    helm(
        folder,
        &["package", "app", "--version", version, "--destination", "charts"],
    );
    helm(folder, &["repo", "index", "charts"]);
}

/// Serves the files of a folder.
fn serve(root: &Path) -> Server<impl Service + use<>> {
    let root = root.to_owned();
    Server::serve(move |request: &Request| {
        match std::fs::read(root.join(request.path().trim_start_matches('/'))) {
            Ok(content) => Reply::ok("application/octet-stream", content),
            Err(_) => Reply::status(404),
        }
    })
}

/// A cluster with charts and what they are made of, and all controllers at work.
async fn charts() -> Bed<HelmChartSpec> {
    let mut bed: Bed<HelmChartSpec> = Bed::start().await;
    bed.serve::<HelmRepositorySpec>().await;
    bed.serve::<GitRepositorySpec>().await;
    bed.run(HelmRepositories::new);
    bed.run(GitRepositories::new);
    bed.run(HelmCharts::new);
    bed
}

fn chart(kind: &str, chart: &str, rest: Value) -> Value {
    let spec = json!({"chart": chart, "interval": "1h", "sourceRef": {"kind": kind, "name": "source"}});
    with(spec, rest)
}

fn version(object: &HelmChart) -> String {
    artifact(object).unwrap().revision.to_string()
}

/// HC6, HC10: a chart that helm packed is stored as it is, from an index and from a registry
#[tokio::test]
async fn charts_of_helm_are_stored_as_they_are() {
    let (Some(registry), Some(_)) = (Registry::start(), program::find("helm")) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("charts")).unwrap();
    publish(folder.path(), "1.0.0");
    publish(folder.path(), "1.1.0+build.5");
    let packed = folder.path().join("charts");
    for name in ["app-1.0.0.tgz", "app-1.1.0+build.5.tgz"] {
        let to = format!("oci://{}/charts", registry.host());
        let file = packed.join(name).display().to_string();
        helm(folder.path(), &["push", "--plain-http", &file, &to]);
    }
    let server = serve(&packed);
    let bed = charts().await;
    bed.create_other::<HelmRepositorySpec>("source", json!({"url": server.url(), "interval": "1h"}))
        .await;
    let url = format!("oci://{}/charts", registry.host());
    let oci = json!({"url": url, "type": "oci", "insecure": true});
    bed.create_other::<HelmRepositorySpec>("registry", oci).await;
    let other = json!({"kind": "HelmRepository", "name": "registry"});
    let wanted = |version: &str, source: Option<&Value>| {
        let rest = json!({"version": version});
        let spec = chart("HelmRepository", "app", rest);
        match source {
            Some(source) => with(spec, json!({"sourceRef": source})),
            None => spec,
        }
    };
    for (name, spec, expected) in [
        ("newest", wanted("*", None), "1.1.0+build.5"),
        ("exact", wanted("1.0.0", None), "1.0.0"),
        ("oci-newest", wanted("1.x", Some(&other)), "1.1.0+build.5"),
        ("oci-exact", wanted("1.0.0", Some(&other)), "1.0.0"),
    ] {
        bed.create(name, spec).await;
        let object = bed.ready(name, "True", "ChartPullSucceeded").await;
        assert_eq!(version(&object), expected, "{name}");
        let file = folder.path().join(name);
        bed.fetch(&object, &file).await;
        let packed = std::fs::read(packed.join(format!("app-{expected}.tgz"))).unwrap();
        assert!(
            std::fs::read(file).unwrap() == packed,
            "{name} is another file than helm's"
        );
    }
}

/// HC3, HC5: what we pack of Git is a chart that helm renders as its own
#[tokio::test]
async fn charts_that_we_pack_are_those_of_helm() {
    let (Some(git), Some(_)) = (Git::find(), program::find("helm")) else {
        return;
    };
    git.init("repo");
    let source = git.path().join("repo");
    helm(&source, &["create", "app"]);
    helm(&source, &["create", "lib"]);
    let metadata = source.join("app/Chart.yaml");
    let text = std::fs::read_to_string(&metadata).unwrap();
    let needs = "\ndependencies:\n- {name: lib, version: 0.1.0, repository: \"file://../lib\"}\n";
    std::fs::write(&metadata, text + needs).unwrap();
    git.write("repo/prod.yaml", "replicaCount: 3\n");
    git.commit("repo", "Charts");
    let server = Server::serve(Backend::new(git.path()));
    let bed = charts().await;
    let spec =
        json!({"url": format!("{}/repo/.git", server.url()), "interval": "1h", "ref": {"branch": "main"}});
    bed.create_other::<GitRepositorySpec>("source", spec).await;
    let rest = json!({"valuesFiles": ["app/values.yaml", "prod.yaml"]});
    bed.create("app", chart("GitRepository", "app", rest)).await;
    let object = bed.ready("app", "True", "ChartPackageSucceeded").await;
    assert_eq!(version(&object), "0.1.0+1");
    let ours = git.path().join("ours.tgz");
    bed.fetch(&object, &ours).await;
    helm(&source, &["dependency", "build", "app"]);
    let render = |chart: &str, values: &[&str]| {
        let arguments = [&["template", "release", chart], values].concat();
        // The version is part of a label.
        helm(&source, &arguments).replace("app-0.1.0_1", "app-0.1.0")
    };
    let ours = render(&ours.display().to_string(), &[]);
    assert!(ours.contains("replicas: 3"), "{ours}");
    assert_eq!(ours, render("app", &["--values=prod.yaml"]));
}

/// H2, H5: what `helm repo index` writes is stored, with all that it says of each chart
#[tokio::test]
async fn an_index_of_helm_is_stored() {
    if program::find("helm").is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("charts")).unwrap();
    publish(folder.path(), "1.0.0");
    publish(folder.path(), "1.1.0+build.5");
    let server = serve(&folder.path().join("charts"));
    let mut bed: Bed<HelmRepositorySpec> = Bed::start().await;
    bed.run(HelmRepositories::new);
    bed.create("charts", json!({"url": server.url(), "interval": "1h"}))
        .await;
    let object = bed.ready("charts", "True", "Succeeded").await;
    let stored = bed.store.read(&artifact(&object).unwrap()).unwrap();
    let stored: Value = serde_json::from_reader(stored).unwrap();
    let text = std::fs::read(folder.path().join("charts/index.yaml")).unwrap();
    let written: Value = serde_json::from_slice(&model::json::to_vec(&yaml::parse(&text).unwrap())).unwrap();
    assert_eq!(stored["entries"], written["entries"]);
    publish(folder.path(), "1.2.0");
    let object = bed.recovers("charts").await;
    let stored = bed.store.read(&artifact(&object).unwrap()).unwrap();
    let stored: Value = serde_json::from_reader(stored).unwrap();
    assert_eq!(stored["entries"]["app"][0]["version"], "1.2.0");
}
