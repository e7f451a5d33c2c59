//! One cache for each cluster and identity.

use std::collections::HashMap;
use std::sync::Weak;

use model::Str;
use parking_lot::Mutex;

use super::{Cache, Settings, Shared};
use crate::cluster::Cluster;

/// Which cluster, as who. Two identities may see different things, so they do not share a cache.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// The address of the API server.
    pub endpoint: Str,
    /// Who asks: a user, a service account, whom they act for. The credentials are no part of it and may change, and no secret belongs
    /// here.
    pub identity: Str,
}

/// The caches in use. One is made when it is first asked for; it is gone, with all its watches, when nobody holds it any
/// more.
#[derive(Default)]
pub struct Clusters {
    caches: Mutex<HashMap<Access, Weak<Shared>>>,
}

impl Clusters {
    /// The cache of a cluster, for an identity. `connect` and `settings` are used if there is none.
    pub fn get(
        &self,
        access: &Access,
        settings: impl FnOnce() -> Settings,
        connect: impl FnOnce() -> Cluster,
    ) -> Cache {
        let mut caches = self.caches.lock();
        if let Some(shared) = caches.get(access).and_then(Weak::upgrade) {
            return Cache { shared };
        }
        caches.retain(|_, cache| cache.strong_count() > 0);
        let cache = Cache::new(connect(), settings());
        caches.insert(access.clone(), std::sync::Arc::downgrade(&cache.shared));
        cache
    }

    /// Access is had in another way from now on: whoever asks next gets a cache of its own, although somebody may still hold the one that
    /// there was.
    pub fn forget(&self, access: &Access) {
        self.caches.lock().remove(access);
    }

    /// How many are in use, without those that are forgotten.
    pub fn len(&self) -> usize {
        let caches = self.caches.lock();
        caches.values().filter(|cache| cache.strong_count() > 0).count()
    }

    /// Whether none is in use.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
