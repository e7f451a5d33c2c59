//! The real `flux` program as a client of our controllers, where it is installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::{Value, json};
use testkit::http::{Reply, Request};

use super::bed::Bed;

/// Runs flux against a cluster; the embedded one answers meanwhile.
async fn flux(program: &Path, kubeconfig: &Path, namespace: &str, arguments: &[&str]) -> Output {
    let mut command = tokio::process::Command::new(program);
    command
        .args(arguments)
        .arg(format!("--kubeconfig={}", kubeconfig.display()))
        .arg(format!("--namespace={namespace}"))
        .arg("--timeout=30s")
        .kill_on_drop(true);
    command.output().await.unwrap()
}

fn good(output: Output, what: &str) -> String {
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    assert!(output.status.success(), "{what}: {text}");
    text
}

fn installed() -> Option<PathBuf> {
    testkit::program::find("flux")
}

/// `flux get`, `reconcile`, `suspend`, `resume`, `export` and `events` work unchanged on what our controllers write.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_gets_reconciles_suspends_and_exports() {
    let Some(program) = installed() else { return };
    let bed = Bed::start().await;
    let server = testkit::git::Server::start();
    let repository = server.repository("team/app");
    repository.commit("main", "Start", [("a", "1")]);
    let spec = json!({"url": server.clone_url("team/app"), "interval": "1h", "ref": {"branch": "main"}});
    bed.create("GitRepository", "app", json!({}), spec).await;
    let controller = bed.program().start();
    bed.ready("GitRepository", "app").await;
    let run = async |arguments: &[&str]| {
        let output = flux(&program, &bed.kubeconfig, &bed.namespace, arguments).await;
        good(output, &arguments.join(" "))
    };
    let listed = run(&["get", "sources", "git"]).await;
    assert!(
        listed.contains("stored artifact for revision 'main@sha1:"),
        "{listed}"
    );

    let commit = repository.commit("main", "Second", [("b", "2")]);
    let said = run(&["reconcile", "source", "git", "app"]).await;
    assert!(
        said.contains(&format!("fetched revision main@sha1:{commit}")),
        "{said}"
    );

    run(&["suspend", "source", "git", "app"]).await;
    let third = repository.commit("main", "Third", [("c", "3")]);
    let listed = run(&["get", "sources", "git", "app"]).await;
    assert!(listed.contains("True"), "{listed}");
    let said = run(&["resume", "source", "git", "app"]).await;
    assert!(
        said.contains(&format!("fetched revision main@sha1:{third}")),
        "{said}"
    );

    let exported = run(&["export", "source", "git", "app"]).await;
    let exported = yaml::parse(exported.trim_start_matches("---\n").as_bytes()).unwrap();
    let exported = serde_json::to_value(exported).unwrap();
    assert_eq!(exported["kind"], "GitRepository");
    assert_eq!(exported["spec"]["ref"]["branch"], "main");
    assert_eq!(exported["status"], Value::Null);

    let events = run(&["events", "--for=GitRepository/app"]).await;
    assert!(events.contains("NewArtifact"), "{events}");
    assert!(events.contains("stored artifact for commit 'Start'"), "{events}");
    controller.stop().await;
}

/// E5: `flux logs` reads what the program writes. A small server stands for the cluster whose pod wrote it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_reads_the_logs() {
    let Some(program) = installed() else { return };
    let bed = Bed::start().await;
    let server = testkit::git::Server::start();
    server
        .repository("team/app")
        .commit("main", "Start", [("a", "1")]);
    for (name, branch) in [("app", "main"), ("broken", "gone")] {
        let url = server.clone_url("team/app");
        let spec = json!({"url": url, "interval": "1h", "ref": {"branch": branch}});
        bed.create("GitRepository", name, json!({}), spec).await;
    }
    let controller = bed.program().start();
    controller.says("stored artifact for commit").await;
    controller.says("Reconciler error").await;
    controller.stop().await;
    let log = controller.said();
    let labels = json!({"app.kubernetes.io/part-of": "flux"});
    let list = |kind: &str, item: Value| {
        let version = if kind == "PodList" { "v1" } else { "apps/v1" };
        json!({"apiVersion": version, "kind": kind, "metadata": {}, "items": [item]}).to_string()
    };
    let metadata = json!({"name": "source-controller", "namespace": "flux-system", "labels": labels});
    let deployments = list(
        "DeploymentList",
        json!({"metadata": metadata, "spec": {"template": {"metadata": {"labels": labels}}}}),
    );
    let pods = list(
        "PodList",
        json!({"metadata": metadata, "spec": {"containers": [{"name": "manager"}]}}),
    );
    let service = move |request: &Request| match request.path() {
        path if path.ends_with("/deployments") => Reply::json(deployments.clone()),
        path if path.ends_with("/pods") => Reply::json(pods.clone()),
        path if path.ends_with("/source-controller/log") => Reply::text(log.clone()),
        _ => Reply::status(404),
    };
    let cluster = testkit::http::Server::serve(service);
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = folder.path().join("kubeconfig");
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "logs",
        "clusters": [{"name": "logs", "cluster": {"server": cluster.url()}}],
        "users": [{"name": "logs", "user": {}}],
        "contexts": [{"name": "logs", "context": {"cluster": "logs", "user": "logs"}}],
    });
    fs::write(&kubeconfig, config.to_string()).unwrap();
    let run = async |arguments: &[&str]| {
        let output = flux(&program, &kubeconfig, &bed.namespace, arguments).await;
        good(output, &arguments.join(" "))
    };
    let shown = run(&["logs", "--kind=GitRepository", "--name=app"]).await;
    let line = format!(
        "info GitRepository/app.{} - stored artifact for commit 'Start'",
        bed.namespace
    );
    assert!(shown.contains(&line), "{shown}");
    assert!(!shown.contains("broken"), "{shown}");
    let shown = run(&["logs", "--level=error"]).await;
    let part = format!(
        "error GitRepository/broken.{} - Reconciler error failed to checkout and determine revision",
        bed.namespace
    );
    assert!(shown.contains(&part), "{shown}");
    let shown = run(&["logs", "--all-namespaces"]).await;
    assert!(shown.contains("starting manager"), "{shown}");
}

/// X5: what `flux version` and `flux check` read: the labels of the definitions and the tag of the image
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_tells_the_versions_of_ours() {
    let Some(program) = installed() else { return };
    let bed = Bed::start().await;
    let manifests = super::deploy::manifests(&bed.namespace);
    super::deploy::apply(&bed, &manifests).await;
    let arguments = ["version"];
    let said = flux(&program, &bed.kubeconfig, &bed.namespace, &arguments).await;
    let said = good(said, "version");
    let ours = concat!("v", env!("CARGO_PKG_VERSION"));
    for line in [
        format!("distribution: flux-{ours}"),
        format!("source-controller: {ours}"),
    ] {
        assert!(said.contains(&line), "{line}: {said}");
    }
}
