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

#[cfg(test)]
mod tests {
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
}
