//! Takes objects in and out of a watch's entries, and tells of it.

use std::collections::HashSet;
use std::sync::Arc;

use model::Value;

use super::Shared;
use super::assess::Rules;
use super::entry::{Entry, Id};
use super::interest::Interest;
use super::subscription::Change;
use super::watcher::Watcher;
use crate::cluster::Error;

impl Watcher {
    /// Takes an object in, and tells if something about it changed. Nothing is returned where the cache is gone.
    ///
    /// # Errors
    /// The cluster has used up its budget.
    pub(super) async fn put(&mut self, object: Value) -> Result<Option<Arc<Id>>, Error> {
        let Some(shared) = self.shared.upgrade() else {
            return Ok(None);
        };
        let namespace = object.str_at(&["metadata", "namespace"]);
        let name = object.str_at(&["metadata", "name"]);
        let old = self.watch.store.get(namespace, name);
        if let Some(old) = &old
            && !self.anew
            && old.resource_version() == object.str_at(&["metadata", "resourceVersion"])
        {
            return Ok(Some(Arc::clone(old.id())));
        }
        let same_kind = |old: &&Arc<Entry>| Arc::ptr_eq(&old.id().kind, &self.kind);
        let id = match old.as_ref().filter(same_kind) {
            Some(old) => Arc::clone(old.id()),
            None => Arc::new(Id {
                kind: Arc::clone(&self.kind),
                namespace: self.namespaces.intern(namespace),
                name: name.into(),
            }),
        };
        let settings = shared.settings();
        let now = (settings.clock)();
        let detail = self.watch.interest.detail;
        let standards = self.watch.standards();
        let rules = Rules {
            settings: &settings,
            kind: &self.settings,
            standards: &standards,
            detail,
        };
        // A cache that is torn down while rules of others are evaluated is not held back.
        drop(shared);
        let assessed = rules.assess(&id, object, now).await;
        let mut entry = Entry::new(Arc::clone(&id), assessed, detail, &self.settings);
        let charge = self.cluster.charge_entry(|| entry.size());
        entry.pay(charge.map_err(|over| self.over_budget(over))?);
        let Some(shared) = self.shared.upgrade() else {
            return Ok(None);
        };
        let entry = Arc::new(entry);
        self.watch.store.put(Arc::clone(&entry), old.as_ref());
        if !old.is_some_and(|old| old.is_like(&entry)) {
            shared.subscribers.tell(&Change::Updated(entry));
        }
        self.heard_of_definition(&shared);
        Ok(Some(id))
    }

    pub(super) fn remove(&self, object: &Value) {
        let namespace = object.str_at(&["metadata", "namespace"]);
        self.gone(namespace, object.str_at(&["metadata", "name"]));
    }

    pub(super) fn gone(&self, namespace: &str, name: &str) {
        let (Some(entry), Some(shared)) = (self.watch.store.remove(namespace, name), self.shared.upgrade())
        else {
            return;
        };
        // It may only have left this watch, if its labels changed: another one may still have it.
        let change = match shared.registry.get(&entry.key()) {
            Some(other) => Change::Updated(other),
            None => Change::Removed(entry),
        };
        shared.subscribers.tell(&change);
        self.heard_of_definition(&shared);
    }

    pub(super) fn heard_of_definition(&self, shared: &Shared) {
        let definitions = Interest::in_definitions();
        if self.watch.interest.is_of(&definitions.group, &definitions.kind) && self.watch.is_synced() {
            shared.definitions.changed();
        }
    }

    /// Everything is gone.
    pub(super) fn clear(&mut self) {
        for entry in self.watch.store.entries() {
            self.gone(entry.namespace(), entry.name());
        }
        self.version = None;
    }

    /// Frees all memory. Nothing is told to be gone: it is not known any more what there is.
    pub(super) fn free(&mut self) {
        self.watch.store.clear();
        self.namespaces = Namespaces::default();
        self.version = None;
        if let Some(shared) = self.shared.upgrade() {
            shared.subscribers.lose();
        }
    }
}

/// The names of namespaces, each of which is kept once for all of its objects.
#[derive(Default)]
pub(super) struct Namespaces {
    known: HashSet<Arc<str>>,
    /// At so many of them, those without objects are dropped.
    full: usize,
}

impl Namespaces {
    fn intern(&mut self, namespace: &str) -> Arc<str> {
        if let Some(known) = self.known.get(namespace) {
            return Arc::clone(known);
        }
        if self.known.len() >= self.full {
            self.known.retain(|namespace| Arc::strong_count(namespace) > 1);
            self.full = 2 * self.known.len() + 16;
        }
        let namespace: Arc<str> = namespace.into();
        self.known.insert(Arc::clone(&namespace));
        namespace
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespaces_without_objects_are_not_kept_for_ever() {
        let mut namespaces = Namespaces::default();
        let stays = namespaces.intern("stays");
        for number in 0..1000 {
            namespaces.intern(&number.to_string());
        }
        assert!(namespaces.known.len() < 50, "{}", namespaces.known.len());
        assert!(Arc::ptr_eq(&stays, &namespaces.intern("stays")));
    }
}
