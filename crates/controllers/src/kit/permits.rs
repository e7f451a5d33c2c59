//! Limits how much work of one kind runs at once in the process, and how much of it is of one namespace.

use futures::future::BoxFuture;

use engine::workers::{TenantWorkers, WorkerPermit, Workers};

/// Permits of which no namespace holds more than half.
pub(crate) struct Permits {
    all: Workers,
    namespaces: TenantWorkers,
}

/// The permit of one piece of work.
pub(crate) struct Permit {
    of_namespace: WorkerPermit,
    of_process: WorkerPermit,
}

impl Permits {
    /// Creates so many permits.
    pub(crate) fn new(permits: usize) -> Self {
        Permits {
            all: Workers::new(permits),
            namespaces: TenantWorkers::new(permits / 2),
        }
    }

    /// Creates permits for work that keeps a core busy. More of it at once only needs more memory.
    pub(crate) fn of_cores() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Permits::new((2 * cores).max(4))
    }

    /// Waits for a permit. There always is one.
    pub(crate) async fn acquire(&self, namespace: &str) -> Option<Permit> {
        let of_namespace = self.namespaces.of(namespace).take().await?;
        let of_process = self.all.take().await?;
        Some(Permit {
            of_namespace,
            of_process,
        })
    }

    /// Runs work of a namespace beside the runtime. There is no worker for it meanwhile, nor while it waits for a permit, so that a
    /// namespace with much slow work holds no workers.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        namespace: &str,
        worker: &WorkerPermit,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        worker.aside(self.blocking(namespace, work)).await
    }

    /// Runs work of a namespace beside the runtime, once there is a permit.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        namespace: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        let permit = self.acquire(namespace).await;
        // The work goes on when nobody waits for it any more, and has its permit until it ends.
        let permitted = move || {
            let done = work();
            drop(permit);
            done
        };
        blocking(permitted).await
    }
}

impl builder::Place for Permit {
    fn leave(&self) {
        self.of_process.leave();
        self.of_namespace.leave();
    }

    fn retake(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            self.of_namespace.retake().await;
            self.of_process.retake().await;
        })
    }
}

/// Runs something that blocks beside the workers.
pub(crate) async fn blocking<T: Send + 'static>(task: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(task).await {
        Ok(value) => value,
        // It is not cancelled, so it panicked: the worker must too, and the queue tries the object again.
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parking_lot::Mutex;
    use tokio::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn a_namespace_leaves_half_of_the_permits_to_others() {
        let permits = Permits::new(4);
        let mut held = Vec::new();
        for _ in 0..2 {
            held.push(permits.acquire("mallory").await.unwrap());
        }
        let mut next = std::pin::pin!(permits.acquire("mallory"));
        assert!(futures::poll!(&mut next).is_pending());
        for _ in 0..2 {
            let other = std::pin::pin!(permits.acquire("ada"));
            let std::task::Poll::Ready(permit) = futures::poll!(other) else {
                panic!("others must not wait");
            };
            held.push(permit.unwrap());
        }
        held.clear();
        assert!(next.await.is_some());
    }

    /// The renderings of a namespace held all blocking threads, and its releases all workers.
    #[tokio::test]
    async fn slow_work_of_a_namespace_holds_no_workers_and_leaves_permits_to_others() {
        let (permits, workers) = (Permits::new(2), Workers::new(1));
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let (tell, mut told) = mpsc::unbounded_channel();
        let ended = Arc::new(Mutex::new(ended));
        let slow = async || {
            let worker = workers.take().await.unwrap();
            let (tell, ended) = (tell.clone(), Arc::clone(&ended));
            let work = move || {
                tell.send(()).unwrap();
                ended.lock().recv().unwrap();
            };
            permits.run("mallory", &worker, work).await;
        };
        let other = async {
            told.recv().await.unwrap();
            let worker = workers.take().await.unwrap();
            permits.run("ada", &worker, || ()).await;
            let is_waiting = told.try_recv().is_err();
            end.send(()).unwrap();
            end.send(()).unwrap();
            is_waiting
        };
        let ((), (), is_waiting) = tokio::join!(slow(), slow(), other);
        assert!(is_waiting, "a namespace has one of two places");
    }
}
