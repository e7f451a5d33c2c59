//! One Kubernetes API server and what can be asked of it.
//!
//! A [`Cluster`] is a cheap handle: clones share discovery, the count of requests and the limit of requests in
//! flight, which follows the server instead of a flag. Objects go in and out as [`Value`]s, failures come as an [`Error`]
//! by cause.
//!
//! ```no_run
//! # async fn doc(client: kube::Client, object: model::Value) -> Result<(), engine::cluster::Error> {
//! use engine::cluster::{Apply, Cluster};
//!
//! let cluster = Cluster::new(client);
//! let deployments = cluster.resource("apps", "v1", "Deployment").await?;
//! let options = Apply { dry_run: true, ..Apply::by("kustomize-controller") };
//! let merged = cluster.apply(&deployments, &object, &options).await?;
//! let live = cluster.get(&deployments, "shop", "web").await?;
//! # Ok(()) }
//! ```

mod anew;
mod budget;
mod connect;
mod counts;
mod dark;
mod discovery;
mod error;
mod lanes;
mod limit;
mod limiter;
mod list;
mod names;
mod objects;
mod partial;
mod query;
mod refusal;
mod resource;
mod secrets;
mod send;
mod served;
mod trust;
mod watch;
mod way;

use std::sync::{Arc, OnceLock};

use kube::Client;
use model::Str;
#[cfg(doc)]
use model::Value;

pub(crate) use budget::over_budget;
pub use budget::{Budget, Charge, OverBudget};
pub use connect::{ConnectError, connect, connect_guarded, connect_patiently, patient};
pub use counts::{Counts, Verb};
pub use error::Error;
pub use list::{Detail, Listing, Page, Selection};
pub use objects::{Apply, Delete, Deleted, Propagation, Validation, Write};
pub use refusal::{Cause, Refusal};
pub use resource::Resource;
pub use watch::{Start, Watch, WatchEvent};
pub use way::UnusableProxy;

use budget::Meter;
use counts::Counters;
use dark::Darkness;
use discovery::Discovery;
use limiter::Limiter;

/// The user agent of a [`Cluster`] that was given none.
const AGENT: &str = concat!("sluice-engine/", env!("CARGO_PKG_VERSION"));

/// One API server, as one identity sees it. Clones are handles to the same.
#[derive(Clone)]
pub struct Cluster {
    shared: Arc<Shared>,
}

struct Shared {
    client: Client,
    agent: Str,
    counters: Counters,
    limiter: Limiter,
    darkness: Darkness,
    discovery: Discovery,
    /// Counts what is held of it, if it has a budget.
    meter: OnceLock<Arc<Meter>>,
}

impl Cluster {
    /// The cluster that a client reaches. Its own retries should be off: what the server refuses is told, and what it asks
    /// to send again later is sent again here.
    pub fn new(client: Client) -> Cluster {
        Cluster::with_agent(client, AGENT)
    }

    /// The same, with a name that the server's audit log shows.
    pub fn with_agent(client: Client, agent: impl Into<Str>) -> Cluster {
        Cluster {
            shared: Arc::new(Shared {
                client,
                agent: agent.into(),
                counters: Counters::default(),
                limiter: Limiter::new(),
                darkness: Darkness::default(),
                discovery: Discovery::new(),
                meter: OnceLock::new(),
            }),
        }
    }

    /// How many requests were sent so far, by verb.
    pub fn counts(&self) -> Counts {
        self.shared.counters.snapshot()
    }

    /// How many requests may be in flight at the moment; watches do not count.
    pub fn concurrency(&self) -> usize {
        self.shared.limiter.limit()
    }

    /// The same cluster, shared by whoever holds it: to tell whether two handles are one.
    pub fn is(&self, other: &Cluster) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl std::fmt::Debug for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cluster")
            .field("agent", &self.shared.agent)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_send<T: Send>(_: T) {}

    #[tokio::test]
    async fn requests_may_cross_threads() {
        let service = tower::service_fn(|_: http::Request<kube::client::Body>| {
            std::future::ready(Ok::<_, std::convert::Infallible>(http::Response::new(
                kube::client::Body::empty(),
            )))
        });
        let cluster = Cluster::new(Client::new(service, "default"));
        let resource = Resource {
            group: "".into(),
            version: "v1".into(),
            kind: "ConfigMap".into(),
            plural: "configmaps".into(),
            namespaced: true,
            watchable: true,
        };
        let (object, selection) = (model::Value::object(), Selection::default());
        is_send(cluster.preferred("", "ConfigMap"));
        is_send(cluster.get(&resource, "", ""));
        is_send(cluster.apply(&resource, &object, &Apply::by("tests")));
        is_send(cluster.create(&resource, &object, &Write::by("tests")));
        is_send(cluster.json_patch(&resource, "", "", &object, &Write::by("tests")));
        is_send(cluster.delete(&resource, "", "", &Delete::default()));
        is_send(cluster.list(&resource, &selection, 1, None));
        is_send(cluster.watch(&resource, &selection, Start::Everything));
    }
}
