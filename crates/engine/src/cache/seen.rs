//! The objects that were told of while everything is told.

use std::collections::HashSet;
use std::sync::Arc;

use super::entry::{Entry, Id};
use super::watch::Watch;

/// The objects that were told of while everything is told, by the addresses of their identities: those of objects in the
/// store stay as they are.
pub(super) struct Seen {
    /// Nothing is noted where nothing was known before: nothing can be missing then.
    addresses: Option<HashSet<usize>>,
}

impl Seen {
    pub(super) fn new(watch: &Watch) -> Seen {
        Seen {
            addresses: (watch.store.len() > 0).then(HashSet::new),
        }
    }

    pub(super) fn add(&mut self, id: Option<Arc<Id>>) {
        if let (Some(addresses), Some(id)) = (&mut self.addresses, id) {
            addresses.insert(Arc::as_ptr(&id).addr());
        }
    }

    /// The entries of objects that were not told of.
    pub(super) fn missing(self, watch: &Watch) -> Vec<Arc<Entry>> {
        let Some(addresses) = self.addresses else {
            return Vec::new();
        };
        let mut entries = watch.store.entries();
        entries.retain(|entry| !addresses.contains(&Arc::as_ptr(entry.id()).addr()));
        entries
    }
}
