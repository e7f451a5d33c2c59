//! Starting, waiting for one's turn, and ending.

use std::os::unix::fs::symlink;
use std::process::Command;

use k8s_openapi::api::coordination::v1::Lease;
use kube::Api;
use rustix::process::Signal;
use serde_json::{Value, json};

use super::bed::{Bed, eventually, fetch, free_port};
use super::program::Options;

const SHORT_LEASE: [&str; 4] = [
    "--enable-leader-election",
    "--leader-election-lease-duration=2s",
    "--leader-election-renew-deadline=1s",
    "--leader-election-retry-period=100ms",
];

async fn holder(bed: &Bed) -> Option<String> {
    let leases: Api<Lease> = Api::namespaced(bed.cluster.client(), &bed.namespace);
    let lease = leases.get_opt("source-controller-leader-election").await.unwrap();
    lease?.spec?.holder_identity
}

/// D1, D2: by its own name, with the ports of its flags; E4: what it did is counted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn by_the_name_of_flux_it_serves_artifacts_metrics_and_health() {
    let bed = Bed::start().await;
    let server = testkit::git::Server::start();
    server
        .repository("team/app")
        .commit("main", "Start", [("a", "1")]);
    let spec = json!({"url": server.clone_url("team/app"), "interval": "1h", "ref": {"branch": "main"}});
    bed.create("GitRepository", "app", json!({}), spec).await;
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("source-controller");
    symlink(env!("CARGO_BIN_EXE_sluice"), &link).unwrap();
    let (metrics, health) = (free_port(), free_port());
    let program = bed
        .program()
        .by_name(&link)
        .with(&[
            &format!("--metrics-addr=127.0.0.1:{metrics}"),
            &format!("--health-addr=127.0.0.1:{health}"),
        ])
        .start();
    program.serves().await;
    for path in ["healthz", "readyz"] {
        let answer = fetch(&format!("http://127.0.0.1:{health}/{path}")).await;
        assert_eq!(answer.as_deref(), Some(&b"ok"[..]), "{path}");
    }
    bed.ready("GitRepository", "app").await;
    let url = format!("http://127.0.0.1:{metrics}/metrics");
    let object = format!(r#"kind="GitRepository",name="app",namespace="{}""#, bed.namespace);
    let text = async || String::from_utf8(fetch(&url).await.unwrap()).unwrap();
    let ready = format!("gotk_reconcile_condition{{{object},status=\"True\",type=\"Ready\"}} 1");
    eventually("the metrics of a run", &program, async || {
        text().await.contains(&ready)
    })
    .await;
    let all = text().await;
    for part in [
        format!("gotk_reconcile_duration_seconds_count{{{object}}} "),
        r#"controller_runtime_reconcile_total{controller="gitrepository",result="requeue_after"} 1"#.into(),
        r#"workqueue_depth{controller="bucket",name="bucket"} 0"#.into(),
        "rest_client_requests_total{code=\"200\",".into(),
        "gotk_token_cached_items 0".into(),
        "process_resident_memory_bytes ".into(),
    ] {
        assert!(all.contains(&part), "{part}\n{all}");
    }
    // The series of an object go with it.
    bed.api("GitRepository")
        .delete("app", &Default::default())
        .await
        .unwrap();
    eventually("no more metrics", &program, async || {
        !text().await.contains(&object)
    })
    .await;
    program.stop().await;
}

