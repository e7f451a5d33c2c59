//! Reading the records and values of releases: the memory that they take, by namespace, and the processors.
//!
//! Whoever may write Secrets, or names the cluster they are in, writes records that unpack to a thousand times their size. So the memory of
//! a record is known before it is read, and all records and values of the releases of a namespace that are in memory at once have a budget together.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use engine::workers::{SlowWork, WorkerPermit};
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use crate::kit::Permits;

/// The memory that the records and values of all releases of a namespace may take at once.
pub(super) const BUDGET: usize = 512 << 20;

/// The longest time that a release waits until others of its namespace leave enough memory.
const LONGEST: Duration = Duration::from_secs(5 * 60);

/// The longest time that reading holds a worker, and how much of a namespace goes on without one.
const PATIENCE: Duration = Duration::from_secs(2);
const MOST_SLOW: usize = 8;

/// The records and values of a namespace take more than their budget.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the records and values of the releases of namespace {namespace} that are worked on take more than {} MiB of memory: delete the Secrets of old versions, or have smaller charts and values",
    BUDGET >> 20
)]
pub(super) struct OverBudget {
    namespace: String,
    /// The bytes that one charge needs, if no other has any.
    needed: usize,
}

/// Reads records and values. Clones share budgets and permits.
#[derive(Clone)]
pub(super) struct Reading(Arc<Shared>);

struct Shared {
    permits: Permits,
    slow: SlowWork,
    /// The memory that is in use, by namespace.
    used: Mutex<HashMap<String, usize>>,
    /// Some of it is free again.
    freed: watch::Sender<()>,
}

/// Waits until other releases of a namespace leave enough memory, for [`LONGEST`] in all.
pub(super) struct Patience {
    shared: Arc<Shared>,
    freed: watch::Receiver<()>,
    until: Instant,
}

impl Patience {
    /// Waits, without a worker, until there is enough memory for what was charged in vain, which must be dropped before. Returns false
    /// if it exceeds the budget alone, or if there is no time left.
    pub(super) async fn waits(&mut self, worker: &WorkerPermit, over: &OverBudget) -> bool {
        over.needed <= BUDGET
            && worker
                .aside(timeout_at(self.until, self.has_room(over)))
                .await
                .is_ok()
    }

    async fn has_room(&mut self, over: &OverBudget) {
        loop {
            self.freed.mark_unchanged();
            let used = self.shared.used.lock().get(&over.namespace).copied();
            if used.unwrap_or_default().saturating_add(over.needed) <= BUDGET {
                return;
            }
            // `Shared` has the sender.
            let _ = self.freed.changed().await;
        }
    }
}

impl Reading {
    pub(super) fn new() -> Self {
        Reading(Arc::new(Shared {
            permits: Permits::of_cores(),
            slow: SlowWork::new(PATIENCE, MOST_SLOW),
            used: Mutex::default(),
            freed: watch::Sender::new(()),
        }))
    }

    /// Runs work of a namespace beside the runtime. What takes long, or waits long for a permit, goes on without a worker. What does not keeps
    /// its worker: if each piece of work gave it up, more releases would be begun than there is memory for.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        namespace: &str,
        worker: &WorkerPermit,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        let work = self.0.permits.blocking(namespace, work);
        self.0.slow.run(worker, namespace, work).await
    }

    /// Returns the patience of a release whose memory others of its namespace may have.
    pub(super) fn patience(&self) -> Patience {
        Patience {
            shared: Arc::clone(&self.0),
            freed: self.0.freed.subscribe(),
            until: Instant::now() + LONGEST,
        }
    }

    /// A part of the budget of a namespace, of no size yet.
    pub(super) fn charge(&self, namespace: &str) -> Charge {
        Charge {
            shared: Arc::clone(&self.0),
            namespace: namespace.to_owned(),
            bytes: 0,
        }
    }
}

/// A part of the budget of a namespace that is in use until this is dropped.
pub(super) struct Charge {
    shared: Arc<Shared>,
    namespace: String,
    bytes: usize,
}

