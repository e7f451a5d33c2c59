//! What the environment says, where no flag does.

use std::process::Command;

use serde_json::{Value, json};
use testkit::http::{Reply, Request};

use super::bed::{Bed, LIMIT, eventually, fetch, free_port};

/// D2: each variable does what its flag does, and the proxy of the environment is used except where it is not to be
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn variables_say_what_flags_do_not() {
    let bed = Bed::start().await;
    let server = testkit::git::Server::start();
    let repository = server.repository("team/app");
    repository.commit("main", "Start", [("a", "1")]);
    let hook = testkit::http::Server::serve(|_: &Request| Reply::status(202));
    // Only the proxy knows this host: it is the Git server itself.
    let proxied = json!({"url": "http://git.test/team/app", "interval": "1h", "ref": {"branch": "main"}});
    bed.create("GitRepository", "proxied", json!({}), proxied).await;
    let direct = json!({"url": server.clone_url("team/app"), "interval": "1h", "ref": {"branch": "main"}});
    bed.create("GitRepository", "direct", json!({}), direct).await;
    let elsewhere = bed.cluster.namespace("elsewhere").await;
    bed.create_in(
        &elsewhere,
        "GitRepository",
        "other",
        json!({"url": "http://git.test/x", "interval": "1h"}),
    )
    .await;

    let folder = tempfile::tempdir().unwrap();
    let storage = folder.path().join("by-variable");
    let (port, metrics) = (free_port(), free_port());
    let program = bed
        .program_at(&storage, port)
        .without(&[
            "--storage-path",
            "--storage-addr",
            "--storage-adv-addr",
            "--metrics-addr",
        ])
        .with_variables(&[
            ("STORAGE_PATH", &storage.display().to_string()),
            ("STORAGE_ADDRESS", &format!("127.0.0.1:{port}")),
            ("STORAGE_ADV_ADDR", "artifacts.test"),
            ("EVENTS_ADDR", &hook.url()),
            ("METRICS_ADDR", &format!("127.0.0.1:{metrics}")),
            ("HTTP_PROXY", &server.url()),
            ("http_proxy", &server.url()),
            ("NO_PROXY", "127.0.0.1,localhost"),
            // Go's own, which Flux's manifests set.
            ("GOMEMLIMIT", "1GiB"),
            ("TUF_ROOT", "/tmp/.sigstore"),
        ])
        .start();
    program.serves().await;
    let status = bed.ready("GitRepository", "proxied").await;
    bed.ready("GitRepository", "direct").await;
    let url = status["artifact"]["url"].as_str().unwrap();
    assert!(url.starts_with("http://artifacts.test/gitrepository/"), "{url}");
    let path = status["artifact"]["path"].as_str().unwrap();
    assert!(storage.join(path).is_file());
    let hosts: Vec<String> = server
        .requests()
        .iter()
        .map(|request| request.header("host").to_owned())
        .collect();
    assert!(hosts.iter().any(|host| host == "git.test"), "{hosts:?}");
    let told = testkit::settled(LIMIT, hook.changes(), async || match hook.requests().is_empty() {
        true => Err("no event was posted"),
        false => Ok(()),
    });
    told.await.unwrap();
    eventually("metrics", &program, async || {
        fetch(&format!("http://127.0.0.1:{metrics}/metrics"))
            .await
            .is_some()
    })
    .await;
    // RUNTIME_NAMESPACE is the only namespace that is looked at.
    let other = bed.status_in(&elsewhere, "GitRepository", "other").await;
    assert_eq!(other, json!({"observedGeneration": -1}));
    program.stop().await;
}

/// D2: a flag counts more than its variable, and a variable that is set to nothing is as one that is not set
#[test]
fn flags_count_more_than_variables() {
    let said = |arguments: &[&str]| -> Vec<Value> {
        let output = Command::new(env!("CARGO_BIN_EXE_sluice"))
            .args(["controller", "source", "--kubeconfig=/nowhere", "--health-addr=0"])
            .args(arguments)
            .env("STORAGE_PATH", "/dev/null/of-variable")
            .env("EVENTS_ADDR", "no address")
            .env("METRICS_ADDR", "")
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1));
        let said = String::from_utf8(output.stderr).unwrap();
        said.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let told = |lines: &[Value], part: &str| {
        let mut lines = lines.iter();
        lines.any(|line| line["error"].as_str().is_some_and(|error| error.contains(part)))
    };
    let lines = said(&[]);
    assert!(told(&lines, "/dev/null/of-variable"), "{lines:?}");
    assert!(told(&lines, "\"no address\" is no URL"), "{lines:?}");
    let folder = tempfile::tempdir().unwrap();
    let path = format!("--storage-path={}", folder.path().display());
    let lines = said(&[&path, "--events-addr=http://events.test/"]);
    assert!(!told(&lines, "of-variable"), "{lines:?}");
    assert!(!told(&lines, "no address"), "{lines:?}");
}

/// D4, A6, H2, HC7: what flags say is done
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn flags_change_what_is_done() {
    let bed = Bed::start().await;
    let server = testkit::git::Server::start();
    server
        .repository("team/app")
        .commit("main", "Start", [("a", "1")]);
    let charts = testkit::helm::Server::start();
    charts.add(&testkit::helm::Chart::new("podinfo", "6.1.0"));
    let spec = json!({"url": server.clone_url("team/app"), "interval": "1h", "ref": {"branch": "main"}});
    bed.create("GitRepository", "app", json!({}), spec).await;
    let spec = json!({"url": charts.url(), "interval": "1h"});
    bed.create("HelmRepository", "charts", json!({}), spec).await;
    let program = bed
        .program()
        .with(&["--artifact-digest-algo=blake3", "--helm-index-max-size=10"])
        .start();
    let status = bed.ready("GitRepository", "app").await;
    let digest = status["artifact"]["digest"].as_str().unwrap();
    assert!(digest.starts_with("blake3:"), "{digest}");
    let served = fetch(&format!(
        "{}/{}",
        program.url,
        status["artifact"]["path"].as_str().unwrap()
    ))
    .await;
    assert!(served.is_some());
    bed.until("HelmRepository", "charts", |status| {
        let conditions = status["conditions"].as_array().into_iter().flatten();
        let mut messages = conditions.filter_map(|one| one["message"].as_str());
        messages.any(|message| message.contains("10 bytes"))
    })
    .await;
    program.stop().await;
}
