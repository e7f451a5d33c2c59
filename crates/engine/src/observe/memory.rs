//! What is known to be as it should be, so that it need not be asked about again.

use std::collections::HashMap;

use model::{Digest, ObjectKey};
use parking_lot::Mutex;

use crate::cache::{Cache, Lookup};

/// Of each object of one unit: which desired object changes nothing about which live one.
///
/// An object that is wanted as it was and is there as it was, by the same rules, needs no request. What is not known here is asked of the cluster,
/// so that forgetting costs requests and nothing else.
#[derive(Debug, Default)]
pub struct Memory {
    settled: Mutex<HashMap<ObjectKey, Settled>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Settled {
    desired: Digest,
    content: u128,
    rules: u64,
}

impl Memory {
    /// Applying this desired object changes nothing as long as the live one has this content and the rules are these.
    pub fn settle(&self, key: ObjectKey, desired: Digest, content: u128, rules: u64) {
        let settled = Settled {
            desired,
            content,
            rules,
        };
        self.settled.lock().insert(key, settled);
    }

    /// Whether applying this desired object is known to change nothing about a live one with this content.
    pub fn is_settled(&self, key: &ObjectKey, desired: Digest, content: u128, rules: u64) -> bool {
        let settled = Settled {
            desired,
            content,
            rules,
        };
        self.settled.lock().get(key) == Some(&settled)
    }

    /// Whether an object was as it should be, and has another content now.
    pub fn is_other(&self, key: &ObjectKey, content: u128) -> bool {
        let settled = self.settled.lock();
        settled.get(key).is_some_and(|settled| settled.content != content)
    }

    /// Whether an object was as this desired one says.
    pub fn is_for(&self, key: &ObjectKey, desired: Digest) -> bool {
        let settled = self.settled.lock();
        settled.get(key).is_some_and(|settled| settled.desired == desired)
    }

    /// Whether an object that was as it should be has another content now, or is gone, as far as the cache knows.
    pub fn differs(&self, cache: &Cache) -> bool {
        let settled = self.settled.lock();
        settled.iter().any(|(key, settled)| match cache.find(key) {
            Lookup::Found(entry) => entry.content() != settled.content,
            Lookup::Missing => true,
            Lookup::Unknown => false,
        })
    }

    /// Forgets all but these objects, which are all that the unit has now.
    pub fn keep(&self, keys: &std::collections::HashSet<ObjectKey>) {
        self.settled.lock().retain(|key, _| keys.contains(key));
    }

    /// Forgets everything: the cluster is another one, or has other defaults.
    pub fn clear(&self) {
        self.settled.lock().clear();
    }
}
