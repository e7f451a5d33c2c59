//! The clusters that releases are installed in, each with what is known of it.

use std::collections::HashMap;
use std::sync::Arc;

use api::helm::HelmRelease;
use engine::cache::{self, Cache, OwnRules, Settings, Standard};
use engine::cluster::Cluster;
use engine::health::cel::Check;
use engine::observe::Memory;
use engine::unit::CredentialsStore as _;
use parking_lot::Mutex;

use super::site::Site;
use super::watched::Watched;
use crate::clusters::Clusters;

/// The clusters of releases.
pub(super) struct Sites {
    clusters: Clusters,
    caches: cache::Clusters,
    /// What is known of the objects of each release, by its uid.
    known: Mutex<HashMap<String, Known>>,
}

/// What is kept of a release between its runs.
struct Known {
    memory: Arc<Memory>,
    /// It is there for as long as somebody holds it.
    _cache: Cache,
    /// What is told of its objects, if somebody wants to know.
    watched: Option<Watched>,
}

impl Sites {
    pub(super) fn new(clusters: Clusters) -> Self {
        Sites {
            clusters,
            caches: cache::Clusters::default(),
            known: Mutex::default(),
        }
    }

    /// The cluster of a release, by the name of its identity.
    ///
    /// # Errors
    /// Why it cannot be reached.
    pub(super) async fn of(
        &self,
        object: &HelmRelease,
        identity: &str,
        standard: Standard,
    ) -> Result<Site, String> {
        self.clusters.look_again(identity).await;
        let access = self
            .clusters
            .get_cluster(identity)
            .await
            .map_err(|error| error.to_string())?;
        let who = cache::Access {
            endpoint: access.endpoint.as_str().into(),
            identity: access.identity.as_str().into(),
        };
        let client = access.client.clone();
        let cache = self
            .caches
            .get(&who, Settings::default, || Cluster::new(access.client));
        let uid = object.metadata.uid.clone().unwrap_or_default();
        let mut known = self.known.lock();
        let entry = known.entry(uid).or_insert_with(|| Known {
            memory: Arc::default(),
            _cache: cache.clone(),
            watched: None,
        });
        entry._cache = cache.clone();
        Ok(Site {
            client,
            cache,
            standard,
            memory: Arc::clone(&entry.memory),
            follows: Vec::new(),
            rehearsed: None,
        })
    }

    /// Has the objects of a release watched, or not any more.
    pub(super) fn watch(&self, object: &HelmRelease, watched: Option<Watched>) {
        let uid = object.metadata.uid.as_deref().unwrap_or_default();
        let before = match self.known.lock().get_mut(uid) {
            Some(known) => std::mem::replace(&mut known.watched, watched),
            None => watched,
        };
        drop(before);
    }

    /// A release is gone.
    pub(super) fn forget(&self, object: &HelmRelease) {
        self.known
            .lock()
            .remove(object.metadata.uid.as_deref().unwrap_or_default());
    }
}

/// How a release tells that objects are doing well.
///
/// # Errors
/// The first expression that cannot be used.
pub(super) fn standard(object: &HelmRelease) -> Result<Standard, String> {
    if object.spec.health_check_exprs.is_empty() {
        return Ok(Standard::default());
    }
    let checks: Vec<Check> = object
        .spec
        .health_check_exprs
        .iter()
        .map(crate::kustomizations::health_check)
        .collect();
    let own = OwnRules::expressions(&checks).map_err(|error| error.to_string())?;
    Ok(Standard {
        own: Some(own),
        rules: None,
    })
}
