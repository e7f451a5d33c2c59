//! Limits how many builds run at once.

use api::kustomize::Kustomization;
use kube::ResourceExt as _;

use crate::kit::{self, Permit};

/// The most builds at once that may ask key management services. They mostly wait, so there may be more of them than of others,
/// but each occupies a blocking thread, of which the runtime has 512 for everything.
const DECRYPTING: usize = 64;

/// Permits of builds.
///
/// Builds that decrypt have permits of their own: they may wait for services for long, and must not delay others. A build may
/// also wait for servers that the owner of its files chooses, so that the builds of one namespace have at most half of the permits.
pub(super) struct Permits {
    /// For builds without decryption: more than there are cores for only need more memory.
    plain: kit::Permits,
    /// For builds with decryption.
    decrypting: kit::Permits,
}

impl Default for Permits {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Permits {
            plain: kit::Permits::new((2 * cores).max(4)),
            decrypting: kit::Permits::new(DECRYPTING),
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
}
