//! `sluice install --manifests`, `--components-extra` and `--registry-creds`.

use std::process::{Command, Output};

use kube::Api;
use serde_json::Value;
use testkit::Cluster;

use super::{exported, objects, sluice, text};

#[test]
fn components_are_added() {
    let both = exported(&[
        "--components=source-controller",
        "--components-extra=helm-controller",
    ]);
    let same = exported(&["--components=source-controller,helm-controller"]);
    assert_eq!(both, same);
    assert_ne!(both, exported(&["--components=source-controller"]));
    for wrong in ["ada", "ada:a:b"] {
        let creds = format!("--registry-creds={wrong}");
        let output = sluice(&["install", "--export", "--image-pull-secret=login", &creds]);
        assert_eq!(output.status.code(), Some(1));
        let said = text(&output.stderr);
        assert!(
            said.contains("invalid --registry-creds format, expected 'user:password'"),
            "{said}"
        );
    }
}

/// A directory with a kustomization of its own.
fn manifests() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("install")).unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        "role.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: beside}\n",
    );
    write(
        "install/kustomization.yaml",
        "namespace: delivery\nresources: [deployment.yaml, namespace.yaml, ../role.yaml]\n",
    );
    write(
        "install/namespace.yaml",
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: delivery}\n",
    );
    write(
        "install/deployment.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: sluice}\nspec:\n  selector: {matchLabels: {app: sluice}}\n  \
         template:\n    metadata: {labels: {app: sluice}}\n    spec: {containers: [{name: manager, image: sluice}]}\n",
    );
    folder
}

/// The output after the comment of each program.
fn after_comment(output: &Output) -> String {
    let lines = text(&output.stdout);
    let lines = lines
        .lines()
        .skip_while(|line| *line == "---" || line.starts_with('#'));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_directory_of_manifests_is_printed_as_by_flux() {
    let folder = manifests();
    let path = format!("--manifests={}", folder.path().join("install").display());
    let ours = sluice(&["install", "--export", &path]);
    assert!(ours.status.success(), "{}", text(&ours.stderr));
    let kinds: Vec<Value> = objects(&text(&ours.stdout))
        .iter()
        .map(|object| object["kind"].clone())
        .collect();
    assert_eq!(kinds, ["Deployment", "Namespace", "ConfigMap"]);
    if let Some(flux) = testkit::program::find("flux") {
        let theirs = Command::new(flux)
            .args(["install", "--export", &path])
            .output()
            .unwrap();
        assert!(theirs.status.success(), "{}", text(&theirs.stderr));
        assert_eq!(after_comment(&theirs), after_comment(&ours));
    }
    // Nothing beyond the parent of the directory is read.
    std::fs::write(
        folder.path().join("install/kustomization.yaml"),
        "resources: [../../x.yaml]\n",
    )
    .unwrap();
    assert!(!sluice(&["install", "--export", &path]).status.success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_directory_is_installed_with_the_credentials_of_the_registry() {
    let simulator = apiserver::simulator::Options::default();
    let cluster = Cluster::embedded(apiserver::Server::builder().simulator(simulator));
    let folder = manifests();
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_sluice"));
    command
        .args([
            "install",
            "--namespace=delivery",
            "--timeout=60s",
            "--image-pull-secret=login",
        ])
        .args(["--registry=registry.test/team", "--registry-creds=ada:geheim"])
        .arg(format!("--manifests={}", folder.path().join("install").display()))
        .arg(format!("--kubeconfig={}", cluster.kubeconfig().await.display()))
        .kill_on_drop(true);
    let output = command.output().await.unwrap();
    let said = [text(&output.stdout), text(&output.stderr)].concat();
    assert!(output.status.success(), "{said}");
    assert!(said.contains("► generating image pull secret login\n"), "{said}");
    assert!(!said.contains("geheim"), "{said}");
    assert!(said.contains("✔ sluice: deployment ready"), "{said}");
    let secrets: Api<k8s_openapi::api::core::v1::Secret> = Api::namespaced(cluster.client(), "delivery");
    let secret = secrets.get("login").await.unwrap();
    assert_eq!(secret.type_.as_deref(), Some("kubernetes.io/dockerconfigjson"));
    let config: Value = serde_json::from_slice(&secret.data.unwrap()[".dockerconfigjson"].0).unwrap();
    assert_eq!(config["auths"]["registry.test/team"]["username"], "ada");
    assert_eq!(config["auths"]["registry.test/team"]["password"], "geheim");
}
