//! Which kinds are followed for a unit, and when all of them are known.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Weak};
use std::time::Duration;

use model::object_key::split_api_version;
use model::{ObjectKey, Str};
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::cache::{self, Follow, Interest, Standard};
use crate::plan::{Desired, GroupKind};
use crate::unit::SyncUnit;

use super::Shared;
use super::clusters::Handle;
use super::known::Known;

/// How long the first list of a kind may take before it is looked at again.
pub(super) const LISTING: Duration = Duration::from_secs(30);

impl Shared {
    /// Follows the kinds that a unit has, and those of what it waits for besides. Whether all of them have been listed, or cannot be; if not, the unit is looked at
    /// again when they have.
    pub(super) fn follow(
        self: &Arc<Self>,
        unit: &SyncUnit,
        known: &Known,
        cluster: &Handle,
        desired: &[Desired],
    ) -> bool {
        let mut kinds: HashMap<GroupKind, Wanted> = HashMap::new();
        let mut wants: HashMap<ObjectKey, bool> = HashMap::new();
        for entry in &unit.status.inventory.entries {
            let wanted = kinds.entry(kind_of(&entry.id.0)).or_default();
            wanted.is_ours(&entry.version, &entry.id.0.namespace);
        }
        for desired in desired {
            let key = desired.key(&unit.destination.namespace);
            let (_, version) = split_api_version(desired.object.str_at(&["apiVersion"]));
            let wanted = kinds.entry(kind_of(&key)).or_default();
            wanted.is_ours(version, &key.namespace);
            // What is there as a hook and for good is there for good.
            *wants.entry(key).or_default() |= desired.implied || unit.policy.strategy.lasts(desired);
        }
        let objects = self.claim(unit, known, cluster, wants);
        let awaited = awaited(unit, &objects);
        for key in &awaited {
            let wanted = kinds.entry(kind_of(key)).or_default();
            wanted.others = true;
            wanted.namespaces.insert(key.namespace.clone());
        }
        self.known.awaited.set(&unit.id, cluster.name(), awaited);
        let starting = self.follow_kinds(known, cluster, kinds, &unit.policy.standard());
        let listed = starting.is_empty();
        if !listed {
            let listed = when_listed(Arc::downgrade(self), unit.id.clone(), starting);
            tokio::spawn(listed);
        }
        listed
    }

    /// Follows these kinds and no others; those that are not listed yet are returned. A kind that is followed in another way
    /// now, since its version, the instance label or the unit's rules of health are others, is followed anew, and no other is.
    fn follow_kinds(
        &self,
        known: &Known,
        cluster: &Handle,
        kinds: HashMap<GroupKind, Wanted>,
        standard: &Standard,
    ) -> Vec<Follow> {
        let mut state = known.state.lock();
        let earlier = state.cluster.replace(Arc::clone(cluster));
        if earlier.is_some_and(|earlier| !Arc::ptr_eq(&earlier, cluster)) {
            state.leave();
            known.memory.clear();
        }
        let before = std::mem::take(&mut state.follows).into_iter();
        let mut before: HashMap<_, _> = before.map(|followed| (place(&followed.0), followed)).collect();
        let mut starting = Vec::new();
        let mut follow = |interest: Interest, kind: &GroupKind| {
            let same = |(followed, follow): &(Interest, Follow)| {
                *followed == interest && *follow.standard() == standard.of(&kind.group, &kind.kind)
            };
            let follow = match before.remove(&place(&interest)).filter(same) {
                Some((_, follow)) => follow,
                None => cluster.cache.follow_by(interest.clone(), standard),
            };
            let now = follow.state();
            if matches!(now, cache::State::Starting) {
                starting.push(follow.clone());
            }
            state.follows.push((interest, follow));
            now
        };
        for (kind, wanted) in kinds {
            let interest = self.interest(&kind, &wanted);
            if !matches!(follow(interest.clone(), &kind), cache::State::Forbidden { .. }) {
                continue;
            }
            // Whoever may not read a kind everywhere may do so where they have something. That it is asked for everywhere, now and then,
            // shows when they may.
            for namespace in wanted.namespaces.into_iter().filter(|name| !name.is_empty()) {
                let narrower = Interest {
                    namespace: Some(namespace),
                    ..interest.clone()
                };
                follow(narrower, &kind);
            }
        }
        state.follows.shrink_to_fit();
        starting
    }

