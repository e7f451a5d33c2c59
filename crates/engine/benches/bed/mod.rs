//! What the benchmarks stand on: a cluster that is reached as in production, an engine, and tables.

// Each benchmark is a program of its own and uses a part of this.
#![allow(dead_code)]

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use engine::Engine;
use engine::cluster::connect;
use engine::plan::{Options, Strategy};
use engine::unit::{
    Destination, Failure, Generated, ManifestGenerator, MemoryStore, OneCluster, Policy,
    ReconciliationSettings, Source, Status, SyncUnit,
};
use futures::future::BoxFuture;
use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig};
use model::{Manifest, Value};
use tokio::sync::Notify;
use tokio::task::AbortHandle;

/// Runs a benchmark, unless `cargo test --benches` only wants to know that it builds.
pub(crate) fn main(measure: impl AsyncFnOnce(Vec<usize>)) {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.iter().any(|argument| argument == "--test") {
        return;
    }
    let numbers = arguments.iter().filter_map(|argument| argument.parse().ok());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(measure(numbers.collect()));
}

/// Prints a table's head.
pub(crate) fn head(test: &testkit::Cluster, baseline: &str) {
    let server = match test.is_real() {
        true => "kube-apiserver",
        false => "embedded server, in this process",
    };
    println!("{server}; {}", load());
    println!("{:<58} {:>16} {baseline:>24} {:>16}", "", "measured", "goal");
}

/// Prints a row of a table.
pub(crate) fn row(what: &str, measured: &str, baseline: &str, goal: &str) {
    println!("{what:<58} {measured:>16} {baseline:>24} {goal:>16}");
}

/// How busy the machine is, by others too.
pub(crate) fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let load: Vec<&str> = text.split_whitespace().take(1).collect();
    format!("{cores} cores, load average {}", load.join(" "))
}

/// A client that speaks HTTP/2 over TLS, as in production.
pub(crate) async fn client(test: &testkit::Cluster) -> kube::Client {
    let file = Kubeconfig::read_from(test.kubeconfig().await).expect("it is there");
    let config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await;
    let mut config = config.expect("it is whole");
    config.proxy_url = None;
    connect(config).expect("its certificates can be used")
}

/// The processor time that this process has used.
pub(crate) fn cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in parentheses, may have spaces; after it the 12th and 13th are user and system time.
    let fields: Vec<&str> = text
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    let ticks = |at: usize| fields.get(at).and_then(|text| text.parse::<u64>().ok());
    let ticks = ticks(11).unwrap_or_default() + ticks(12).unwrap_or_default();
    // Linux counts in hundredths of a second for programs.
    Duration::from_millis(ticks * 10)
}

/// The processor time that a real API server has used. The embedded one is part of this process.
pub(crate) async fn server_cpu(test: &testkit::Cluster) -> Option<Duration> {
    if !test.is_real() {
        return None;
    }
    let request = http::Request::get("/metrics").body(Vec::new()).ok()?;
    let text = test.client().request_text(request).await.ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("process_cpu_seconds_total "))?;
    line.trim().parse().ok().map(Duration::from_secs_f64)
}

/// A share of sorted times: the median is that of 50.
pub(crate) fn percentile(sorted: &[Duration], share: usize) -> String {
    let at = (sorted.len() * share).div_ceil(100).max(1) - 1;
    format!("{:.1} ms", sorted[at].as_secs_f64() * 1000.0)
}

/// The objects of units, which stay as they are.
#[derive(Clone)]
pub(crate) struct Sources(pub(crate) Arc<HashMap<String, Vec<Value>>>);

impl ManifestGenerator for Sources {
    fn generate<'a>(
        &'a self,
        unit: &'a SyncUnit,
        _: Option<&'a str>,
        _: bool,
    ) -> BoxFuture<'a, Result<Generated, Failure>> {
        Box::pin(async {
            let objects = self.0.get(&unit.id).into_iter().flatten();
            let manifests = objects.map(|object| Manifest::new(object.clone(), None));
            Ok(Generated {
                manifests: manifests.collect::<Result<_, _>>()?,
                revision: "v1".to_owned(),
            })
        })
    }
}

/// A unit as Flux would look after it.
pub(crate) fn unit(id: &str, namespace: &str, trust_new: bool) -> SyncUnit {
    SyncUnit {
        id: id.to_owned(),
        tenant: String::new(),
        status: Status::default(),
        source: Source::default(),
        destination: Destination {
            cluster: String::new(),
            namespace: namespace.to_owned(),
        },
        operation: None,
        policy: Policy {
            strategy: Strategy::flux(id, namespace),
            options: Options {
                trust_new,
                ..Options::default()
            },
            ..Policy::default()
        },
    }
}

/// An engine that runs until this is dropped.
pub(crate) struct Running {
    pub(crate) engine: Engine,
    /// The units and what has become of them.
    pub(crate) units: MemoryStore,
    completed: Arc<AtomicUsize>,
    told: Arc<Notify>,
    running: AbortHandle,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.running.abort();
    }
}

/// Starts an engine with these units.
pub(crate) fn start(client: kube::Client, namespace: &str, sources: Sources) -> Running {
    start_trusting(client, namespace, sources, false)
}

/// The same, with units that may write new objects without a dry run.
pub(crate) fn start_trusting(
    client: kube::Client,
    namespace: &str,
    sources: Sources,
    trust_new: bool,
) -> Running {
    let units = MemoryStore::new(sources.0.keys().map(|id| unit(id, namespace, trust_new)));
    let settings = ReconciliationSettings::default();
    let engine = Engine::new(settings, OneCluster::new(client), sources, units.clone());
    let (completed, told) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
    let (counted, tell) = (Arc::clone(&completed), Arc::clone(&told));
    engine
        .on_sync_completed(move |unit, state| {
            assert!(
                state.phase == engine::unit::Phase::Succeeded,
                "{unit}: {}",
                state.message
            );
            counted.fetch_add(1, Ordering::Relaxed);
            tell.notify_one();
        })
        .forever();
    let running = engine.clone();
    let running = tokio::spawn(async move { running.run(20, 20, std::future::pending()).await });
    Running {
        engine,
        units,
        completed,
        told,
        running: running.abort_handle(),
    }
}

impl Running {
    /// Waits until so many operations have succeeded.
    pub(crate) async fn completed(&self, operations: usize) {
        while self.completed.load(Ordering::Relaxed) < operations {
            self.told.notified().await;
        }
    }

    /// Has units looked at, and waits until all of these looks are over.
    pub(crate) async fn look(&self, units: &[String]) {
        let before = self.engine.looks();
        units.iter().for_each(|unit| self.engine.refresh(unit));
        while self.engine.looks() < before + units.len() as u64 {
            tokio::time::sleep(Duration::from_micros(200)).await;
        }
    }

    /// Looks until a look sends no request: the watch has brought back all that was written.
    pub(crate) async fn settle(&self, units: &[String]) {
        loop {
            let before = self.engine.requests("");
            self.look(units).await;
            tokio::time::sleep(Duration::from_millis(100)).await;
            if self.engine.requests("") == before {
                return;
            }
        }
    }
}