impl Charge {
    /// Uses so many bytes more.
    ///
    /// # Errors
    /// The namespace has not as many left. Then nothing is used that was not before.
    pub(super) fn grow(&mut self, by: usize) -> Result<(), OverBudget> {
        let mut used = self.shared.used.lock();
        let before = used.get(&self.namespace).copied().unwrap_or_default();
        let after = before.saturating_add(by);
        if after > BUDGET {
            return Err(OverBudget {
                namespace: self.namespace.clone(),
                needed: self.bytes.saturating_add(by),
            });
        }
        used.insert(self.namespace.clone(), after);
        self.bytes += by;
        Ok(())
    }

    /// Uses so many bytes less.
    pub(super) fn shrink(&mut self, by: usize) {
        let by = by.min(self.bytes);
        self.bytes -= by;
        let mut used = self.shared.used.lock();
        if let Some(bytes) = used.get_mut(&self.namespace) {
            *bytes = bytes.saturating_sub(by);
            if *bytes == 0 {
                used.remove(&self.namespace);
            }
        }
        drop(used);
        if by > 0 {
            self.shared.freed.send_replace(());
        }
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.shrink(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use engine::workers::Workers;

    use super::*;

    #[test]
    fn the_charges_of_a_namespace_have_one_budget() {
        let reading = Reading::new();
        let (mut first, mut second) = (reading.charge("mallory"), reading.clone().charge("mallory"));
        assert_eq!(first.grow(BUDGET / 2), Ok(()));
        assert_eq!(second.grow(BUDGET / 2), Ok(()));
        let over = second.grow(1).unwrap_err().to_string();
        assert!(
            over.contains("namespace mallory") && over.contains("512 MiB"),
            "{over}"
        );
        assert_eq!(reading.charge("ada").grow(BUDGET), Ok(()));
        drop(first);
        assert_eq!(second.grow(BUDGET / 2), Ok(()));
        drop(second);
        assert!(reading.0.used.lock().is_empty());
    }

    /// Several releases with large records in one namespace failed, though each of them has enough memory after the others.
    #[tokio::test(start_paused = true)]
    async fn a_release_waits_until_others_leave_enough_memory() {
        let (reading, workers) = (Reading::new(), Workers::new(2));
        let (first, second) = (workers.take().await.unwrap(), workers.take().await.unwrap());
        let mut held = reading.charge("ada");
        held.grow(BUDGET / 2).unwrap();
        let read = |worker: WorkerPermit, bytes: usize| {
            let reading = reading.clone();
            async move {
                let mut patience = reading.patience();
                loop {
                    let mut charge = reading.charge("ada");
                    match charge.grow(bytes) {
                        Ok(()) => return Ok(charge),
                        Err(over) if !patience.waits(&worker, &over).await => return Err(over),
                        Err(_) => {}
                    }
                }
            }
        };
        let began = Instant::now();
        assert!(read(first, BUDGET + 1).await.is_err());
        assert_eq!(began.elapsed(), Duration::ZERO, "it never has enough");
        let waiting = read(second, BUDGET);
        let other = async {
            tokio::time::sleep(Duration::from_secs(60)).await;
            assert_eq!(workers.free(), 2, "it holds no worker");
            drop(held);
        };
        assert!(tokio::join!(waiting, other).0.is_ok());
        // Others may never leave enough.
        let mut held = reading.charge("ada");
        held.grow(1).unwrap();
        let worker = workers.take().await.unwrap();
        assert!(read(worker, BUDGET).await.is_err());
        assert_eq!(began.elapsed(), Duration::from_secs(60) + LONGEST);
    }

    /// Records that take long to read would keep the workers of all namespaces, and quick ones must not begin more releases.
    #[tokio::test]
    async fn reading_that_takes_long_holds_no_worker() {
        let (reading, workers) = (Reading::new(), Workers::new(1));
        let worker = workers.take().await.unwrap();
        assert_eq!(reading.run("mallory", &worker, || 1).await, 1);
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let slow = reading.run("mallory", &worker, move || ended.recv().unwrap());
        let other = async {
            let worker = workers.take().await.unwrap();
            reading.run("ada", &worker, || ()).await;
            end.send(()).unwrap();
        };
        tokio::join!(slow, other);
    }
}
