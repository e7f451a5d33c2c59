//! HelmRepository with an index that helm has made of charts that helm has packed.

use std::path::Path;
use std::process::Command;

use api::source::HelmRepositorySpec;
use controllers::sources::HelmRepositories;
use serde_json::{Value, json};
use testkit::http::{Reply, Request, Server};
use testkit::program;

use crate::sources::bad_input::artifact;
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
    let root = folder.path().join("charts");
    let server = Server::serve(move |request: &Request| {
        match std::fs::read(root.join(request.path().trim_start_matches('/'))) {
            Ok(content) => Reply::ok("text/yaml", content),
            Err(_) => Reply::status(404),
        }
    });
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
