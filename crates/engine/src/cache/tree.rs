//! What belongs to an object.

use std::collections::HashMap;
use std::sync::Arc;

use model::{ObjectKey, Str};

use super::entry::Entry;
use super::owner::{Inferred, Named, OwnerKey, inferred_kind};
use super::registry::Registry;
use super::uid::Uid;

/// An object and what belongs to it.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The object.
    pub entry: Arc<Entry>,
    /// What belongs to it, by key.
    pub children: Vec<Tree>,
}

impl Tree {
    /// The object and all that belongs to it, each after its owner.
    pub fn entries(&self) -> Vec<&Arc<Entry>> {
        let mut found = vec![&self.entry];
        found.extend(self.children.iter().flat_map(Tree::entries));
        found
    }
}

impl Registry {
    /// The objects that name this uid as an owner.
    pub(super) fn children_by_uid(&self, uid: &Uid) -> Vec<Arc<Entry>> {
        self.children(&[OwnerKey::Uid(uid.clone())])
    }

    fn children(&self, keys: &[OwnerKey]) -> Vec<Arc<Entry>> {
        let mut found: Vec<(ObjectKey, Arc<Entry>)> = Vec::new();
        for watch in self.all() {
            for key in keys {
                let entries = watch.store.children(key).into_iter();
                found.extend(entries.map(|entry| (entry.key(), entry)));
            }
        }
        found.sort_by(|(a, one), (b, other)| a.cmp(b).then(other.detail().cmp(&one.detail())));
        // Several watches may have an object, and an object may be served under two kinds: the first of them counts.
        let mut seen: HashMap<Uid, ()> = HashMap::new();
        found.retain(|(_, entry)| seen.insert(entry.uid().clone(), ()).is_none());
        found.into_iter().map(|(_, entry)| entry).collect()
    }

    /// The object and what belongs to it. An object that is its own owner, over however many others, is told once.
    pub(super) fn tree(&self, key: &ObjectKey) -> Option<Tree> {
        let entry = self.get(key)?;
        let mut seen = HashMap::from([(entry.uid().clone(), ())]);
        Some(self.grow(entry, &mut seen))
    }

    fn grow(&self, entry: Arc<Entry>, seen: &mut HashMap<Uid, ()>) -> Tree {
        let children = self.children(&keys(&entry));
        let fresh: Vec<Arc<Entry>> = children
            .into_iter()
            .filter(|child| seen.insert(child.uid().clone(), ()).is_none())
            .collect();
        Tree {
            children: fresh.into_iter().map(|child| self.grow(child, seen)).collect(),
            entry,
        }
    }
}

/// Everything the children of an object may call it by.
fn keys(entry: &Entry) -> Vec<OwnerKey> {
    let mut keys = vec![OwnerKey::Uid(entry.uid().clone())];
    let id = entry.id();
    let named = |kind: Inferred, name: Str| {
        OwnerKey::Name(Named {
            kind,
            namespace: Arc::clone(&id.namespace),
            name,
        })
    };
    match inferred_kind(&id.kind.group, &id.kind.kind) {
        Some(Inferred::Claims) => keys.extend(
            entry
                .claims()
                .iter()
                .map(|template| named(Inferred::Claims, format!("{template}-{}", id.name).into())),
        ),
        Some(kind) => keys.push(named(kind, id.name.clone())),
        None => {}
    }
    keys
}
