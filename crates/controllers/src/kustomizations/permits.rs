//! Limits how many builds run at once.

use std::sync::Arc;

use api::kustomize::Kustomization;
use kube::ResourceExt as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::kit::NamespaceSeats;

/// The most builds at once that may ask key management services. They mostly wait, so there may be more of them than of others,
/// but each occupies a blocking thread, of which the runtime has 512 for everything.
const DECRYPTING: usize = 64;

/// Permits of builds.
///
/// Builds that decrypt have permits of their own: they may wait for services for long, and must not delay others. A build may
/// also wait for servers that the owner of its files chooses, so that the builds of one namespace have at most half of the permits.
pub(super) struct Permits {
    /// For builds without decryption: more than there are cores for only need more memory.
    plain: Fair,
    /// For builds with decryption.
    decrypting: Fair,
}

/// The permit of one build.
pub(super) struct Permit {
    _of_namespace: OwnedSemaphorePermit,
    _of_process: OwnedSemaphorePermit,
}

/// Permits of which no namespace holds more than half.
struct Fair {
    all: Arc<Semaphore>,
    namespaces: NamespaceSeats,
}

impl Fair {
    fn new(permits: usize) -> Self {
        Fair {
            all: Arc::new(Semaphore::new(permits)),
            namespaces: NamespaceSeats::new((permits / 2).max(1)),
        }
    }

    /// Waits for a permit. The semaphores are never closed, so there always is one.
    async fn acquire(&self, namespace: &str) -> Option<Permit> {
        let of_namespace = self.namespaces.of(namespace).acquire_owned().await.ok()?;
        let of_process = Arc::clone(&self.all).acquire_owned().await.ok()?;
        Some(Permit {
            _of_namespace: of_namespace,
            _of_process: of_process,
        })
    }
}

impl Default for Permits {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Permits {
            plain: Fair::new((2 * cores).max(4)),
            decrypting: Fair::new(DECRYPTING),
        }
    }
}

impl Permits {
    /// Waits until the object may be built.
    pub(super) async fn acquire(&self, object: &Kustomization) -> Option<Permit> {
        let permits = match object.spec.decryption {
            Some(_) => &self.decrypting,
            None => &self.plain,
        };
        permits.acquire(&object.namespace().unwrap_or_default()).await
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(namespace: &str, more: serde_json::Value) -> Kustomization {
        let mut spec =
            json!({"interval": "1m", "prune": true, "sourceRef": {"kind": "GitRepository", "name": "app"}});
        spec.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let object = json!({
            "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
            "kind": "Kustomization",
            "metadata": {"name": "app", "namespace": namespace},
            "spec": spec,
        });
        serde_json::from_value(object).unwrap()
    }

    #[tokio::test]
    async fn builds_that_decrypt_are_limited_and_do_not_delay_others() {
        let permits = Permits::default();
        let sops = json!({"decryption": {"provider": "sops"}});
        let (plain, decrypting) = (object("team", json!({})), object("team", sops.clone()));
        let other = object("other", sops);
        let mut held = Vec::new();
        for _ in 0..DECRYPTING / 2 {
            held.push(permits.acquire(&other).await.unwrap());
            held.push(permits.acquire(&decrypting).await.unwrap());
        }
        let mut next = std::pin::pin!(permits.acquire(&decrypting));
        assert!(futures::poll!(&mut next).is_pending());
        assert!(permits.acquire(&plain).await.is_some());
        held.pop();
        assert!(next.await.is_some());
    }

    #[tokio::test]
    async fn a_namespace_leaves_half_of_the_permits_to_others() {
        let permits = Fair::new(4);
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