    fn interest(&self, kind: &GroupKind, wanted: &Wanted) -> Interest {
        let settings = self.settings();
        let label = settings.instance_label.as_deref().filter(|_| !wanted.others);
        Interest {
            version: wanted.version.as_deref().map(Into::into),
            selector: label.map(Into::into),
            ..Interest::in_all(kind.group.clone(), kind.kind.clone())
        }
    }

    /// A unit of this cluster was looked at with all that it has known, or of none as it is gone. Of the last one of a cluster that was
    /// waited for this is told, also if it has left for another.
    pub(super) fn seen(&self, cluster: Option<&str>, unit: &str) {
        for last_of in self.starting.seen(unit) {
            // Where no unit is nothing is known.
            if cluster != Some(last_of.as_str()) && self.clusters.there(&last_of).is_none() {
                continue;
            }
            let callbacks = &self.told.cache_initialized;
            self.call(unit, "on_cluster_cache_initialized", callbacks, |callback| {
                callback(&last_of)
            });
        }
    }
}

/// Looks at a unit again when its kinds have been listed. It keeps no cluster: one that is torn down ends it.
async fn when_listed(shared: Weak<Shared>, unit: String, kinds: Vec<Follow>) {
    let deadline = Instant::now() + LISTING;
    for follow in kinds {
        // Why one was not listed is its state, which whoever looks at the unit sees.
        let _ = follow.synced(deadline).await;
    }
    if let Some(shared) = shared.upgrade() {
        shared.status.add(unit);
    }
}

/// What of a kind is followed.
#[derive(Default)]
struct Wanted {
    /// In this version; in any where it is missing.
    version: Option<String>,
    /// Whether there are some of others among them, which do not have our label.
    others: bool,
    /// Where they are.
    namespaces: BTreeSet<Str>,
}

impl Wanted {
    /// One of ours is among them, in this version and there.
    fn is_ours(&mut self, version: &str, namespace: &Str) {
        self.version = Some(version.to_owned());
        self.namespaces.insert(namespace.clone());
    }
}

/// What a unit waits for that is not among its objects.
fn awaited(unit: &SyncUnit, objects: &HashSet<ObjectKey>) -> HashSet<ObjectKey> {
    let wait = unit.policy.options.wait.as_ref();
    let chosen = wait.and_then(|wait| wait.objects.as_ref()).into_iter().flatten();
    chosen.filter(|key| !objects.contains(key)).cloned().collect()
}

/// What is followed, whatever of it: the kind, everywhere or in a namespace.
fn place(interest: &Interest) -> (Str, Str, Option<Str>) {
    let Interest { group, kind, .. } = interest;
    (group.clone(), kind.clone(), interest.namespace.clone())
}

fn kind_of(key: &ObjectKey) -> GroupKind {
    GroupKind {
        group: key.group.clone(),
        kind: key.kind.clone(),
    }
}

/// Which units of a cluster have not been looked at since it is followed.
#[derive(Default)]
pub(super) struct Starting {
    clusters: Mutex<HashMap<String, HashSet<String>>>,
}

impl Starting {
    /// A unit of this cluster is about to be looked at.
    pub(super) fn expect(&self, cluster: &str, unit: &str) {
        let mut clusters = self.clusters.lock();
        clusters
            .entry(cluster.to_owned())
            .or_default()
            .insert(unit.to_owned());
    }

    /// How much is kept, over all units.
    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        self.clusters.lock().len()
    }

    /// The unit was looked at, or is gone. The clusters that waited for it alone are returned.
    fn seen(&self, unit: &str) -> Vec<String> {
        let mut last_of = Vec::new();
        self.clusters.lock().retain(|cluster, units| {
            let was_last = units.remove(unit) && units.is_empty();
            if was_last {
                last_of.push(cluster.clone());
            }
            !was_last
        });
        last_of
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_that_leaves_is_not_waited_for_in_the_cluster_it_was_to_be_in() {
        let starting = Starting::default();
        for (cluster, unit) in [("one", "a"), ("one", "b"), ("two", "b")] {
            starting.expect(cluster, unit);
        }
        assert!(starting.seen("a").is_empty());
        let mut last_of = starting.seen("b");
        last_of.sort();
        assert_eq!(last_of, ["one", "two"]);
        assert!(starting.seen("b").is_empty());
    }
}
