//! Looks at what may be pruned.

use futures::future::join_all;
use model::inventory::Entry as Listed;
use model::object_key::split_api_version;

use super::Observer;
use crate::cluster::Error;
use crate::plan::{Candidate, Found, Live};

impl Observer<'_> {
    /// Looks at objects that are no longer desired. One that stays is asked about once in each of its versions.
    pub async fn candidates(&self, stale: Vec<&Listed>) -> Vec<Candidate> {
        join_all(stale.into_iter().map(|entry| self.candidate(entry))).await
    }

    async fn candidate(&self, entry: &Listed) -> Candidate {
        let key = entry.id.0.clone();
        let seen = self.cache.fresh(&key);
        if let Some(seen) = &seen
            && let Some(known) = self.memory.candidate(&key, seen.resource_version())
            && self.is_served(&known).await
        {
            return known;
        }
        let served = match self.cluster.resource(&key.group, &entry.version, &key.kind).await {
            // The version it was applied in is not served any more; another one may be.
            Err(Error::NoSuchKind { .. }) => self.cluster.preferred(&key.group, &key.kind).await,
            served => served,
        };
        let (api_version, found) = match served {
            Err(Error::NoSuchKind { version, .. }) => (version, Found::Gone),
            Err(error) => (String::new(), Found::Unknown(error.to_string())),
            // It was recorded before anybody knew where its kind lives, and cannot be there.
            Ok(resource) if resource.namespaced == key.namespace.is_empty() => {
                (resource.api_version(), Found::Gone)
            }
            Ok(resource) => {
                let live = self.cluster.get(&resource, &key.namespace, &key.name).await;
                let found = match live {
                    Ok(Some(live)) => Found::There(Box::new(Live::of(&live))),
                    Ok(None) => Found::Gone,
                    Err(error) => Found::Unknown(error.to_string()),
                };
                (resource.api_version(), found)
            }
        };
        let candidate = Candidate {
            key,
            api_version,
            found,
        };
        if seen.is_some() {
            self.memory.remember_candidate(&candidate);
        }
        candidate
    }

    /// Whether it can still be deleted in the version in which it was looked at.
    async fn is_served(&self, candidate: &Candidate) -> bool {
        let (group, version) = split_api_version(&candidate.api_version);
        let served = self.cluster.resource(group, version, &candidate.key.kind).await;
        served.is_ok()
    }
}
