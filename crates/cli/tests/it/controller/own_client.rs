//! Our own commands as a client of our controllers.

use std::process::Output;

use serde_json::json;

use super::bed::Bed;

pub(super) async fn sluice(bed: &Bed, arguments: &[&str]) -> Output {
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_sluice"));
    command
        .args(arguments)
        .arg(format!("--kubeconfig={}", bed.kubeconfig.display()))
        .arg(format!("--namespace={}", bed.namespace))
        .arg("--timeout=30s")
        .kill_on_drop(true);
    command.output().await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_are_asked_for_and_waited_for() {
    let bed = Bed::start().await;
    let server = testkit::git::Server::start();
    let repository = server.repository("team/app");
    repository.commit("main", "Start", [("a", "1")]);
    for (name, branch) in [("app", "main"), ("broken", "gone")] {
        let url = server.clone_url("team/app");
        let spec = json!({"url": url, "interval": "1h", "ref": {"branch": branch}});
        bed.create("GitRepository", name, json!({}), spec).await;
    }
    let controller = bed.program().start();
    bed.ready("GitRepository", "app").await;
    let said = async |arguments: &[&str]| {
        let output = sluice(&bed, arguments).await;
        let text = [output.stdout, output.stderr].concat();
        (
            output.status.success(),
            String::from_utf8_lossy(&text).into_owned(),
        )
    };

    let second = repository.commit("main", "Second", [("b", "2")]);
    let (good, text) = said(&["reconcile", "source", "git", "app"]).await;
    assert!(
        good && text.contains(&format!("✔ fetched revision main@sha1:{second}")),
        "{text}"
    );

    said(&["suspend", "source", "git", "app"]).await;
    let third = repository.commit("main", "Third", [("c", "3")]);
    let (good, text) = said(&["resume", "source", "git", "app"]).await;
    assert!(
        good && text.contains(&format!("✔ fetched revision main@sha1:{third}")),
        "{text}"
    );

    let (good, text) = said(&["reconcile", "source", "git", "broken"]).await;
    assert!(
        !good && text.contains("GitRepository reconciliation failed: '"),
        "{text}"
    );
    controller.stop().await;
}
