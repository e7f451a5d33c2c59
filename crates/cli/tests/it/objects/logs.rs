//! `logs` beside the real `flux`, from an API that has nothing but the logs of two controllers.

use std::fs;
use std::process::Output;

use serde_json::{Value, json};
use testkit::http::{Reply, Request, Server};

const SOURCE: &str = r#"starting
{"level":"info","ts":"2026-01-02T03:04:05.000Z","msg":"stored artifact","controller":"gitrepository","controllerKind":"GitRepository","name":"app","namespace":"apps","reconcileID":"1"}
{"level":"error","ts":"2026-01-02T03:04:06.000Z","msg":"Reconciler error","controllerKind":"OCIRepository","name":"app","namespace":"flux-system","error":"no such tag"}
{"level":"info","ts":"2026-01-02T03:04:07.000Z","logger":"setup","msg":"starting manager"}
"#;
const KUSTOMIZE: &str = r#"{"level":"info","ts":"2026-01-02T03:04:08.000Z","msg":"server-side apply completed","reconciler kind":"Kustomization","name":"infra","namespace":"flux-system"}
{"level":"debug","ts":"2026-01-02T03:04:09.000Z","msg":"no changes","controllerKind":"Kustomization","name":"infra","namespace":"flux-system"}
"#;

fn deployments() -> Value {
    let one = |name: &str| {
        json!({
            "metadata": {"name": name, "namespace": "flux-system"},
            "spec": {"selector": {}, "template": {"metadata": {"labels": {"app": name}}, "spec": {"containers": []}}},
        })
    };
    json!({"apiVersion": "apps/v1", "kind": "DeploymentList", "metadata": {}, "items": [one("source"), one("kustomize")]})
}

fn pods(app: &str) -> Value {
    let one = |name: &str, phase: &str| {
        let containers = match app {
            "source" => json!([{"name": "manager"}]),
            _ => json!([{"name": "sidecar"}, {"name": "manager"}]),
        };
        json!({
            "metadata": {"name": format!("{app}-{name}"), "namespace": "flux-system"}, "spec": {"containers": containers, "nodeName": "n"},
            "status": {"phase": phase, "conditions": [{"type": "Ready", "status": if phase == "Running" { "True" } else { "False" }}]},
        })
    };
    let items = [one("old", "Failed"), one("new", "Running")];
    json!({"apiVersion": "v1", "kind": "PodList", "metadata": {}, "items": items})
}

fn reply(request: &Request) -> Reply {
    let query = request.uri.query().unwrap_or_default().to_owned();
    let tail = if query.contains("tailLines=1") {
        1
    } else {
        usize::MAX
    };
    let last = |text: &str| {
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(tail)..].join("\n") + "\n"
    };
    match request.path() {
        "/apis/apps/v1/namespaces/flux-system/deployments" if query.contains("part-of") => {
            Reply::json(deployments().to_string())
        }
        "/api/v1/namespaces/flux-system/pods" if query.contains("source") => {
            Reply::json(pods("source").to_string())
        }
        "/api/v1/namespaces/flux-system/pods" => Reply::json(pods("kustomize").to_string()),
        "/api/v1/namespaces/flux-system/pods/source-new/log" => Reply::text(last(SOURCE)),
        "/api/v1/namespaces/flux-system/pods/kustomize-new/log" if query.contains("container=manager") => {
            Reply::text(last(KUSTOMIZE))
        }
        _ => Reply::status(404),
    }
}

async fn run(program: &str, kubeconfig: &str, line: &str) -> Output {
    let mut command = tokio::process::Command::new(program);
    command
        .args(line.split(' '))
        .arg(kubeconfig)
        .kill_on_drop(true)
        .output()
        .await
        .unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn logs_are_shown_as_by_flux() {
    let server = Server::serve(reply);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kubeconfig");
    let text = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "c", "users": [{"name": "u", "user": {}}],
        "clusters": [{"name": "c", "cluster": {"server": server.url()}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
    });
    fs::write(&file, text.to_string()).unwrap();
    let kubeconfig = format!("--kubeconfig={}", file.display());
    let shown = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
    let ours = env!("CARGO_BIN_EXE_sluice");
    let all = run(ours, &kubeconfig, "logs -A").await;
    assert_eq!(shown(&all).lines().count(), 5, "{all:?}");
    let error =
        "2026-01-02T03:04:06.000Z error OCIRepository/app.flux-system - Reconciler error no such tag\n";
    assert!(shown(&all).contains(error), "{}", shown(&all));
    let Some(flux) = testkit::program::find("flux") else {
        return;
    };
    for line in [
        "logs",
        "logs -A",
        "logs --level=error",
        "logs --kind=kustomization",
        "logs --all-namespaces --name=APP",
        "logs -n apps",
        "logs -A --tail=1",
        "logs -A --since=5m",
        "logs -A --since-time=2026-01-01T00:00:00Z",
        "logs --since=5m --since-time=2026-01-01T00:00:00Z",
        "logs --since-time=yesterday",
        "logs --flux-namespace=other",
        "logs --level=loud",
    ] {
        let theirs = run(flux.to_str().unwrap(), &kubeconfig, line).await;
        let ours = run(ours, &kubeconfig, line).await;
        assert_eq!(shown(&ours), shown(&theirs), "{line}: {ours:?} {theirs:?}");
        assert_eq!(
            ours.status.success(),
            theirs.status.success(),
            "{line}: {ours:?} {theirs:?}"
        );
    }
}
