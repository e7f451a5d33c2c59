//! The memory that one cluster may take.
//!
//! A tenant names any API server by a kubeconfig. That server may serve kinds, objects and events without end. So such a cluster has a
//! budget for all that is held of it: the entries of its caches, the kinds that it serves, and the answers and events that are being
//! read. Once the budget is used up the cluster fails as a whole: its caches are freed, and nothing is asked of it for a while, which
//! grows each time.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::watch;
use tokio::time::Instant;

use super::Cluster;
use super::error::Error;

/// How long a cluster is left alone after its budget was used up for the first time.
const FIRST: Duration = Duration::from_secs(60);
/// How long it is left alone after many times. A cluster that does well for twice as long as it was left alone begins with the first.
const LONGEST: Duration = Duration::from_secs(15 * 60);

/// The memory that the caches of a cluster and the requests to it may take together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// The bytes of all entries, and of answers and events that are being read.
    pub bytes: usize,
    /// The number of entries.
    pub objects: usize,
    /// The number of kinds that the server serves, each version counted.
    pub kinds: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Budget {
            bytes: 512 * 1024 * 1024,
            objects: 500_000,
            kinds: 20_000,
        }
    }
}

/// A cluster has used up its budget.
#[derive(Clone, Debug, thiserror::Error)]
#[error(
    "cluster {cluster} needs more than the {limit} of memory that a remote cluster may take: its cache is freed, and it is tried again in {} s: have fewer objects there, or raise the budget of remote clusters",
    .pause.as_secs()
)]
pub struct OverBudget {
    cluster: Arc<str>,
    limit: Limit,
    pause: Duration,
    until: Instant,
}

impl OverBudget {
    /// The time until the cluster is tried again.
    pub(crate) fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }
}

#[derive(Clone, Copy, Debug)]
enum Limit {
    Bytes(usize),
    Objects(usize),
    Kinds(usize),
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MIB: usize = 1024 * 1024;
        match self {
            Limit::Bytes(bytes) if bytes.is_multiple_of(MIB) => write!(f, "{} MiB", bytes / MIB),
            Limit::Bytes(bytes) => write!(f, "{bytes} bytes"),
            Limit::Objects(objects) => write!(f, "{objects} objects"),
            Limit::Kinds(kinds) => write!(f, "{kinds} kinds"),
        }
    }
}

/// Counts what is held of a cluster.
pub(crate) struct Meter {
    cluster: Arc<str>,
    state: Mutex<State>,
    /// Moves each time the budget is used up.
    trips: watch::Sender<u64>,
}

struct State {
    budget: Budget,
    bytes: usize,
    objects: usize,
    over: Option<Arc<OverBudget>>,
}

impl Meter {
    fn new(cluster: Arc<str>, budget: Budget) -> Meter {
        let state = State {
            budget,
            bytes: 0,
            objects: 0,
            over: None,
        };
        Meter {
            cluster,
            state: Mutex::new(state),
            trips: watch::Sender::new(0),
        }
    }

    /// The budget is used up: everybody who holds something of the cluster lets go of it.
    fn trip(&self, mut state: MutexGuard<'_, State>, limit: Limit) -> Arc<OverBudget> {
        let now = Instant::now();
        let before = state.over.as_ref();
        let pause = match before.filter(|before| now < before.until + before.pause * 2) {
            Some(before) => (before.pause * 2).min(LONGEST),
            None => FIRST,
        };
        let over = Arc::new(OverBudget {
            cluster: Arc::clone(&self.cluster),
            limit,
            pause,
            until: now + pause,
        });
        tracing::warn!(error = %over, "a cluster is left alone");
        state.over = Some(Arc::clone(&over));
        drop(state);
        self.trips.send_modify(|trips| *trips += 1);
        over
    }
}

impl State {
    /// Why the cluster is left alone, if it is.
    fn over(&self) -> Option<Arc<OverBudget>> {
        let over = self.over.as_ref()?;
        (Instant::now() < over.until).then(|| Arc::clone(over))
    }
}

/// A part of a cluster's budget that is in use until this is dropped. Without a budget it counts for nothing.
#[derive(Default)]
pub struct Charge(Option<Held>);

struct Held {
    meter: Arc<Meter>,
    bytes: usize,
    objects: usize,
}

impl Charge {
    /// Whether anything counts.
    pub(crate) fn is_metered(&self) -> bool {
        self.0.is_some()
    }

    /// Uses so many bytes from now on.
    pub(crate) fn resize(&mut self, bytes: usize) -> Result<(), Arc<OverBudget>> {
        let objects = self.0.as_ref().map_or(0, |held| held.objects);
        self.hold(bytes, objects)
    }

    fn hold(&mut self, bytes: usize, objects: usize) -> Result<(), Arc<OverBudget>> {
        let Some(held) = &mut self.0 else {
            return Ok(());
        };
        let mut state = held.meter.state.lock();
        if let Some(over) = state.over() {
            return Err(over);
        }
        state.bytes = state.bytes + bytes - held.bytes;
        state.objects = state.objects + objects - held.objects;
        (held.bytes, held.objects) = (bytes, objects);
        let budget = state.budget;
        let limit = if state.bytes > budget.bytes {
            Limit::Bytes(budget.bytes)
        } else if state.objects > budget.objects {
            Limit::Objects(budget.objects)
        } else {
            return Ok(());
        };
        Err(held.meter.trip(state, limit))
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        if let Some(held) = &self.0 {
            let mut state = held.meter.state.lock();
            state.bytes -= held.bytes;
            state.objects -= held.objects;
        }
    }
}

