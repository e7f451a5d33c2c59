//! The same charts packed by us and by the real helm, where that is installed.

use std::path::Path;
use std::process::Command;

use model::Value;
use source::archive::MemoryTree;
use source::helm::build::{Options, from_tree};
use testkit::helm::{Chart, Server};

use super::{Anyone, archive, files, tree, write};

/// Runs helm in a directory. Says whether it is installed at all.
fn helm(directory: &Path, arguments: &[&str]) -> bool {
    if testkit::program::find("helm").is_none() {
        return false;
    }
    let home = directory.join(".home");
    let run = Command::new("helm")
        .args(arguments)
        .current_dir(directory)
        .env("HELM_CACHE_HOME", home.join("cache"))
        .env("HELM_CONFIG_HOME", home.join("config"))
        .env("HELM_DATA_HOME", home.join("data"))
        .output();
    let Ok(output) = run else {
        return false;
    };
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    true
}

/// The files of an archive; YAML that helm writes anew is compared by what it says.
fn content(archive: &[u8]) -> Vec<(String, Result<Value, Vec<u8>>)> {
    let files = files(archive).into_iter();
    files
        .map(|file| {
            let says = if file.path.ends_with("Chart.yaml") || file.path.ends_with("Chart.lock") {
                Ok(yaml::parse(&file.content).unwrap())
            } else {
                Err(file.content.to_vec())
            };
            (file.path, says)
        })
        .collect()
}

#[tokio::test]
async fn helm_package_packs_the_same() {
    let tree = tree()
        .with("charts/app/charts/sub/Chart.yaml", "apiVersion: v2\nname: sub\nversion: 0.1.0\n")
        .with("charts/app/charts/sub/values.yaml", "a: 1\n")
        .with("charts/app/crds/crd.yaml", "kind: CustomResourceDefinition\n")
        .with("charts/app/values.schema.json", "{\"type\": \"object\"}")
        .with(
            "charts/app/Chart.yaml",
            "apiVersion: v2\nname: app\nversion: 0.1.0\nunknown: 1\nappVersion: 1.10\ndescription: \"a: b\"\nkeywords: [yes, \"1\"]\n\
             annotations: {a/b: \"true\"}\nmaintainers: [{name: me}]\ndependencies: [{name: sub, version: 0.1.0, repository: \"\", tags: [x]}]\n",
        );
    let directory = tempfile::tempdir().unwrap();
    write(&tree, directory.path());
    if !helm(directory.path(), &["package", "charts/app"]) {
        return;
    }
    let theirs = std::fs::read(directory.path().join("app-0.1.0.tgz")).unwrap();
    let built = from_tree(&tree, "charts/app", &Anyone, &Options::default())
        .await
        .unwrap();
    assert_eq!(content(archive(&built)), content(&theirs));
    // And helm takes what we packed.
    std::fs::write(directory.path().join("ours.tgz"), archive(&built)).unwrap();
    helm(directory.path(), &["template", "x", "ours.tgz"]);
}

#[tokio::test]
async fn helm_dependency_build_fetches_the_same() {
    let server = Server::start();
    server.add(&Chart::new("redis", "1.0.0").values("port: 1\n"));
    server.add(&Chart::new("redis", "1.5.0").values("port: 2\n"));
    let metadata = format!(
        "apiVersion: v2\nname: app\nversion: 1.0.0\ndependencies:\n\
         - {{name: redis, version: 1.x, repository: \"{}\"}}\n\
         - {{name: lib, version: \">=0.1\", repository: \"file://../lib\"}}\n",
        server.url()
    );
    let tree = MemoryTree::new()
        .with("app/Chart.yaml", metadata)
        .with("lib/Chart.yaml", "apiVersion: v2\nname: lib\nversion: 0.2.0\n")
        .with("lib/templates/_lib.tpl", "x\n");
    let directory = tempfile::tempdir().unwrap();
    write(&tree, directory.path());
    if !helm(directory.path(), &["dependency", "update", "app"]) {
        return;
    }
    helm(directory.path(), &["package", "app"]);
    let theirs = std::fs::read(directory.path().join("app-1.0.0.tgz")).unwrap();
    let built = from_tree(&tree, "app", &Anyone, &Options::default())
        .await
        .unwrap();
    let without_lock = |archive: &[u8]| -> Vec<_> {
        let content = content(archive).into_iter();
        content.filter(|(path, _)| path != "Chart.lock").collect()
    };
    assert_eq!(without_lock(archive(&built)), without_lock(&theirs));
}
