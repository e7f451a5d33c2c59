//! What is logged of runs: the lines that `flux logs` and others read.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use api::source::GitRepositorySpec;
use controllers::kit::logs::{Encoding, Logs};
use controllers::kit::{Options, Recorder, Runner};
use controllers::sources::{GitRepositories, HelmCharts, HelmRepositories, Shared};
use parking_lot::Mutex;
use serde_json::{Value, json};
use source::store::{self, Store};
use testkit::Cluster;
use tracing::Level;
use tracing_subscriber::layer::SubscriberExt;

use super::bed::{Bed, condition};

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What the cluster lacks is told once, though both the controller of the kind and that of charts follow it.
#[tokio::test]
async fn a_kind_that_is_not_served_is_waited_for_and_told_of_once() {
    let _another = tracing::Dispatch::new(tracing::subscriber::NoSubscriber::default());
    let lines = Lines::default();
    let logs = Logs::new(Level::DEBUG, Encoding::Json, lines.clone());
    let _guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(logs));
    // Only a cluster of our own serves nothing.
    let cluster = Cluster::embedded(apiserver::Server::builder());
    let folder = tempfile::tempdir().unwrap();
    let clock: store::Clock = Arc::new(jiff::Timestamp::now);
    let store = Store::open(folder.path(), store::Options::new("store.test"), clock).unwrap();
    let repositories = source::git::Cache::open(folder.path().join(".git-cache")).unwrap();
    let shared = Shared::new(cluster.client(), Arc::new(store), repositories);
    let options = Options::new("source-controller");
    let recorder = Recorder::new(cluster.client(), "source-controller", None);
    let charts = Runner::new(
        HelmCharts::new(shared.clone()),
        cluster.client(),
        recorder.clone(),
        options.clone(),
    );
    let repositories = Runner::new(HelmRepositories::new(shared), cluster.client(), recorder, options);
    let running = [tokio::spawn(charts.run()), tokio::spawn(repositories.run())];
    let of = |level: &str| -> usize {
        let text = String::from_utf8(lines.0.lock().clone()).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        let told = lines.filter(|line: &Value| line["level"] == level && line["kind"] == "HelmRepository");
        told.count()
    };
    // Whoever comes second begins its watch anew without a word, but for those who look closely.
    let every = testkit::settled::Every(Duration::from_millis(50));
    let both = testkit::settled(testkit::DEADLINE, every, async || {
        match of("debug") > 0 && of("info") + of("error") > 0 {
            true => Ok(()),
            false => Err("not both have looked"),
        }
    });
    both.await.unwrap();
    assert_eq!(of("info") + of("error"), 1);
    running.iter().for_each(|running| running.abort());
}

/// E5: a run that failed is a `Reconciler error` with the text in `error`, as of all controllers; one that went well says what
/// it did
#[tokio::test]
async fn runs_are_logged_as_flux_logs_them() {
    // Where there is only one subscriber, other threads decide by their own, which is none, what is told at all.
    let _another = tracing::Dispatch::new(tracing::subscriber::NoSubscriber::default());
    let lines = Lines::default();
    let logs = Logs::new(Level::INFO, Encoding::Json, lines.clone());
    let subscriber = tracing_subscriber::registry().with(logs);
    // The runtime of this test is on this thread alone.
    let _guard = tracing::subscriber::set_default(subscriber);
    let server = testkit::git::Server::start();
    server.repository("app").commit("main", "Start", [("a", "1")]);
    let mut bed = Bed::<GitRepositorySpec>::start().await;
    bed.run(GitRepositories::new);
    for (name, branch) in [("good", "main"), ("bad", "gone")] {
        let spec = json!({"url": server.clone_url("app"), "interval": "1h", "ref": {"branch": branch}});
        bed.create(name, spec).await;
    }
    bed.ready("good", "True", "Succeeded").await;
    let object = bed.ready("bad", "False", "GitOperationFailed").await;
    let message = condition(&object, "Ready").unwrap().message;
    // What is told of an object is logged before.
    bed.until_told("bad", "Warning", "GitOperationFailed", &message)
        .await;
    let text = String::from_utf8(lines.0.lock().clone()).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of = |name: &str, level: &str| -> Value {
        let mut found = lines.iter();
        let found = found.find(|line| line["name"] == name && line["level"] == level);
        found.unwrap_or_else(|| panic!("{text}")).clone()
    };
    let failed = of("bad", "error");
    assert_eq!(failed["msg"], "Reconciler error");
    assert_eq!(failed["error"], message.as_str());
    assert_eq!(failed["controllerKind"], "GitRepository");
    assert_eq!(failed["controllerGroup"], "source.toolkit.fluxcd.io");
    assert_eq!(failed["namespace"], bed.namespace.as_str());
    let good = of("good", "info");
    assert_eq!(good["msg"], "stored artifact for commit 'Start'");
    assert_eq!(good.get("error"), None);
}
