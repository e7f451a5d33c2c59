//! Workers: how many things run at once, and how few workers the slow servers of one tenant hold.
//!
//! ```text
//! queue ─▶ Workers::next ─▶ WorkerPermit ─▶ run ─▶ finish
//!                             │ aside: waits without a worker
//!                             └ SlowWork: steps aside when it takes long
//! ```

mod slow;

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::queue::{Queue, Ticket};

pub use slow::SlowWork;

/// A number of workers. Clones are the same workers.
#[derive(Clone, Debug)]
pub struct Workers(Arc<Semaphore>);

impl Workers {
    /// Creates so many workers, at least one.
    pub fn new(workers: usize) -> Self {
        Workers(Arc::new(Semaphore::new(workers.max(1))))
    }

    /// Waits for a free worker. The semaphore is never closed, so there always is one.
    pub async fn take(&self) -> Option<WorkerPermit> {
        let permit = Arc::clone(&self.0).acquire_owned().await.ok()?;
        Some(WorkerPermit {
            workers: Mutex::new(self.clone()),
            taken: Mutex::new(Some(permit)),
        })
    }

    /// Waits for a key that is due and for a worker. Returns nothing once the queue is closed.
    ///
    /// No worker is held while nothing is due: work that has stepped aside needs one to go on.
    pub async fn next<K: Clone + Eq + Hash + Ord>(
        &self,
        queue: &Queue<K>,
    ) -> Option<(WorkerPermit, Ticket<K>)> {
        while queue.due_now().await {
            let worker = self.take().await?;
            if let Some(ticket) = queue.try_next() {
                return Some((worker, ticket));
            }
        }
        None
    }

    /// Returns the number of free workers.
    pub fn free(&self) -> usize {
        self.0.available_permits()
    }
}

/// The worker of something that runs.
#[derive(Debug)]
pub struct WorkerPermit {
    workers: Mutex<Workers>,
    taken: Mutex<Option<OwnedSemaphorePermit>>,
}

impl WorkerPermit {
    /// Waits for something without a worker, and takes one again before it returns.
    pub async fn aside<T>(&self, wait: impl Future<Output = T>) -> T {
        self.leave();
        let value = wait.await;
        self.retake().await;
        value
    }

    /// Leaves the worker to others. The work must not go on before it has [taken one again](Self::retake).
    pub fn leave(&self) {
        drop(self.taken.lock().take());
    }

    /// Waits for a free worker, unless it has one.
    pub async fn retake(&self) {
        if self.taken.lock().is_some() {
            return;
        }
        let workers = self.workers.lock().clone();
        let permit = workers.0.acquire_owned().await;
        *self.taken.lock() = permit.ok();
    }

    /// Gives up the worker and continues with one of others.
    pub async fn transfer(&self, to: Workers) {
        self.leave();
        *self.workers.lock() = to;
        self.retake().await;
    }
}

/// Workers of which each tenant has its own.
#[derive(Debug)]
pub struct TenantWorkers {
    each: usize,
    tenants: Mutex<HashMap<String, Workers>>,
}

impl TenantWorkers {
    /// Gives each tenant so many workers, at least one.
    pub fn new(each: usize) -> Self {
        TenantWorkers {
            each,
            tenants: Mutex::default(),
        }
    }

    /// Returns the workers of a tenant.
    pub fn of(&self, tenant: &str) -> Workers {
        let mut tenants = self.tenants.lock();
        // Workers that nothing holds or waits for are created anew when they are needed.
        tenants.retain(|_, workers| Arc::strong_count(&workers.0) > 1);
        let entry = tenants.entry(tenant.to_owned());
        entry.or_insert_with(|| Workers::new(self.each)).clone()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::sync::oneshot;
    use tokio::time::timeout;

    use super::*;
    use crate::queue::{Backoff, Done};

    #[tokio::test]
    async fn who_waits_leaves_the_worker_to_another() {
        let workers = Workers::new(1);
        let worker = workers.take().await.unwrap();
        assert_eq!(workers.free(), 0);
        let (tell, told) = oneshot::channel::<()>();
        let waiting = worker.aside(told);
        let other = async {
            let _worker = workers.take().await.unwrap();
            assert_eq!(workers.free(), 0);
            tell.send(()).unwrap();
        };
        let (told, ()) = tokio::join!(waiting, other);
        told.unwrap();
        assert_eq!(workers.free(), 0, "it has one again");
        drop(worker);
        assert_eq!(workers.free(), 1);
    }

    #[tokio::test]
    async fn a_worker_left_for_one_of_a_tenant_is_free_for_others() {
        let (workers, of_tenants) = (Workers::new(1), TenantWorkers::new(1));
        let worker = workers.take().await.unwrap();
        worker.transfer(of_tenants.of("mallory")).await;
        assert_eq!(workers.free(), 1);
        worker.aside(std::future::ready(())).await;
        assert_eq!(workers.free(), 1);
        let next = workers.take().await.unwrap();
        let mut waits = std::pin::pin!(next.transfer(of_tenants.of("mallory")));
        assert!(futures::poll!(&mut waits).is_pending());
        assert_eq!(workers.free(), 1, "it waits without a worker");
        drop(worker);
        waits.await;
        drop(of_tenants.of("ada"));
        drop(of_tenants.of("eve"));
        let known: Vec<String> = of_tenants.tenants.lock().keys().cloned().collect();
        assert!(!known.contains(&"ada".to_owned()), "{known:?}");
    }

    /// With one worker, an idle loop held it while what had stepped aside waited for it for ever.
    #[tokio::test(start_paused = true)]
    async fn waiting_for_keys_holds_no_worker() {
        let (queue, workers) = (Queue::new(Backoff::default()), Workers::new(1));
        queue.add("a");
        let (worker, ticket) = workers.next(&queue).await.unwrap();
        let (tell, told) = oneshot::channel::<()>();
        let first = async {
            worker.aside(told).await.unwrap();
            drop(worker);
            ticket.finish(Done::Forget);
            queue.add("b");
        };
        let next = async {
            let mut idle = std::pin::pin!(workers.next(&queue));
            assert!(futures::poll!(&mut idle).is_pending());
            tell.send(()).unwrap();
            let (_, ticket) = idle.await.unwrap();
            assert_eq!(*ticket.key(), "b");
        };
        let both = async { tokio::join!(first, next) };
        timeout(Duration::from_secs(1), both).await.unwrap();
        queue.close();
        assert!(workers.next(&queue).await.is_none());
    }
}