/// Tells when a cluster has used up its budget.
pub(crate) struct Trips(Option<watch::Receiver<u64>>);

impl Trips {
    /// Returns when the budget was used up since this returned last. Never where there is none.
    pub(crate) async fn next(&mut self) {
        if let Some(trips) = &mut self.0
            && trips.changed().await.is_ok()
        {
            return;
        }
        std::future::pending().await
    }
}

impl Cluster {
    /// The same cluster, with a budget. `name` is what errors call it.
    #[must_use]
    pub fn with_budget(self, name: &str, budget: Budget) -> Cluster {
        // It is the only handle to this cluster until now, or else the others would go on without one.
        let _ = self.shared.meter.set(Arc::new(Meter::new(name.into(), budget)));
        self
    }

    /// Changes the budget of a cluster that has one.
    pub fn set_budget(&self, budget: Budget) {
        if let Some(meter) = self.shared.meter.get() {
            meter.state.lock().budget = budget;
        }
    }

    /// Whether requests may be sent.
    ///
    /// # Errors
    /// The cluster has used up its budget, and is left alone.
    pub fn within_budget(&self) -> Result<(), Arc<OverBudget>> {
        let meter = self.shared.meter.get();
        let over = meter.and_then(|meter| meter.state.lock().over());
        over.map_or(Ok(()), Err)
    }

    /// The same, for a request.
    pub(super) fn may_ask(&self, what: &dyn fmt::Display) -> Result<(), Error> {
        self.within_budget().map_err(|over| over_budget(what, over))
    }

    /// Checks the number of kinds that the server serves.
    pub(super) fn may_serve(&self, kinds: usize) -> Result<(), Arc<OverBudget>> {
        let Some(meter) = self.shared.meter.get() else {
            return Ok(());
        };
        let state = meter.state.lock();
        let most = state.budget.kinds;
        match kinds > most {
            true => Err(meter.trip(state, Limit::Kinds(most))),
            false => Ok(()),
        }
    }

    /// A part of the budget, of no size yet.
    pub(crate) fn charge(&self) -> Charge {
        let meter = self.shared.meter.get().map(Arc::clone);
        Charge(meter.map(|meter| Held {
            meter,
            bytes: 0,
            objects: 0,
        }))
    }

    /// The part of the budget that an entry of this size takes.
    pub(crate) fn charge_entry(&self, size: impl FnOnce() -> usize) -> Result<Charge, Arc<OverBudget>> {
        let mut charge = self.charge();
        if charge.is_metered() {
            charge.hold(size(), 1)?;
        }
        Ok(charge)
    }

    /// Tells from now on when the budget is used up.
    pub(crate) fn trips(&self) -> Trips {
        let meter = self.shared.meter.get();
        Trips(meter.map(|meter| meter.trips.subscribe()))
    }
}

/// What has failed as the budget is used up.
pub(crate) fn over_budget(what: impl fmt::Display, over: Arc<OverBudget>) -> Error {
    Error::OverBudget {
        what: what.to_string(),
        over,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cluster(budget: Budget) -> Cluster {
        let service = tower::service_fn(|_: http::Request<kube::client::Body>| async {
            Ok::<_, std::convert::Infallible>(http::Response::new(kube::client::Body::empty()))
        });
        let client = kube::Client::new(service, "default");
        Cluster::new(client).with_budget("https://one.example", budget)
    }

    #[tokio::test(start_paused = true)]
    async fn a_cluster_that_uses_up_its_budget_is_left_alone_for_longer_and_longer() {
        let budget = Budget {
            bytes: 1000,
            ..Budget::default()
        };
        let cluster = cluster(budget);
        for pause in [60, 120, 240, 480, 900, 900] {
            let mut charges = [cluster.charge(), cluster.charge()];
            assert!(charges[0].resize(600).is_ok());
            let over = charges[1].resize(600).unwrap_err();
            assert_eq!(
                over.to_string(),
                format!(
                    "cluster https://one.example needs more than the 1000 bytes of memory that a remote cluster may take: its cache is freed, and it is tried again in {pause} s: have fewer objects there, or raise the budget of remote clusters"
                )
            );
            assert!(charges[0].resize(1).is_err() && cluster.within_budget().is_err());
            drop(charges);
            tokio::time::advance(Duration::from_secs(pause)).await;
            assert!(cluster.within_budget().is_ok());
        }
        tokio::time::advance(LONGEST * 2).await;
        let over = cluster.charge().resize(1001).unwrap_err();
        assert_eq!(over.pause, FIRST);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_let_go_counts_no_more() {
        let budget = Budget {
            bytes: 1000,
            objects: 2,
            kinds: 3,
        };
        let cluster = cluster(budget);
        for _ in 0..10 {
            let charges = [cluster.charge_entry(|| 400), cluster.charge_entry(|| 400)];
            assert!(charges.iter().all(Result::is_ok));
        }
        assert!(cluster.may_serve(3).is_ok());
        let charges = [0; 3].map(|size| cluster.charge_entry(|| size));
        let over = charges[2].as_ref().err().unwrap();
        assert!(over.to_string().contains("the 2 objects of"), "{over}");
    }
}
