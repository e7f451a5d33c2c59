//! What the cache promises: 100,000 objects under 1 KiB each, nothing for those of kinds that nobody follows, and 2,000 changes a second told within a second. Prints one
//! table; `cargo bench -p engine --bench cache [-- OBJECTS]`.
//!
//! Memory is that of a process of its own, which reaches the server over a connection: the server's is not counted.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use apiserver::Server;
use apiserver::auth::User;
use engine::cache::{Cache, Change, Follow, Interest, Settings};
use engine::cluster::{Cluster, Write, connect};
use futures::StreamExt;
use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig};
use model::{Value, json, value};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const TOKEN: &str = "bench";
const OBJECTS: usize = 100_000;
/// The label by which an object tells when it was written.
const WRITTEN: &str = "written";
const RATE: usize = 2_000;
const CHANGES: usize = 10_000;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    // `cargo test --benches` only wants to know that this builds.
    if arguments.iter().any(|argument| argument == "--test") {
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    if let [_, flag, kubeconfig, kind] = arguments.as_slice()
        && flag == "--resident"
    {
        return runtime.block_on(tell_resident(Path::new(kubeconfig), kind));
    }
    let objects = arguments
        .iter()
        .find_map(|argument| argument.parse().ok())
        .unwrap_or(OBJECTS);
    println!("{:<52} {:>14} {:>14}", "", "measured", "target");
    runtime.block_on(async {
        memory(objects).await;
        lag().await;
    });
}

fn row(what: &str, measured: String, target: &str) {
    println!("{what:<52} {measured:>14} {target:>14}");
}

/// What a controller manages: labels of its owner, some data, managed fields.
fn object(number: usize) -> Value {
    value!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {
            "name": (format!("settings-of-team-{number:06}")), "namespace": "default",
            "labels": {
                "kustomize.toolkit.fluxcd.io/name": (format!("unit-{}", number / 100)),
                "kustomize.toolkit.fluxcd.io/namespace": "flux-system",
            },
        },
        "data": { "settings": (format!("{number} {}", "x".repeat(1000))) },
    })
}

fn settings() -> Settings {
    let labels = [
        "kustomize.toolkit.fluxcd.io/name",
        "kustomize.toolkit.fluxcd.io/namespace",
        WRITTEN,
    ];
    Settings {
        labels: Arc::new(labels.map(Into::into).into()),
        ..Settings::default()
    }
}

async fn memory(objects: usize) {
    let server = Server::builder()
        .token(TOKEN, User::new("admin", &["system:masters"]))
        .start();
    let cluster = Cluster::new(kube::Client::new(server.service(), "default"));
    let maps = cluster.preferred("", "ConfigMap").await.expect("they are served");
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a free port");
    let listening = server.listen(listener).expect("a certificate");
    let folder = tempfile::tempdir().expect("a folder");
    let kubeconfig = folder.path().join("kubeconfig");
    std::fs::write(&kubeconfig, json::to_string(&listening.kubeconfig(TOKEN))).expect("it can be written");
    let resident = |kind: &str| {
        let mut program = Command::new(std::env::current_exe().expect("this program"));
        program.arg("--resident").arg(&kubeconfig).arg(kind);
        tokio::task::block_in_place(|| {
            let output = program.output().expect("it runs");
            assert!(
                output.status.success(),
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
            let text = String::from_utf8_lossy(&output.stdout);
            let mut numbers = text
                .split_whitespace()
                .map(|number| number.parse::<u64>().expect("a number"));
            (
                numbers.next().expect("the bytes"),
                numbers.next().expect("the milliseconds"),
            )
        })
    };
    let (empty, _) = resident("Secret");
    futures::stream::iter(0..objects)
        .for_each_concurrent(16, async |number| {
            cluster
                .create(&maps, &object(number), &Write::by("bench"))
                .await
                .expect("it is valid");
        })
        .await;
    // What a connection and a watch need, whatever comes over it.
    let (idle, _) = resident("Secret");
    row(
        &format!("memory for {objects} objects that nobody follows"),
        format!("{} B each", idle.saturating_sub(empty) / objects as u64),
        "0 B each",
    );
    let (bytes, took) = resident("ConfigMap");
    let each = bytes.saturating_sub(idle) / objects as u64;
    row(
        &format!("memory of one of {objects} objects"),
        format!("{each} B"),
        "< 1024 B",
    );
    row("all of them known after", format!("{took} ms"), "");
}

/// In a process of its own: how much more is resident when all objects of a kind are known.
async fn tell_resident(kubeconfig: &Path, kind: &str) {
    let file = Kubeconfig::read_from(kubeconfig).expect("it was just written");
    let config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await;
    let cluster = Cluster::new(connect(config.expect("it is whole")).expect("a client"));
    cluster.preferred("", kind).await.expect("it is served");
    let before = resident();
    let (cache, began) = (Cache::new(cluster, settings()), Instant::now());
    let follow = cache.follow(Interest::in_all("", kind));
    synced(&follow).await;
    let took = began.elapsed().as_millis();
    // The allocator gives back what only the list needed after a while.
    let mut bytes = resident();
    for _ in 0..20 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        bytes = bytes.min(resident());
    }
    assert!(kind != "ConfigMap" || !cache.is_empty());
    println!("{} {took}", bytes.saturating_sub(before));
}

