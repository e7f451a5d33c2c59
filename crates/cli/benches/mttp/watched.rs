//! What objects say of themselves, as it is written.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::bail;
use futures::StreamExt;
use kube::Api;
use kube::api::Object;
use kube::runtime::watcher::{self, watcher};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use tokio::task::AbortHandle;

use super::shape::Shape;
use super::workload::NAMESPACE;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct NoSpec {}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Status {
    conditions: Vec<Condition>,
    observed_generation: i64,
    last_applied_revision: String,
    last_handled_reconcile_at: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Condition {
    #[serde(rename = "type")]
    kind: String,
    status: String,
    #[serde(default)]
    message: String,
}

/// How one of them is.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) is_ready: bool,
    pub(crate) message: String,
    /// The revision that it has applied or, of a HelmRelease, the generation that it has seen.
    pub(crate) revision: String,
    pub(crate) handled: String,
    /// Since when it is ready, with this revision and this request.
    pub(crate) since: Instant,
}

#[derive(Default)]
struct Known {
    seen: Mutex<HashMap<String, Seen>>,
    changed: Notify,
}

/// Watches until this is dropped.
pub(crate) struct Watched {
    known: Arc<Known>,
    watching: AbortHandle,
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.watching.abort();
    }
}

impl Watched {
    pub(crate) fn start(client: kube::Client, shape: Shape) -> Self {
        let api: Api<Object<NoSpec, Status>> = Api::namespaced_with(client, NAMESPACE, &shape.resource());
        let known = Arc::new(Known::default());
        let told = Arc::clone(&known);
        let watching = tokio::spawn(async move {
            let mut events = std::pin::pin!(watcher(api, watcher::Config::default()));
            while let Some(event) = events.next().await {
                if let Ok(watcher::Event::Apply(object) | watcher::Event::InitApply(object)) = event {
                    told.see(object, shape);
                }
            }
        });
        Watched {
            known,
            watching: watching.abort_handle(),
        }
    }

    /// How one is.
    pub(crate) fn get(&self, name: &str) -> Option<Seen> {
        self.known.seen.lock().get(name).cloned()
    }

    /// Waits until this holds of each of these, and says when that was.
    pub(crate) async fn until(
        &self,
        names: &[String],
        limit: Duration,
        holds: impl Fn(&Seen) -> bool,
    ) -> anyhow::Result<Instant> {
        let begun = Instant::now();
        loop {
            if let Some(when) = self.all(names, &holds) {
                return Ok(when);
            }
            if begun.elapsed() > limit {
                bail!(
                    "not all got ready within {limit:?}: {}",
                    self.lacking(names, &holds)
                );
            }
            let _ = tokio::time::timeout(Duration::from_secs(1), self.known.changed.notified()).await;
            // Many change at once: looking at all of them each time would cost more than it tells.
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    fn all(&self, names: &[String], holds: &impl Fn(&Seen) -> bool) -> Option<Instant> {
        let seen = self.known.seen.lock();
        let mut last = None;
        for name in names {
            let one = seen.get(name).filter(|one| holds(one))?;
            last = last.max(Some(one.since));
        }
        last
    }

    fn lacking(&self, names: &[String], holds: &impl Fn(&Seen) -> bool) -> String {
        let seen = self.known.seen.lock();
        let lacking = names.iter().filter(|name| !seen.get(*name).is_some_and(holds));
        let count = lacking.clone().count();
        let first = lacking.take(3).map(|name| {
            let message = seen.get(name).map(|one| one.message.clone());
            format!("{name}: {}", message.unwrap_or_default())
        });
        let first: Vec<String> = first.collect();
        format!("{count} of {}; {}", names.len(), first.join("; "))
    }
}

impl Known {
    fn see(&self, object: Object<NoSpec, Status>, shape: Shape) {
        let status = object.status.unwrap_or_default();
        let ready = status.conditions.into_iter().find(|one| one.kind == "Ready");
        let now = Seen {
            is_ready: ready.as_ref().is_some_and(|ready| ready.status == "True"),
            message: ready.map(|ready| ready.message).unwrap_or_default(),
            revision: match shape {
                Shape::Kustomizations => status.last_applied_revision,
                Shape::Releases => status.observed_generation.to_string(),
            },
            handled: status.last_handled_reconcile_at,
            since: Instant::now(),
        };
        let name = object.metadata.name.unwrap_or_default();
        let mut seen = self.seen.lock();
        if seen.get(&name).is_none_or(|before| !before.says_the_same(&now)) {
            seen.insert(name, now);
        }
        drop(seen);
        self.changed.notify_one();
    }
}

impl Seen {
    fn says_the_same(&self, other: &Seen) -> bool {
        (self.is_ready, &self.message, &self.revision, &self.handled)
            == (other.is_ready, &other.message, &other.revision, &other.handled)
    }
}
