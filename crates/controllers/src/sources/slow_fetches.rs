//! Servers that answer slowly hold no worker.
//!
//! A tenant chooses the servers of its sources, and a timeout of up to an hour. There are few workers for each kind, so that
//! a few silent servers would keep the sources of all tenants waiting.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::kit::Seat;

/// The longest time that a fetch holds its worker. What the fetches of a namespace have held before is subtracted.
const PATIENCE: Duration = Duration::from_secs(15);
/// A namespace regains a second of patience in this many seconds, so that its slow servers hold a quarter of a worker at most.
const RECOVERY: u32 = 4;
/// How many fetches of one namespace may go on without a worker. Its other objects wait for one of them to end.
const MOST: usize = 8;

/// The slow fetches of each namespace. Cheap to clone; clones share them.
#[derive(Clone, Default)]
pub struct SlowFetches(Arc<State>);

#[derive(Default)]
struct State {
    /// The number of fetches that go on without a worker, by namespace.
    counts: Mutex<HashMap<String, watch::Sender<usize>>>,
    debts: Mutex<HashMap<String, Debt>>,
}

/// The time for which the fetches of a namespace have held workers. It decreases with time.
struct Debt {
    held: Duration,
    at: Instant,
}

impl Debt {
    fn left(&self) -> Duration {
        self.held.saturating_sub(self.at.elapsed() / RECOVERY)
    }
}

impl SlowFetches {
    /// Fetches. What takes long goes on without a worker, and is given one again before this returns.
    pub(super) async fn run<T>(&self, seat: &Seat, namespace: &str, fetch: impl Future<Output = T>) -> T {
        self.wait_for_turn(seat, namespace).await;
        let mut fetch = std::pin::pin!(fetch);
        let began = Instant::now();
        let fetched = tokio::time::timeout(self.patience(namespace), &mut fetch).await;
        self.charge(namespace, began.elapsed());
        if let Ok(fetched) = fetched {
            return fetched;
        }
        let _slow = self.begin(namespace);
        seat.aside(fetch).await
    }

    /// The time for which a fetch of the namespace may hold its worker.
    fn patience(&self, namespace: &str) -> Duration {
        let debts = self.0.debts.lock();
        let debt = debts.get(namespace).map(Debt::left).unwrap_or_default();
        PATIENCE.saturating_sub(debt)
    }

    /// Records that a fetch of the namespace has held a worker.
    fn charge(&self, namespace: &str, held: Duration) {
        let mut debts = self.0.debts.lock();
        debts.retain(|_, debt| !debt.left().is_zero());
        let before = debts.get(namespace).map(Debt::left).unwrap_or_default();
        let debt = Debt {
            held: (before + held).min(PATIENCE),
            at: Instant::now(),
        };
        debts.insert(namespace.to_owned(), debt);
    }

    /// Waits, without a worker, while the namespace has too many slow fetches.
    async fn wait_for_turn(&self, seat: &Seat, namespace: &str) {
        let counts = || self.0.counts.lock().get(namespace).map(watch::Sender::subscribe);
        while let Some(mut counts) = counts()
            && *counts.borrow() >= MOST
        {
            // Nobody counts any more where the last of them has ended. Others may have been woken too, so it is checked again.
            let wait = async { counts.wait_for(|count| *count < MOST).await.map(drop) };
            let _ = seat.aside(wait).await;
        }
    }

    fn begin(&self, namespace: &str) -> Slow {
        let mut namespaces = self.0.counts.lock();
        let count = namespaces
            .entry(namespace.to_owned())
            .or_insert_with(|| watch::Sender::new(0));
        count.send_modify(|count| *count += 1);
        Slow {
            fetches: self.clone(),
            namespace: namespace.to_owned(),
        }
    }
}

/// A fetch that goes on without a worker.
struct Slow {
    fetches: SlowFetches,
    namespace: String,
}

impl Drop for Slow {
    fn drop(&mut self) {
        let mut namespaces = self.fetches.0.counts.lock();
        if let Some(count) = namespaces.get(&self.namespace) {
            count.send_modify(|count| *count -= 1);
            let is_last = *count.borrow() == 0;
            if is_last {
                namespaces.remove(&self.namespace);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tokio::sync::Semaphore;

    use super::*;

    /// Mallory has more silent servers than there are workers and slow fetches.
    #[tokio::test(start_paused = true)]
    async fn silent_servers_of_a_namespace_keep_no_other_waiting() {
        let seats = Arc::new(Semaphore::new(2));
        let fetches = SlowFetches::default();
        for _ in 0..3 * MOST {
            let (fetches, seats) = (fetches.clone(), Arc::clone(&seats));
            tokio::spawn(async move {
                let seat = Seat::take(&seats).await.unwrap();
                fetches.run(&seat, "mallory", pending::<()>()).await;
            });
        }
        // All that can begin have begun.
        tokio::time::sleep(PATIENCE * 100).await;
        let seat = tokio::time::timeout(PATIENCE, Seat::take(&seats)).await;
        let seat = seat.expect("a worker is free").unwrap();
        assert_eq!(fetches.run(&seat, "ada", async { 1 }).await, 1);
        drop(seat);
        assert_eq!(seats.available_permits(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_fetch_that_ends_lets_the_next_begin() {
        let seats = Arc::new(Semaphore::new(1));
        let fetches = SlowFetches::default();
        let mut running: Vec<_> = (0..MOST).map(|_| fetches.begin("mallory")).collect();
        let seat = Seat::take(&seats).await.unwrap();
        let mut next = std::pin::pin!(fetches.run(&seat, "mallory", async { 1 }));
        assert!(futures::poll!(&mut next).is_pending());
        running.pop();
        assert_eq!(next.await, 1);
        drop(running);
        assert!(fetches.0.counts.lock().is_empty());
    }

    /// Mallory's server answers just before a fetch would give up its worker.
    #[tokio::test(start_paused = true)]
    async fn servers_that_are_almost_too_slow_hold_no_worker_for_long() {
        let seats = Arc::new(Semaphore::new(1));
        let fetches = SlowFetches::default();
        let almost = PATIENCE - Duration::from_secs(1);
        let seat = Seat::take(&seats).await.unwrap();
        fetches.run(&seat, "mallory", tokio::time::sleep(almost)).await;
        drop(seat);
        let slow = {
            let (fetches, seats) = (fetches.clone(), Arc::clone(&seats));
            tokio::spawn(async move {
                let seat = Seat::take(&seats).await.unwrap();
                fetches.run(&seat, "mallory", tokio::time::sleep(almost)).await;
            })
        };
        tokio::task::yield_now().await;
        let began = Instant::now();
        let seat = Seat::take(&seats).await.unwrap();
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
        assert_eq!(fetches.patience("ada"), PATIENCE);
        drop(seat);
        slow.await.unwrap();
        tokio::time::sleep(PATIENCE * RECOVERY).await;
        assert_eq!(fetches.patience("mallory"), PATIENCE);
    }
}
