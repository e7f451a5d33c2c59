//! What is known to be as it should be, or to differ and be left so, so that it need not be asked about again.

use std::collections::HashMap;
use std::sync::Arc;

use model::{Digest, ObjectKey, Value};
use parking_lot::Mutex;

use crate::cache::{Cache, Entry, Lookup};
use crate::plan::{Candidate, Desired, Found, Observed};

/// Of each object of one unit: which desired object changes nothing about which live one.
///
/// An object that is wanted as it was and is there as it was, by the same rules, needs no request, and neither does one that differs as it did and
/// is left so. What is not known here is asked of the cluster, so that forgetting costs requests and nothing else.
#[derive(Debug, Default)]
pub struct Memory {
    settled: Mutex<HashMap<ObjectKey, Settled>>,
    /// How objects differ that are left as they are.
    differing: Mutex<HashMap<ObjectKey, Differs>>,
    /// What may be pruned and is not, in the version that was looked at.
    candidates: Mutex<HashMap<ObjectKey, Candidate>>,
}

/// What a comparison depends on besides the objects, and whether what is ignored stays as it is.
pub(super) type Rules = (u64, bool);

/// How a live object differs from a desired one.
#[derive(Clone, Debug)]
pub(super) struct Differs {
    desired: Digest,
    version: String,
    rules: Rules,
    observed: Observed,
    /// What would be applied, and its digest, if that is not the desired object itself: some of it is ignored.
    applied: Option<(Arc<Value>, Digest)>,
}

impl Differs {
    /// What was found of this desired object.
    pub(super) fn of(self, desired: &mut Desired) -> Observed {
        if let Some((object, digest)) = self.applied {
            desired.object = object;
            desired.digest = digest;
        }
        self.observed
    }
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
        self.differing.lock().remove(&key);
        self.settled.lock().insert(key, settled);
    }

    /// Applying the desired object of this digest, which is now `applied`, would change this version of the live one so.
    pub(super) fn remember(
        &self,
        key: ObjectKey,
        desired: Digest,
        version: String,
        rules: Rules,
        applied: &Desired,
        observed: &Observed,
    ) {
        if !matches!(observed, Observed::Drifted { .. }) {
            return;
        }
        let is_other = applied.digest != desired;
        let differs = Differs {
            desired,
            version,
            rules,
            observed: observed.clone(),
            applied: is_other.then(|| (Arc::clone(&applied.object), applied.digest)),
        };
        self.differing.lock().insert(key, differs);
    }

    /// How this version of a live object is known to differ from the desired one.
    pub(super) fn recall(
        &self,
        key: &ObjectKey,
        desired: Digest,
        version: &str,
        rules: Rules,
    ) -> Option<Differs> {
        let differing = self.differing.lock();
        let differs = differing.get(key)?;
        let is_it = (differs.desired, differs.version.as_str(), differs.rules) == (desired, version, rules);
        is_it.then(|| differs.clone())
    }

    /// An object that may be pruned is this.
    pub(super) fn remember_candidate(&self, candidate: &Candidate) {
        let is_there = matches!(candidate.found, Found::There(_));
        let mut candidates = self.candidates.lock();
        match is_there {
            true => _ = candidates.insert(candidate.key.clone(), candidate.clone()),
            false => _ = candidates.remove(&candidate.key),
        }
    }

    /// What is known of this version of an object that may be pruned.
    pub(super) fn candidate(&self, key: &ObjectKey, version: &str) -> Option<Candidate> {
        let candidates = self.candidates.lock();
        let is_it = |candidate: &&Candidate| match &candidate.found {
            Found::There(live) => live.resource_version == version,
            Found::Gone | Found::Unknown(_) => false,
        };
        candidates.get(key).filter(is_it).cloned()
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

    /// Whether all objects that were as they should be still are, by watches that are up to date. What none of them tells of may be anything.
    pub fn holds(&self, cache: &Cache) -> bool {
        let settled = self.settled.lock();
        settled.iter().all(|(key, settled)| {
            let is_same = |entry: Arc<Entry>| settled.content == Some(entry.content()) && !entry.deleting();
            cache.fresh(key).is_some_and(is_same)
        })
    }

    /// Forgets all but these objects, which are all that the unit has now.
    pub fn keep(&self, keys: &std::collections::HashSet<ObjectKey>) {
        self.settled.lock().retain(|key, _| keys.contains(key));
        self.differing.lock().retain(|key, _| keys.contains(key));
        self.candidates.lock().retain(|key, _| keys.contains(key));
    }

    /// The kinds of a group are defined anew: what changed nothing about their objects may change something now. That they were as they
    /// should be is not forgotten.
    pub fn doubt(&self, group: &str) {
        let mut settled = self.settled.lock();
        let of_group = settled.iter_mut().filter(|(key, _)| key.group == group);
        of_group.for_each(|(_, settled)| settled.content = None);
        drop(settled);
        self.differing.lock().retain(|key, _| key.group != group);
    }

    /// Forgets everything: the cluster is another one.
    pub fn clear(&self) {
        self.settled.lock().clear();
        self.differing.lock().clear();
        self.candidates.lock().clear();
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
