//! Limits how much work of one kind runs at once in the process, and how much of it is of one namespace.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::seat::NamespaceSeats;

/// Permits of which no namespace holds more than half.
pub(crate) struct Permits {
    all: Arc<Semaphore>,
    namespaces: NamespaceSeats,
}

/// The permit of one piece of work.
pub(crate) struct Permit {
    _of_namespace: OwnedSemaphorePermit,
    _of_process: OwnedSemaphorePermit,
}

impl Permits {
    /// Creates so many permits.
    pub(crate) fn new(permits: usize) -> Self {
        Permits {
            all: Arc::new(Semaphore::new(permits)),
            namespaces: NamespaceSeats::new((permits / 2).max(1)),
        }
    }

    /// Waits for a permit. The semaphores are never closed, so there always is one.
    pub(crate) async fn acquire(&self, namespace: &str) -> Option<Permit> {
        let of_namespace = self.namespaces.of(namespace).acquire_owned().await.ok()?;
        let of_process = Arc::clone(&self.all).acquire_owned().await.ok()?;
        Some(Permit {
            _of_namespace: of_namespace,
            _of_process: of_process,
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
