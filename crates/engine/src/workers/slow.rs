//! Servers that answer slowly hold no worker.
//!
//! A tenant chooses the servers of its sources and of its remote bases, and a timeout of up to an hour. There are few workers for each
//! kind, so that a few silent servers would keep the objects of all tenants waiting.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::Instant;

use super::WorkerPermit;

/// A tenant regains a second of patience in this many seconds, so that its slow servers hold a quarter of a worker at most.
const RECOVERY: u32 = 4;

/// The slow work of each tenant. Cheap to clone; clones share it.
#[derive(Clone, Debug)]
pub struct SlowWork(Arc<State>);

#[derive(Debug)]
struct State {
    /// The longest time that work holds its worker. What other work of the tenant has held before is subtracted.
    patience: Duration,
    /// The most pieces of work of one tenant that run without a worker. Its other work waits for one of them to end.
    most: usize,
    /// The number of pieces that run without a worker, by tenant.
    counts: Mutex<HashMap<String, watch::Sender<usize>>>,
    debts: Mutex<HashMap<String, Debt>>,
}

/// The time for which the work of a tenant has held workers. It decreases with time.
#[derive(Debug)]
struct Debt {
    held: Duration,
    at: Instant,
}

impl Debt {
    fn left(&self) -> Duration {
        self.held.saturating_sub(self.at.elapsed() / RECOVERY)
    }
}

impl SlowWork {
    /// Work that holds its worker for this long at most, with so many slow pieces at once for each tenant.
    pub fn new(patience: Duration, most: usize) -> Self {
        SlowWork(Arc::new(State {
            patience,
            most,
            counts: Mutex::default(),
            debts: Mutex::default(),
        }))
    }

    /// Runs work. What takes long continues without a worker, and takes one again before this returns.
    pub async fn run<T>(&self, worker: &WorkerPermit, tenant: &str, work: impl Future<Output = T>) -> T {
        self.wait_for_turn(worker, tenant).await;
        let mut work = std::pin::pin!(work);
        let began = Instant::now();
        let done = tokio::time::timeout(self.patience(tenant), &mut work).await;
        self.charge(tenant, began.elapsed());
        if let Ok(done) = done {
            return done;
        }
        let _slow = self.begin(tenant);
        worker.aside(work).await
    }

    /// The time for which work of the tenant may hold its worker.
    fn patience(&self, tenant: &str) -> Duration {
        let debts = self.0.debts.lock();
        let debt = debts.get(tenant).map(Debt::left).unwrap_or_default();
        self.0.patience.saturating_sub(debt)
    }

    /// Records that work of the tenant has held a worker.
    fn charge(&self, tenant: &str, held: Duration) {
        let mut debts = self.0.debts.lock();
        debts.retain(|_, debt| !debt.left().is_zero());
        let before = debts.get(tenant).map(Debt::left).unwrap_or_default();
        let debt = Debt {
            held: (before + held).min(self.0.patience),
            at: Instant::now(),
        };
        debts.insert(tenant.to_owned(), debt);
    }

    /// Waits, without a worker, while the tenant has too many slow pieces of work.
    async fn wait_for_turn(&self, worker: &WorkerPermit, tenant: &str) {
        let counts = || self.0.counts.lock().get(tenant).map(watch::Sender::subscribe);
        while let Some(mut counts) = counts()
            && *counts.borrow() >= self.0.most
        {
            // The sender is gone where the last of them has ended. Others may have been woken too, so it is checked again.
            let wait = async { counts.wait_for(|count| *count < self.0.most).await.map(drop) };
            let _ = worker.aside(wait).await;
        }
    }

    fn begin(&self, tenant: &str) -> Slow {
        let mut tenants = self.0.counts.lock();
        let count = tenants
            .entry(tenant.to_owned())
            .or_insert_with(|| watch::Sender::new(0));
        count.send_modify(|count| *count += 1);
        Slow {
            work: self.clone(),
            tenant: tenant.to_owned(),
        }
    }
}

/// Work that runs without a worker.
struct Slow {
    work: SlowWork,
    tenant: String,
}

impl Drop for Slow {
    fn drop(&mut self) {
        let mut tenants = self.work.0.counts.lock();
        if let Some(count) = tenants.get(&self.tenant) {
            count.send_modify(|count| *count -= 1);
            let is_last = *count.borrow() == 0;
            if is_last {
                tenants.remove(&self.tenant);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::super::Workers;
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(15);
    const MOST: usize = 8;

    /// Mallory has more silent servers than there are workers and slow pieces of work.
    #[tokio::test(start_paused = true)]
    async fn silent_servers_of_a_namespace_keep_no_other_waiting() {
        let workers = Workers::new(2);
        let slow = SlowWork::new(PATIENCE, MOST);
        for _ in 0..3 * MOST {
            let (slow, workers) = (slow.clone(), workers.clone());
            tokio::spawn(async move {
                let worker = workers.take().await.unwrap();
                slow.run(&worker, "mallory", pending::<()>()).await;
            });
        }
        // All that can begin have begun.
        tokio::time::sleep(PATIENCE * 100).await;
        let worker = tokio::time::timeout(PATIENCE, workers.take()).await;
        let worker = worker.expect("a worker is free").unwrap();
        assert_eq!(slow.run(&worker, "ada", async { 1 }).await, 1);
        drop(worker);
        assert_eq!(workers.free(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_fetch_that_ends_lets_the_next_begin() {
        let workers = Workers::new(1);
        let slow = SlowWork::new(PATIENCE, MOST);
        let mut running: Vec<_> = (0..MOST).map(|_| slow.begin("mallory")).collect();
        let worker = workers.take().await.unwrap();
        let mut next = std::pin::pin!(slow.run(&worker, "mallory", async { 1 }));
        assert!(futures::poll!(&mut next).is_pending());
        running.pop();
        assert_eq!(next.await, 1);
        drop(running);
        assert!(slow.0.counts.lock().is_empty());
    }

    /// Mallory's server answers just before a fetch would give up its worker.
    #[tokio::test(start_paused = true)]
    async fn servers_that_are_almost_too_slow_hold_no_worker_for_long() {
        let workers = Workers::new(1);
        let slow = SlowWork::new(PATIENCE, MOST);
        let almost = PATIENCE - Duration::from_secs(1);
        let worker = workers.take().await.unwrap();
        slow.run(&worker, "mallory", tokio::time::sleep(almost)).await;
        drop(worker);
        let next = {
            let (slow, workers) = (slow.clone(), workers.clone());
            tokio::spawn(async move {
                let worker = workers.take().await.unwrap();
                slow.run(&worker, "mallory", tokio::time::sleep(almost)).await;
            })
        };
        tokio::task::yield_now().await;
        let began = Instant::now();
        let worker = workers.take().await.unwrap();
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
        assert_eq!(slow.patience("ada"), PATIENCE);
        drop(worker);
        next.await.unwrap();
        tokio::time::sleep(PATIENCE * RECOVERY).await;
        assert_eq!(slow.patience("mallory"), PATIENCE);
    }
}
