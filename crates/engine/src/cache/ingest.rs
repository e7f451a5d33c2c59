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

impl Watcher {
    /// Takes an object in, and tells if something about it changed.
    pub(super) async fn put(&mut self, object: Value) -> Option<Arc<Id>> {
        let shared = self.shared.upgrade()?;
        let namespace = object.str_at(&["metadata", "namespace"]);
        let name = object.str_at(&["metadata", "name"]);
        let old = self.watch.store.get(namespace, name);
        if let Some(old) = &old
            && !self.anew
            && old.resource_version() == object.str_at(&["metadata", "resourceVersion"])
        {
            return Some(Arc::clone(old.id()));
        }
        let same_kind = |old: &&Arc<Entry>| Arc::ptr_eq(&old.id().kind, &self.kind);
        let id = match old.as_ref().filter(same_kind) {
            Some(old) => Arc::clone(old.id()),
            None => Arc::new(Id {
                kind: Arc::clone(&self.kind),
                namespace: intern(&mut self.namespaces, namespace),
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
        let entry = Entry::new(Arc::clone(&id), assessed, detail, &self.settings);
        let (entry, shared) = (Arc::new(entry), self.shared.upgrade()?);
        self.watch.store.put(Arc::clone(&entry), old.as_ref());
        if !old.is_some_and(|old| old.is_like(&entry)) {
            shared.subscribers.tell(&Change::Updated(entry));
        }
        self.heard_of_definition(&shared);
        Some(id)
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
}

fn intern(namespaces: &mut HashSet<Arc<str>>, namespace: &str) -> Arc<str> {
    if let Some(known) = namespaces.get(namespace) {
        return Arc::clone(known);
    }
    let namespace: Arc<str> = namespace.into();
    namespaces.insert(Arc::clone(&namespace));
    namespace
}
