//! What is logged of runs: the lines that `flux logs` and others read.

use std::io::{self, Write};
use std::sync::Arc;

use api::source::GitRepositorySpec;
use controllers::kit::logs::{Encoding, Logs};
use controllers::sources::GitRepositories;
use parking_lot::Mutex;
use serde_json::{Value, json};
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
    // What is told of an object is told after its status was written.
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
