//! The clusters that units are in, each followed for as long as a unit is in it. Names that lead to the same cluster with the
//! same identity share one cache.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures::StreamExt;
use parking_lot::Mutex;
use tokio::task::AbortHandle;

use crate::cache::{self, Cache, Change};
use crate::cluster::Cluster;
use crate::panics::{caught, caught_in};
use crate::plan::GroupKind;
use crate::sync::Stop;
use crate::unit::{ClusterEvent, CredentialsStore, Failure, Place, SyncUnit};

use super::known::Known;
use super::{Shared, UnitEventKind};

/// How long after a panic the store is asked again what happens to clusters.
const WATCH_AGAIN: Duration = Duration::from_secs(5);

/// The clusters that units are in.
pub(super) struct Clusters {
    store: Arc<dyn CredentialsStore>,
    caches: cache::Clusters,
    open: Mutex<HashMap<String, Weak<Open>>>,
    /// How many were opened so far.
    opened: AtomicU64,
    /// The clusters that access is being asked for, with how many ask and whether something was told of the cluster since: then the answer may be
    /// out of date.
    asked: Mutex<HashMap<String, Asked>>,
    /// As whom each cluster was reached last.
    reached: Mutex<HashMap<String, cache::Access>>,
}

/// Access to a cluster is being asked for.
#[derive(Default)]
struct Asked {
    by: usize,
    changes: u64,
}

/// A cluster that is followed until the last of these is dropped.
pub(super) type Handle = Arc<Open>;

/// A cluster by one of its names, and what is known of it.
pub(super) struct Open {
    number: u64,
    name: String,
    endpoint: String,
    realm: String,
    vouched_by: Option<Arc<str>>,
    pub(super) cache: Cache,
    dispatch: AbortHandle,
}

impl Open {
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Tells it from clusters that were opened before or after, also under the same name.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Which cluster it is, whatever its name.
    pub(super) fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// The cluster as far as units trust each other to be in the same one.
    pub(super) fn realm(&self) -> &str {
        &self.realm
    }

    /// Who vouches for it, if somebody other than this process does.
    pub(super) fn vouched_by(&self) -> Option<&Arc<str>> {
        self.vouched_by.as_ref()
    }

    /// Where the inventory of a unit is that is in this cluster.
    pub(super) fn place(&self) -> Place {
        Place {
            cluster: self.name.clone(),
            endpoint: self.endpoint.clone(),
            realm: self.realm.clone(),
        }
    }

    /// Where requests go.
    pub(super) fn cluster(&self) -> &Cluster {
        self.cache.cluster()
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.dispatch.abort();
    }
}

impl Clusters {
    pub(super) fn new(store: Arc<dyn CredentialsStore>) -> Self {
        Clusters {
            store,
            caches: cache::Clusters::default(),
            open: Mutex::default(),
            opened: AtomicU64::new(0),
            asked: Mutex::default(),
            reached: Mutex::default(),
        }
    }

    /// A cluster is not reached any more as it was: with other credentials from now on, although its address and the identity may be the
    /// same, or not at all.
    fn reach_anew(&self, name: &str) {
        if let Some(access) = self.reached.lock().remove(name) {
            self.caches.forget(&access);
        }
    }

    /// Somebody begins to ask for access to a cluster.
    fn asks<'a>(&'a self, name: &'a str) -> Asking<'a> {
        let mut asked = self.asked.lock();
        let entry = asked.entry(name.to_owned()).or_default();
        entry.by += 1;
        Asking {
            clusters: self,
            name,
            seen: entry.changes,
        }
    }

    /// Forgets the clusters that no unit is in any more.
    pub(super) fn forget_unused(&self) {
        let mut open = self.open.lock();
        self.drop_unused(&mut open);
        self.reached.lock().retain(|name, _| open.contains_key(name));
    }

    /// Drops the clusters that no unit is in, and has the store forget them, unless somebody asks for access to them.
    fn drop_unused(&self, open: &mut HashMap<String, Weak<Open>>) {
        let asked = self.asked.lock();
        open.retain(|name, open| {
            let is_used = open.strong_count() > 0;
            if !is_used && !asked.contains_key(name) {
                self.store.forget_cluster(name);
            }
            is_used
        });
    }

    /// How many names of clusters something is kept of.
    #[cfg(test)]
    pub(super) fn names(&self) -> usize {
        // One lock at a time: the others take them in another order.
        let asked = self.asked.lock().len();
        let reached = self.reached.lock().len();
        asked + reached + self.open.lock().len()
    }

    /// Does something while a cluster is still reached in this way. Nothing is done if it is not.
    pub(super) fn while_there<T>(&self, cluster: &Handle, act: impl FnOnce() -> T) -> Option<T> {
        let open = self.open.lock();
        let is_there = open
            .get(cluster.name())
            .is_some_and(|now| std::ptr::eq(now.as_ptr(), Arc::as_ptr(cluster)));
        is_there.then(act)
    }