async fn synced(follow: &Follow) {
    let deadline = tokio::time::Instant::now() + Duration::from_secs(600);
    follow.synced(deadline).await.expect("the server works");
}

/// How long after it was written a change is told, at a steady rate.
async fn lag() {
    let server = Server::builder().start();
    let client = || kube::Client::new(server.service(), "default");
    let cluster = Cluster::new(client());
    let maps = cluster.preferred("", "ConfigMap").await.expect("they are served");
    let cache = Cache::new(Cluster::new(client()), settings());
    let mut changes = cache.subscribe(Box::new(|entry| entry.label(WRITTEN).is_some()));
    let follow = cache.follow(Interest::in_all("", "ConfigMap"));
    synced(&follow).await;

    let epoch = Instant::now();
    let writer = tokio::spawn(async move {
        let mut tick = tokio::time::interval(Duration::from_secs(1) / RATE as u32);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Burst);
        let writes = futures::stream::unfold((tick, 0), |(mut tick, number)| async move {
            tick.tick().await;
            (number < CHANGES).then_some((number, (tick, number + 1)))
        });
        writes
            .for_each_concurrent(64, async |number| {
                let mut object = object(number);
                let written = epoch.elapsed().as_micros().to_string();
                object.set_at(&["metadata", "labels", WRITTEN], written);
                cluster
                    .create(&maps, &object, &Write::by("bench"))
                    .await
                    .expect("it is valid");
            })
            .await;
        epoch.elapsed()
    });
    let mut lags = Vec::new();
    while lags.len() < CHANGES {
        let Some(Change::Updated(entry)) = changes.next().await else {
            continue;
        };
        let written: u64 = entry
            .label(WRITTEN)
            .and_then(|text| text.parse().ok())
            .expect("a number");
        lags.push(epoch.elapsed() - Duration::from_micros(written));
    }
    let took = writer.await.expect("it does not panic");
    lags.sort();
    let rate = CHANGES as f64 / took.as_secs_f64();
    let at = |share: usize| {
        format!(
            "{:.1} ms",
            lags[lags.len() * share / 100 - 1].as_secs_f64() * 1000.0
        )
    };
    row("changes per second", format!("{rate:.0}"), "2000");
    row("from the request to the subscriber, median", at(50), "");
    row(
        "from the request to the subscriber, 99 of 100",
        at(99),
        "< 1000 ms",
    );
}

/// The memory of this process.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kibibytes.unwrap_or_default() * 1024
}
