//! All watches of a cache, by kind.

use std::collections::HashMap;
use std::sync::Arc;

use model::{ObjectKey, Str};
use parking_lot::RwLock;

use super::entry::Entry;
use super::interest::Interest;
use super::settings::GroupKind;
use super::standard::Standard;
use super::state::State;
use super::watch::{Follow, Watch};
use crate::cluster::Detail;

/// The watches. The lock is held to find or change a list of watches, never while a watch works.
#[derive(Default)]
pub(super) struct Registry {
    kinds: RwLock<HashMap<GroupKind, Vec<Arc<Watch>>>>,
}

impl Registry {
    /// Follows a watch that has what is asked for; a new one is begun by `start`.
    pub(super) fn follow(
        &self,
        interest: Interest,
        standard: &Standard,
        start: impl FnOnce(&Arc<Watch>),
    ) -> Follow {
        let standard = standard.of(&interest.group, &interest.kind);
        let mut kinds = self.kinds.write();
        let watches = kinds
            .entry((interest.group.clone(), interest.kind.clone()))
            .or_default();
        // One that may not be read is of no use to who asks for less, which they may be allowed to read.
        let serves = |watch: &&Arc<Watch>| {
            let is_forbidden = matches!(*watch.state.borrow(), State::Forbidden { .. });
            watch.interest.covers(&interest) && (!is_forbidden || watch.interest == interest)
        };
        if let Some(watch) = watches.iter().find(serves) {
            let (follow, is_new) = watch.follow(standard);
            if is_new {
                watch.reload.notify_one();
            }
            return follow;
        }
        let watch = Arc::new(Watch::new(interest));
        let (follow, _) = watch.follow(standard);
        watches.push(Arc::clone(&watch));
        start(&watch);
        follow
    }

    /// Forgets a watch if nobody follows it, and tells whether it did. Nobody can begin to follow it in between.
    pub(super) fn forget(&self, watch: &Arc<Watch>) -> bool {
        let mut kinds = self.kinds.write();
        if watch.is_followed() {
            return false;
        }
        let key = (watch.interest.group.clone(), watch.interest.kind.clone());
        if let Some(watches) = kinds.get_mut(&key) {
            watches.retain(|other| !Arc::ptr_eq(other, watch));
            if watches.is_empty() {
                kinds.remove(&key);
            }
        }
        true
    }

    /// The watches of a kind.
    pub(super) fn of(&self, group: &str, kind: &str) -> Vec<Arc<Watch>> {
        let key = (Str::new(group), Str::new(kind));
        self.kinds.read().get(&key).cloned().unwrap_or_default()
    }

    pub(super) fn all(&self) -> Vec<Arc<Watch>> {
        self.kinds.read().values().flatten().cloned().collect()
    }

    /// The state of an object, from the watch that knows most of it.
    pub(super) fn get(&self, key: &ObjectKey) -> Option<Arc<Entry>> {
        self.best(key, |_| true)
    }

    /// The same, from a watch that has assessed it by this standard if there is one.
    pub(super) fn get_by(&self, key: &ObjectKey, standard: &Standard) -> Option<Arc<Entry>> {
        let has = |watch: &Watch| {
            let entry = watch.store.get(&key.namespace, &key.name);
            entry.is_some_and(|entry| entry.health_by(standard).is_some())
        };
        self.best(key, has).or_else(|| self.get(key))
    }

    /// The same, of the watches that are up to date.
    pub(super) fn fresh(&self, key: &ObjectKey) -> Option<Arc<Entry>> {
        self.best(key, Watch::is_synced)
    }

    fn best(&self, key: &ObjectKey, counts: impl Fn(&Watch) -> bool) -> Option<Arc<Entry>> {
        let mut best: Option<Arc<Entry>> = None;
        for watch in self.of(&key.group, &key.kind) {
            if !counts(&watch) {
                continue;
            }
            match watch.store.get(&key.namespace, &key.name) {
                Some(entry) if entry.detail() == Detail::Full => return Some(entry),
                Some(entry) => best = Some(entry),
                None => {}
            }
        }
        best
    }

    /// The worst state of the watches of a kind.
    pub(super) fn state(&self, group: &str, kind: &str) -> State {
        let watches = self.of(group, kind);
        let states = watches.iter().map(|watch| watch.state.borrow().clone());
        states.max_by_key(State::rank).unwrap_or_default()
    }
}
