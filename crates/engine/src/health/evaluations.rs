//! Where expressions and scripts of others are evaluated: on few threads that nothing else waits for.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, LazyLock};
use std::thread::available_parallelism;

use parking_lot::Mutex;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::Semaphore;

use crate::workers::WorkerPermit;

/// The evaluations of the process.
static PROCESS: LazyLock<Evaluations> = LazyLock::new(|| {
    let processors = available_parallelism().map_or(1, NonZeroUsize::get);
    Evaluations::new((processors / 2).max(1))
});

/// Runs work of unknown duration, so much of it at a time. Clones share the limit, and so do all default values: at most half of the
/// processors of the process are busy, so that leases are renewed and probes are answered meanwhile.
///
/// At most one evaluation per tenant runs or waits for its turn among the tenants: one tenant with many slow expressions takes one place in
/// the queue. Of each tenant, at most one evaluation per cluster waits for the tenant's turn: a cluster that serves many slow objects takes
/// one place among the clusters of the tenant.
#[derive(Clone, Debug)]
pub struct Evaluations(Arc<Turns>);

#[derive(Debug)]
struct Turns {
    all: Semaphore,
    /// The turns of tenants, and of their clusters, that run or wait.
    tenants: Mutex<HashMap<String, Arc<Semaphore>>>,
}

impl Default for Evaluations {
    fn default() -> Self {
        PROCESS.clone()
    }
}

impl Evaluations {
    /// Creates a limit of its own: at most `most` evaluations at a time.
    pub fn new(most: usize) -> Self {
        Evaluations(Arc::new(Turns {
            all: Semaphore::new(most),
            tenants: Mutex::default(),
        }))
    }

    /// Does work of a tenant, such as a namespace, that keeps its thread busy. Other tasks of the runtime go on beside it, if the runtime has
    /// more than one thread. A runtime of one thread has nothing to share, and does the work at once.
    pub async fn run<T>(&self, tenant: &str, work: impl FnOnce() -> T) -> T {
        self.run_in(tenant, "", work).await
    }

    /// Does the same for something that runs. It has no worker while it waits for its turn, so that a tenant with many slow expressions holds
    /// one worker at most.
    pub async fn run_beside<T>(&self, worker: &WorkerPermit, tenant: &str, work: impl FnOnce() -> T) -> T {
        if Handle::current().runtime_flavor() != RuntimeFlavor::MultiThread {
            return work();
        }
        worker.aside(self.run(tenant, work)).await
    }

    /// Does the same for an object of a cluster.
    pub async fn run_in<T>(&self, tenant: &str, cluster: &str, work: impl FnOnce() -> T) -> T {
        if Handle::current().runtime_flavor() != RuntimeFlavor::MultiThread {
            return work();
        }
        let among_own = Place::of(&self.0, format!("{tenant}\n{cluster}"));
        let place = Place::of(&self.0, tenant.to_owned());
        // None of them is ever closed.
        let turn_of_cluster = among_own.own.acquire().await;
        let own_turn = place.own.acquire().await;
        let turn = self.0.all.acquire().await;
        let result = tokio::task::block_in_place(work);
        drop((turn, own_turn, turn_of_cluster));
        result
    }
}

/// The place of a tenant or of one of its clusters in a queue. The last one that is dropped removes it.
struct Place<'e> {
    turns: &'e Turns,
    name: String,
    own: Arc<Semaphore>,
}

impl<'e> Place<'e> {
    fn of(turns: &'e Turns, name: String) -> Self {
        let mut tenants = turns.tenants.lock();
        let new = || Arc::new(Semaphore::new(1));
        let own = Arc::clone(tenants.entry(name.clone()).or_insert_with(new));
        Place { turns, name, own }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut tenants = self.turns.tenants.lock();
        // The map has one, and this is the other.
        if Arc::strong_count(&self.own) <= 2 {
            tenants.remove(&self.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workers::Workers;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn tenants_without_evaluations_are_forgotten() {
        let evaluations = Evaluations::new(1);
        evaluations.run("one", || ()).await;
        let held = evaluations.0.all.acquire().await.unwrap();
        let waits = evaluations.clone();
        let waiting = tokio::spawn(async move { waits.run("two", || ()).await });
        while evaluations.0.tenants.lock().is_empty() {
            tokio::task::yield_now().await;
        }
        waiting.abort();
        assert!(waiting.await.is_err());
        drop(held);
        assert!(evaluations.0.tenants.lock().is_empty());
    }

    /// Each of the waiting held a worker.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn what_waits_for_its_turn_holds_no_worker() {
        let (evaluations, workers) = (Evaluations::new(1), Workers::new(1));
        let held = evaluations.0.all.acquire().await.unwrap();
        let (waits, of) = (evaluations.clone(), workers.clone());
        let waiting = tokio::spawn(async move {
            let worker = of.take().await.unwrap();
            let evaluated = waits.run_beside(&worker, "mallory", || 1).await;
            assert_eq!(of.free(), 0, "it has one again");
            evaluated
        });
        while evaluations.0.tenants.lock().is_empty() {
            tokio::task::yield_now().await;
        }
        let limit = std::time::Duration::from_secs(30);
        let other = tokio::time::timeout(limit, workers.take()).await;
        drop(other.expect("a worker is free"));
        drop(held);
        assert_eq!(waiting.await.unwrap(), 1);
    }

    #[test]
    fn all_default_values_share_one_limit() {
        assert!(Arc::ptr_eq(&Evaluations::default().0, &Evaluations::default().0));
    }
}
