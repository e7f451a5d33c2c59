//! Which versions ConfigMaps and Secrets have, as watches of their metadata tell it: what has the version that was read needs not be read
//! again. What is in them is in no memory here.

use engine::cache::{Cache, Follow, Interest, State};
use engine::cluster::Detail;
use model::ObjectKey;
use tokio::time::{Duration, Instant};

use crate::kit::{Config, ConfigKind};

/// How long the first list may take. Whoever does not wait for it asks the server.
const FIRST_LIST: Duration = Duration::from_secs(10);

/// The version of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// It is there in this one.
    There(String),
    /// It is not there.
    Missing,
}

impl Version {
    /// Whether it is a newer one of the same object. Of versions that are no numbers it cannot be told.
    pub(super) fn is_newer_than(&self, other: &Version) -> bool {
        let number = |version: &Version| match version {
            Version::There(version) => version.parse::<u64>().ok(),
            Version::Missing => None,
        };
        matches!((number(self), number(other)), (Some(own), Some(other)) if own > other)
    }
}

/// The objects of one kind.
pub(super) struct Versions {
    cache: Cache,
    follow: Follow,
}

impl Versions {
    /// Follows the objects of a kind with these labels: those of all namespaces or, where that is not allowed, of this one. It has a cache of
    /// its own: who decides by what objects are must never take bare metadata for them.
    pub(super) async fn follow(
        cache: &Cache,
        kind: ConfigKind,
        labels: Option<&str>,
        namespace: Option<&str>,
    ) -> Self {
        let wide = Interest {
            selector: labels.map(Into::into),
            detail: Detail::Metadata,
            ..Interest::in_all("", kind.to_string())
        };
        let mut follow = cache.follow(wide.clone());
        let deadline = Instant::now() + FIRST_LIST;
        let _ = follow.synced(deadline).await;
        if let (State::Forbidden { .. }, Some(namespace)) = (follow.state(), namespace) {
            follow = cache.follow(Interest {
                namespace: Some(namespace.into()),
                ..wide
            });
            let _ = follow.synced(deadline).await;
        }
        Versions {
            cache: cache.clone(),
            follow,
        }
    }

    /// Whether a namespace is among those that are followed.
    pub(super) fn is_of(&self, namespace: &str) -> bool {
        let watched = &self.follow.watched().namespace;
        watched.as_ref().is_none_or(|watched| watched == namespace)
    }

    /// The version of an object; nothing where the watch is not up to date.
    pub(super) fn of(&self, namespace: &str, name: &str) -> Option<Version> {
        let is_synced = || self.follow.state().is_synced();
        if !self.is_of(namespace) || !is_synced() {
            return None;
        }
        let key = ObjectKey {
            group: "".into(),
            kind: self.follow.watched().kind.clone(),
            namespace: namespace.into(),
            name: name.into(),
        };
        match self.cache.fresh(&key) {
            Some(entry) => Some(Version::There(entry.resource_version().to_owned())),
            // The watch may have ended between the two.
            None => is_synced().then_some(Version::Missing),
        }
    }
}

/// The versions of ConfigMaps and Secrets that were read.
pub(super) type Read = Vec<(Config, Version)>;
