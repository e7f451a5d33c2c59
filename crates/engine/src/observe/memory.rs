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
    /// Unknown once it has to be compared anew.
    content: Option<u128>,
    rules: u64,
}

impl Memory {
    /// Applying this desired object changes nothing as long as the live one has this content and the rules are these.
    pub fn settle(&self, key: ObjectKey, desired: Digest, content: u128, rules: u64) {
        let settled = Settled {
            desired,
            content: Some(content),
            rules,
        };
        self.settled.lock().insert(key, settled);
    }

    /// Whether applying this desired object is known to change nothing about a live one with this content.
    pub fn is_settled(&self, key: &ObjectKey, desired: Digest, content: u128, rules: u64) -> bool {
        let settled = Settled {
            desired,
            content: Some(content),
            rules,
        };
        self.settled.lock().get(key) == Some(&settled)
    }

    /// Whether an object was as it should be, and may not be any more, as it has this content now.
    pub fn is_other(&self, key: &ObjectKey, content: u128) -> bool {
        let settled = self.settled.lock();
        settled
            .get(key)
            .is_some_and(|settled| settled.content != Some(content))
    }

    /// Whether an object was as this desired one says.
    pub fn is_for(&self, key: &ObjectKey, desired: Digest) -> bool {
        let settled = self.settled.lock();
        settled.get(key).is_some_and(|settled| settled.desired == desired)
    }

    /// Whether an object that was as it should be may not be any more: it has another content now, is gone as far as the cache knows, or has to
    /// be compared anew.
    pub fn differs(&self, cache: &Cache) -> bool {
        let settled = self.settled.lock();
        settled.iter().any(|(key, settled)| match cache.find(key) {
            Lookup::Found(entry) => settled.content != Some(entry.content()),
            Lookup::Missing => true,
            Lookup::Unknown => false,
        })
    }

    /// Forgets all but these objects, which are all that the unit has now.
    pub fn keep(&self, keys: &std::collections::HashSet<ObjectKey>) {
        self.settled.lock().retain(|key, _| keys.contains(key));
    }

    /// The kinds of a group are defined anew: what changed nothing about their objects may change something now. That they were as they
    /// should be is not forgotten.
    pub fn doubt(&self, group: &str) {
        let mut settled = self.settled.lock();
        let of_group = settled.iter_mut().filter(|(key, _)| key.group == group);
        of_group.for_each(|(_, settled)| settled.content = None);
    }

    /// Forgets everything: the cluster is another one.
    pub fn clear(&self) {
        self.settled.lock().clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_doubt_is_compared_anew_and_known_to_have_been_right() {
        let key = |group: &str| ObjectKey {
            group: group.into(),
            kind: "Widget".into(),
            namespace: "shop".into(),
            name: "w".into(),
        };
        let digest = crate::plan::objects::digest(&model::Value::from("desired"));
        let memory = Memory::default();
        for group in ["ours", "theirs"] {
            memory.settle(key(group), digest, 1, 0);
        }
        memory.doubt("ours");
        assert!(!memory.is_settled(&key("ours"), digest, 1, 0));
        assert!(memory.is_for(&key("ours"), digest) && memory.is_other(&key("ours"), 1));
        assert!(memory.is_settled(&key("theirs"), digest, 1, 0));
        memory.settle(key("ours"), digest, 1, 0);
        assert!(memory.is_settled(&key("ours"), digest, 1, 0));
    }
}