    /// The cluster of this name, if a unit is in it.
    pub(super) fn there(&self, name: &str) -> Option<Handle> {
        self.open.lock().get(name)?.upgrade()
    }
}

/// Somebody asks for access to a cluster until this is dropped.
struct Asking<'a> {
    clusters: &'a Clusters,
    name: &'a str,
    seen: u64,
}

impl Asking<'_> {
    /// Whether something was told of the cluster since.
    fn is_outdated(&self) -> bool {
        let asked = self.clusters.asked.lock();
        asked
            .get(self.name)
            .is_some_and(|asked| asked.changes != self.seen)
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let mut asked = self.clusters.asked.lock();
        if let Some(entry) = asked.get_mut(self.name) {
            entry.by -= 1;
            if entry.by == 0 {
                asked.remove(self.name);
            }
        }
    }
}

impl Shared {
    /// The cluster that a unit is in.
    pub(super) async fn cluster(self: &Arc<Self>, unit: &SyncUnit) -> Result<Handle, Failure> {
        let name = unit.destination.cluster.as_str();
        if let Some(open) = self.clusters.there(name) {
            return Ok(open);
        }
        let asking = self.clusters.asks(name);
        let access = self.clusters.store.get_cluster(name).await?;
        let mut clusters = self.clusters.open.lock();
        if asking.is_outdated() {
            self.status.add(unit.id.clone());
            let error = format!("cluster {name:?} is reached in another way by now");
            return Err(Failure::new(error));
        }
        // Another worker may have been quicker.
        if let Some(open) = clusters.get(name).and_then(Weak::upgrade) {
            return Ok(open);
        }
        self.clusters.drop_unused(&mut clusters);
        self.starting.expect(name, &unit.id);
        let key = cache::Access {
            endpoint: access.endpoint.as_str().into(),
            identity: access.identity.as_str().into(),
        };
        let mut reached = self.clusters.reached.lock();
        reached.retain(|name, _| clusters.contains_key(name));
        reached.insert(name.to_owned(), key.clone());
        drop(reached);
        let connect = || access.open(self.settings().remote_budget);
        let realm = match access.vouched_by.as_str() {
            "" => access.endpoint.clone(),
            by => format!("{} by {by}", access.endpoint),
        };
        let settings = || self.cache_settings(&realm);
        let cache = self.clusters.caches.get(&key, settings, connect);
        let changes = cache.subscribe(Box::new(|_| true));
        let place = (name.to_owned(), realm.clone());
        let dispatch = tokio::spawn(dispatch(Arc::downgrade(self), place, changes));
        let open = Arc::new(Open {
            number: self.clusters.opened.fetch_add(1, Ordering::Relaxed) + 1,
            name: name.to_owned(),
            endpoint: access.endpoint,
            realm,
            vouched_by: Some(access.vouched_by.as_str())
                .filter(|by| !by.is_empty())
                .map(Arc::from),
            cache,
            dispatch: dispatch.abort_handle(),
        });
        clusters.insert(name.to_owned(), Arc::downgrade(&open));
        Ok(open)
    }

    /// Whether a cluster is still reached in this way.
    pub(super) fn is_there(&self, cluster: &Handle) -> bool {
        let now = self.clusters.there(cluster.name());
        now.is_some_and(|now| Arc::ptr_eq(&now, cluster))
    }

    /// Lets go of all clusters, and with them of all watches.
    pub(super) fn let_go(&self) {
        self.clusters.open.lock().clear();
        for (_, known) in self.known.all() {
            let mut state = known.state.lock();
            state.cluster = None;
            state.located = None;
            state.follows.clear();
        }
    }

    /// Looks at everything again with the settings that hold now. Watches whose objects are seen in the same way stay as they
    /// are, and what is compared by the same rules is not compared again.
    pub(super) fn settings_changed(&self) {
        for open in self.clusters.open.lock().values().filter_map(Weak::upgrade) {
            open.cache.set_settings(self.cache_settings(&open.realm));
            open.cluster().set_budget(self.settings().remote_budget);
        }
        for (id, _) in self.known.all() {
            self.status.add(id);
        }
    }

    fn cache_settings(&self, realm: &str) -> cache::Settings {
        let settings = self.settings();
        let kind = |kind: &GroupKind| (kind.group.clone(), kind.kind.clone());
        let overrides = settings.overrides.iter();
        cache::Settings {
            health: Arc::clone(&self.health),
            health_of: overrides
                .filter_map(|(of, special)| Some((kind(of), special.health.clone()?)))
                .collect(),
            excluded: settings.filter.excluded.iter().map(kind).collect(),
            evaluations: self.evaluations.clone(),
            realm: realm.into(),
            ..cache::Settings::default()
        }
    }
}