/// D5: all that is wrong is told at once, each with its remedy, in the form of the log.
#[test]
fn a_start_that_cannot_work_tells_all_reasons() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_sluice"))
        .args([
            "controller",
            "source",
            "--feature-gates=Nothing=true",
            "--concurrent=none",
        ])
        .args([
            "--kubeconfig=/nowhere",
            "--storage-path=/dev/null/data",
            "--health-addr=0",
        ])
        .arg(format!("--metrics-addr={taken}"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<Value> = said
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let told: Vec<&str> = lines.iter().map(|line| line["error"].as_str().unwrap()).collect();
    assert!(
        lines
            .iter()
            .all(|line| line["level"] == "error" && line["logger"] == "setup")
    );
    for part in [
        "feature-gate 'Nothing' not supported",
        "\"none\" is no whole number",
        "choose another with --storage-path",
        "/nowhere cannot be used",
        "choose another with --metrics-addr",
    ] {
        assert!(told.iter().any(|text| text.contains(part)), "{part}\n{said}");
    }
    assert_eq!(told.len(), 5, "{said}");
}

/// A10, D4: of two instances one works and serves; told to end, it hands over at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_instances_one_works_until_it_is_told_to_end() {
    let bed = Bed::start().await;
    let first = bed.program().with(&["--enable-leader-election"]).start();
    first.serves().await;
    let holding = holder(&bed).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let port = free_port();
    let second = bed.program_at(&folder.path().join("data"), port);
    // The duration is Flux's: only a lease that was given up is taken within this test's time.
    let second = second.with(&["--enable-leader-election", "--leader-election-retry-period=100ms"]);
    let second = second.start();
    second.says("attempting to acquire leader lease").await;
    assert_eq!(
        fetch(&format!("{}/", second.url)).await,
        None,
        "it does not serve"
    );
    first.stop().await;
    second.serves().await;
    let now = holder(&bed).await.unwrap();
    assert_ne!(now, holding);
    second.stop().await;
    assert_eq!(holder(&bed).await.as_deref(), Some(""));
}

/// One that dies without a word is replaced when its lease has run out; one that loses its lease ends with an error.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_instance_is_replaced_and_one_that_loses_its_lease_ends() {
    let bed = Bed::start().await;
    let first = bed.program().with(&SHORT_LEASE).start();
    first.serves().await;
    first.kill();
    let second = bed.program().with(&SHORT_LEASE).start();
    second.serves().await;
    let leases: Api<Lease> = Api::namespaced(bed.cluster.client(), &bed.namespace);
    // Somebody else has taken it, and renews it for ever.
    let mut stolen = false;
    eventually("its end", &second, async || {
        let name = "source-controller-leader-election";
        let mut lease = leases.get(name).await.unwrap();
        let spec = lease.spec.get_or_insert_default();
        spec.holder_identity = Some("somebody-else".into());
        spec.lease_duration_seconds = Some(600);
        stolen |= leases.replace(name, &Default::default(), &lease).await.is_ok();
        second.ended_already().is_some()
    })
    .await;
    assert!(stolen);
    assert_eq!(second.ended().await.code(), Some(1));
    // Its last words may be read after its end.
    second.says("is held by somebody-else").await;
    assert_eq!(
        holder(&bed).await.as_deref(),
        Some("somebody-else"),
        "it is not given up"
    );
}

/// Told once, it waits for what it is doing; told twice, it ends.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_second_signal_ends_it_at_once() {
    let bed = Bed::start().await;
    let server = testkit::git::Server::start();
    server
        .repository("team/app")
        .commit("main", "Start", [("a", "1")]);
    server.fail(testkit::http::Fault::hang().forever());
    let spec = json!({"url": server.clone_url("team/app"), "interval": "1h", "ref": {"branch": "main"}});
    bed.create("GitRepository", "app", json!({}), spec).await;
    let program = bed.program().start();
    program.serves().await;
    let asked = testkit::settled(super::bed::LIMIT, server.changes(), async || {
        if server.requests().is_empty() {
            Err("nothing was asked for")
        } else {
            Ok(())
        }
    });
    asked.await.unwrap();
    program.signal(Signal::TERM);
    program.says("waiting for what is being worked on").await;
    program.signal(Signal::INT);
    assert_eq!(program.ended().await.code(), Some(1));
}

/// Whoever looks at the log of a controller that does nothing finds out why.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_that_cannot_be_reached_is_told_of() {
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = folder.path().join("kubeconfig");
    // Port 1 is nobody's.
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "gone",
        "clusters": [{"name": "gone", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [{"name": "gone", "user": {}}],
        "contexts": [{"name": "gone", "context": {"cluster": "gone", "user": "gone"}}],
    });
    std::fs::write(&kubeconfig, config.to_string()).unwrap();
    let options = || Options::new(&kubeconfig, "default", &folder.path().join("data"), free_port());
    let alone = options().start();
    alone
        .says("failed to list gitrepositories.source.toolkit.fluxcd.io")
        .await;
    alone.kill();
    let one_of_several = options().with(&SHORT_LEASE).start();
    one_of_several
        .says("failed to take the lease default/source-controller-leader-election")
        .await;
    one_of_several.kill();
}
