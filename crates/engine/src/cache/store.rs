//! The entries of one watch.
//!
//! One task writes, any number of readers read. Entries are spread over shards, and a lock is held for the time of one
//! lookup or one insertion, never while something is waited for or computed: nobody waits for a list to be read.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::sync::Arc;

use parking_lot::RwLock;

use super::entry::{Entry, Id};
use super::owner::OwnerKey;

const SHARDS: usize = 16;

pub(super) struct Store {
    shards: [RwLock<HashMap<Key, Arc<Entry>>>; SHARDS],
    children: RwLock<HashMap<OwnerKey, Vec<Arc<Id>>>>,
    hasher: RandomState,
}

/// An entry's place in the map: its namespace and name, as a watch has one kind.
struct Key(Arc<Id>);

/// What an entry is looked up by.
trait Place {
    fn place(&self) -> (&str, &str);
}

impl Place for Key {
    fn place(&self) -> (&str, &str) {
        (&self.0.namespace, &self.0.name)
    }
}

impl Place for (&str, &str) {
    fn place(&self) -> (&str, &str) {
        *self
    }
}

impl Hash for dyn Place + '_ {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.place().hash(state);
    }
}

impl PartialEq for dyn Place + '_ {
    fn eq(&self, other: &Self) -> bool {
        self.place() == other.place()
    }
}

impl Eq for dyn Place + '_ {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.place().hash(state);
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.place() == other.place()
    }
}

impl Eq for Key {}

impl<'a> Borrow<dyn Place + 'a> for Key {
    fn borrow(&self) -> &(dyn Place + 'a) {
        self
    }
}

impl Store {
    pub(super) fn new() -> Store {
        Store {
            shards: std::array::from_fn(|_| RwLock::default()),
            children: RwLock::default(),
            hasher: RandomState::new(),
        }
    }

    fn shard(&self, namespace: &str, name: &str) -> &RwLock<HashMap<Key, Arc<Entry>>> {
        let hash = self.hasher.hash_one((namespace, name));
        &self.shards[hash as usize % SHARDS]
    }

    pub(super) fn get(&self, namespace: &str, name: &str) -> Option<Arc<Entry>> {
        let place: &dyn Place = &(namespace, name);
        self.shard(namespace, name).read().get(place).cloned()
    }

    pub(super) fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.read().len()).sum()
    }

    /// All entries, shard by shard.
    pub(super) fn entries(&self) -> Vec<Arc<Entry>> {
        let mut entries = Vec::with_capacity(self.len());
        for shard in &self.shards {
            entries.extend(shard.read().values().cloned());
        }
        entries
    }

    /// The entries that name this owner.
    pub(super) fn children(&self, owner: &OwnerKey) -> Vec<Arc<Entry>> {
        let ids = self.children.read().get(owner).cloned().unwrap_or_default();
        ids.iter()
            .filter_map(|id| self.get(&id.namespace, &id.name))
            .collect()
    }

    /// Puts an entry in its place.
    pub(super) fn put(&self, entry: Arc<Entry>, old: Option<&Arc<Entry>>) {
        let id = entry.id();
        let same = |old: &Arc<Entry>| Arc::ptr_eq(old.id(), id) && old.owners() == entry.owners();
        if !old.is_some_and(same) {
            if let Some(old) = old {
                self.disown(old);
            }
            self.own(&entry);
        }
        let mut shard = self.shard(&id.namespace, &id.name).write();
        shard.insert(Key(Arc::clone(id)), entry);
    }

    /// Takes all entries out.
    pub(super) fn clear(&self) {
        for shard in &self.shards {
            *shard.write() = HashMap::new();
        }
        *self.children.write() = HashMap::new();
    }

    /// Takes an entry out.
    pub(super) fn remove(&self, namespace: &str, name: &str) -> Option<Arc<Entry>> {
        let place: &dyn Place = &(namespace, name);
        let entry = self.shard(namespace, name).write().remove(place)?;
        self.disown(&entry);
        Some(entry)
    }

    fn own(&self, entry: &Entry) {
        let keys = entry
            .owners()
            .iter()
            .filter_map(|owner| owner.key(&entry.id().namespace));
        let mut children = None;
        for key in keys {
            let children = children.get_or_insert_with(|| self.children.write());
            let ids = children.entry(key).or_default();
            if !ids.iter().any(|id| Arc::ptr_eq(id, entry.id())) {
                ids.push(Arc::clone(entry.id()));
            }
        }
    }

    fn disown(&self, entry: &Entry) {
        for key in entry
            .owners()
            .iter()
            .filter_map(|owner| owner.key(&entry.id().namespace))
        {
            let mut children = self.children.write();
            if let Some(ids) = children.get_mut(&key) {
                ids.retain(|id| !Arc::ptr_eq(id, entry.id()));
                if ids.is_empty() {
                    children.remove(&key);
                }
            }
        }
    }
}