/// Tells units of what happens to their objects, and callbacks of what happens to any.
async fn dispatch(
    shared: Weak<Shared>,
    (cluster, realm): (String, String),
    mut changes: cache::Subscription,
) {
    while let Some(change) = changes.next().await {
        let Some(shared) = shared.upgrade() else {
            return;
        };
        // Should one change be too much, the next one is dispatched all the same.
        if let Err(panic) = caught(|| shared.dispatch(&cluster, &realm, &change)) {
            tracing::error!(%cluster, %panic, "a change could not be dispatched");
        }
    }
}

impl Shared {
    fn dispatch(&self, cluster: &str, realm: &str, change: &Change) {
        let key = match change {
            Change::Updated(entry) => {
                let callbacks = &self.told.resource_updated;
                self.call("", "on_resource_updated", callbacks, |callback| {
                    callback(cluster, entry)
                });
                entry.key()
            }
            Change::Removed(entry) => {
                let (key, callbacks) = (entry.key(), &self.told.resource_removed);
                self.call("", "on_resource_removed", callbacks, |callback| {
                    callback(cluster, &key)
                });
                key
            }
            Change::Lost => {
                // Units of other clusters have missed nothing.
                for id in self.known.in_cluster(cluster) {
                    self.operations.add(id.clone());
                    self.status.add(id);
                }
                return;
            }
        };
        for unit in self.known.awaited.by(cluster, &key) {
            self.operations.add(unit);
        }
        for (unit, waits) in self.known.concerned(realm, &key) {
            if let Change::Removed(_) = change {
                self.known.get(&unit).lost(&key);
            }
            if waits && !self.is_changed(&unit, change) {
                self.operations.add(unit);
                continue;
            }
            if waits {
                self.operations.add(unit.clone());
            }
            self.status.add(unit);
        }
    }
}

impl Shared {
    /// Whether somebody has changed an object that was as a unit wants it.
    fn is_changed(&self, unit: &str, change: &Change) -> bool {
        let Change::Updated(entry) = change else {
            return false;
        };
        let known = self.known.get(unit);
        known.memory.is_other(&entry.key(), entry.content())
    }
}

/// Follows what happens to clusters themselves.
pub(super) async fn follow_clusters(shared: Arc<Shared>) {
    loop {
        let followed = caught_in(|| async {
            let mut events = shared.clusters.store.watch_clusters();
            while let Some(event) = events.next().await {
                shared.cluster_changed(&event);
            }
        });
        match followed.await {
            // A store that has nothing more to say is no reason to end.
            Ok(()) => std::future::pending().await,
            Err(panic) => {
                tracing::error!(%panic, "watch_clusters of the credentials store panicked");
                let message = format!("watch_clusters of the credentials store panicked: {panic}");
                shared.tell("", UnitEventKind::Failed, message);
            }
        }
        tokio::time::sleep(WATCH_AGAIN).await;
        // What happened meanwhile was told to nobody.
        let open: Vec<String> = shared.clusters.open.lock().keys().cloned().collect();
        for name in open {
            shared.cluster_changed(&ClusterEvent::Changed(name));
        }
    }
}

impl Shared {
    /// The cluster of a unit cannot be reached. An operation that is under way in another one is not what is wanted.
    pub(super) fn strand(&self, unit: &SyncUnit, known: &Known) {
        known.forget_location(&unit.id, &self.heard, |_| true);
        let mut state = known.state.lock();
        let is_in_it = |cluster: &Handle| cluster.name == unit.destination.cluster;
        if state.is_under_way() && !state.cluster.as_ref().is_some_and(is_in_it) {
            state.stop.get_or_insert(Stop::Superseded);
            self.operations.add(unit.id.clone());
        }
    }

    /// A cluster is reached in another way from now on, or not at all.
    fn cluster_changed(&self, event: &ClusterEvent) {
        let (ClusterEvent::Changed(name) | ClusterEvent::Removed(name)) = event;
        {
            let mut open = self.clusters.open.lock();
            if let Some(asked) = self.clusters.asked.lock().get_mut(name) {
                asked.changes += 1;
            }
            self.clusters.reach_anew(name);
            open.remove(name);
        }
        for (id, known) in self.known.all() {
            known.forget_location(&id, &self.heard, |cluster| cluster.name == *name);
            let mut state = known.state.lock();
            let is_in_it = state
                .cluster
                .as_ref()
                .is_some_and(|cluster| cluster.name == *name);
            if !is_in_it && state.sought.as_deref() == Some(name.as_str()) {
                // It was not there before.
                state.held = None;
                self.status.add(id);
                continue;
            }
            if state
                .cluster
                .as_ref()
                .is_some_and(|cluster| cluster.name == *name)
            {
                state.cluster = None;
                state.leave();
                known.memory.clear();
                // What waits there ends.
                self.operations.add(id.clone());
                self.status.add(id);
            }
        }
        let is_lost = |id: &str| self.known.located_voucher(id).is_none();
        self.remote_status.release(is_lost);
    }
}
