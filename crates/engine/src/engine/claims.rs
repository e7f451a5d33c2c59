//! Which units have to do with an object: all that want it, and all that have it.
//!
//! An object is deleted by nobody as long as another unit wants it and may have it: a unit from which the server has not accepted the
//! object has no say (see [`Standing`]). Of several that want it one holds it: who has applied it
//! last. The others tell that they share it, and leave it to that one until they have something new to apply.

mod standing;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use model::{Digest, ObjectKey};
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::plan::Shared;

use standing::Standing;

/// How long an object stays because it is not known whether another unit may write it.
pub(super) const DOUBT: Duration = Duration::from_secs(60);

/// How long an object stays at most while the server does not answer. Whoever can keep the server from answering must not keep others
/// from pruning for ever.
const LONGEST_DOUBT: Duration = Duration::from_secs(60 * 60);

/// How long the answer of the server counts that a unit may not write an object. Rights that are granted later count after that.
const REFUSED: Duration = Duration::from_secs(60);

/// All claims of all units.
#[derive(Default)]
pub(super) struct Claims {
    index: Mutex<Index>,
    doubts: Mutex<Doubts>,
}

/// By unit, the objects that it does not prune for now.
type Doubts = HashMap<Arc<str>, HashMap<ObjectKey, Doubt>>;

/// An object is not pruned for now.
struct Doubt {
    /// The unit that may want it.
    other: Arc<str>,
    since: Instant,
    until: Instant,
}

#[derive(Default)]
struct Index {
    /// By realm: names of clusters may lead to the same one.
    objects: HashMap<Arc<str>, HashMap<ObjectKey, Vec<Claim>>>,
    units: HashMap<Arc<str>, Claimed>,
}

/// What one unit claims, and where.
struct Claimed {
    endpoint: Arc<str>,
    objects: HashMap<ObjectKey, Standing>,
    /// The objects that the server did not let it write. Each of them is a claim, so that there are no more than these.
    refused: HashMap<ObjectKey, Refused>,
}

/// The server does not let a unit write an object.
struct Refused {
    /// The identity and the source of the unit when the server was asked.
    basis: Digest,
    until: Instant,
}

/// What a unit has to do with an object. The first of those that have it or have applied it holds it.
struct Claim {
    unit: Arc<str>,
    standing: Standing,
}

impl Claims {
    /// A unit has these objects, as its inventory says, some of which something else speaks for, and wants these besides, as was stored of
    /// it; nothing is known of what else it wants. Says nothing of a unit that is known.
    pub(super) fn had(
        &self,
        unit: &str,
        endpoint: &str,
        has: impl Iterator<Item = (ObjectKey, bool)>,
        wants: impl Iterator<Item = ObjectKey>,
    ) {
        let mut index = self.index.lock();
        let known = index.units.get(unit);
        if known.is_none_or(|known| &*known.endpoint != endpoint) {
            let wants = wants.map(|key| (key, Standing::Wants));
            let has = has.map(|(key, is_proven)| match is_proven {
                true => (key, Standing::Had),
                false => (key, Standing::UNPROVEN),
            });
            index.set(unit, endpoint, wants.chain(has).collect());
        }
    }

    /// Those of these objects about which a unit has no say, in order.
    pub(super) fn without_say<'k>(
        &self,
        unit: &str,
        keys: impl Iterator<Item = &'k ObjectKey>,
    ) -> Vec<ObjectKey> {
        let index = self.index.lock();
        let known = index.units.get(unit);
        let has_say = |key: &ObjectKey| {
            let standing = known.and_then(|known| known.objects.get(key));
            standing.is_some_and(|standing| standing.wants())
        };
        let mut without: Vec<_> = keys.filter(|key| !has_say(key)).cloned().collect();
        without.sort();
        without
    }

    /// Whether anything is known of a unit.
    pub(super) fn knows(&self, unit: &str) -> bool {
        self.index.lock().units.contains_key(unit)
    }

    /// Whether a unit claims what it does in this realm.
    pub(super) fn is_in(&self, unit: &str, realm: &str) -> bool {
        let index = self.index.lock();
        let known = index.units.get(unit);
        known.is_some_and(|known| &*known.endpoint == realm)
    }

    /// A unit wants and has these objects from now on, and no others; of those that it wants, whether they are to last. The units for which
    /// that changes something are returned.
    pub(super) fn set(
        &self,
        unit: &str,
        endpoint: &str,
        wants: impl Iterator<Item = (ObjectKey, bool)>,
        has: impl Iterator<Item = ObjectKey>,
    ) -> HashSet<Arc<str>> {
        let mut index = self.index.lock();
        let mut objects: HashMap<_, _> = has.map(|key| (key, Standing::Leaves)).collect();
        let before = index.units.get(unit).filter(|known| &*known.endpoint == endpoint);
        for (key, lasts) in wants {
            let before = before.and_then(|known| known.objects.get(&key)).copied();
            let recorded = objects.contains_key(&key);
            objects.insert(key, Standing::listed(before, lasts, recorded));
        }
        if let Some(doubted) = self.doubts.lock().get_mut(unit) {
            doubted.retain(|key, _| objects.contains_key(key));
        }
        index.set(unit, endpoint, objects)
    }

    /// A unit is about to apply an object that the server has accepted from it, or has applied it, and holds it from now on.
    pub(super) fn take(&self, unit: &str, key: &ObjectKey, is_applied: bool) {
        let mut index = self.index.lock();
        let Index { objects, units } = &mut *index;
        let Some(known) = units.get_mut(unit) else {
            return;
        };
        let claims = objects
            .get_mut(&known.endpoint)
            .and_then(|objects| objects.get_mut(key));
        let (Some(claims), Some(standing)) = (claims, known.objects.get_mut(key)) else {
            return;
        };
        if is_applied {
            *standing = standing.accepted();
        }
        if *standing == Standing::Wants {
            *standing = Standing::Applied;
        }
        let Some(place) = claims.iter().position(|claim| &*claim.unit == unit) else {
            return;
        };
        claims[place].standing = *standing;
        if standing.wants() {
            claims[..=place].rotate_right(1);
        }
    }

    /// The server has accepted these objects from a unit, or refused them. The units for which that changes something are returned.
    pub(super) fn judged(
        &self,
        unit: &str,
        judged: impl Iterator<Item = (ObjectKey, bool)>,
    ) -> HashSet<Arc<str>> {
        let now = |before: Standing, is_accepted| match is_accepted {
            true => before.accepted(),
            false => before.refused(),
        };
        self.index.lock().change(unit, judged, now)
    }

    /// The server would let a unit write this object, which is in its inventory. The units for which that changes something are returned.
    pub(super) fn may_write(&self, unit: &str, key: ObjectKey) -> HashSet<Arc<str>> {
        let now = |before: Standing, ()| match before.is_unproven() {
            true => Standing::MayWrite,
            false => before,
        };
        self.index.lock().change(unit, std::iter::once((key, ())), now)
    }

    /// The server does not let a unit of this identity and source write an object, which only its inventory speaks for.
    pub(super) fn refuse(&self, unit: &str, key: &ObjectKey, basis: Digest) {
        let mut index = self.index.lock();
        let Some(known) = index.units.get_mut(unit) else {
            return;
        };
        let until = Instant::now() + REFUSED;
        if known
            .objects
            .get(key)
            .is_some_and(|standing| standing.is_unproven())
        {
            known.refused.insert(key.clone(), Refused { basis, until });
        }
    }

    /// Whether the server said a moment ago that a unit of this identity and source may not write an object.
    pub(super) fn is_refused(&self, unit: &str, key: &ObjectKey, basis: Digest) -> bool {
        let index = self.index.lock();
        let refused = index.units.get(unit).and_then(|known| known.refused.get(key));
        refused.is_some_and(|refused| refused.basis == basis && Instant::now() < refused.until)
    }

    /// Keeps an object of a unit for now, because the server did not say whether the other unit may write it. Returns false if that
    /// has been so for too long.
    pub(super) fn doubt(&self, unit: &str, key: ObjectKey, other: Arc<str>) -> bool {
        let now = Instant::now();
        let mut doubts = self.doubts.lock();
        let doubted = doubts.entry(Arc::from(unit)).or_default();
        let doubt = doubted.entry(key).or_insert_with(|| Doubt {
            other: Arc::clone(&other),
            since: now,
            until: now,
        });
        let lasts = now < doubt.since + LONGEST_DOUBT;
        if lasts {
            (doubt.other, doubt.until) = (other, now + DOUBT);
        }
        lasts
    }

    /// The server has answered who may write an object of a unit.
    pub(super) fn end_doubt(&self, unit: &str, key: &ObjectKey) {
        if let Some(doubted) = self.doubts.lock().get_mut(unit) {
            doubted.remove(key);
        }
    }

    /// The other unit that may want an object of this one, if that is in doubt.
    fn doubted(&self, unit: &str, key: &ObjectKey) -> Option<String> {
        let doubts = self.doubts.lock();
        let doubt = doubts.get(unit)?.get(key)?;
        (Instant::now() < doubt.until).then(|| doubt.other.to_string())
    }

    /// The claims of other units to an object of this one, or to what would go with it, that only their inventories speak for. None if
    /// another unit has a say already.
    pub(super) fn unproven(&self, unit: &str, key: &ObjectKey) -> Vec<(Arc<str>, ObjectKey)> {
        if self.wanted_by_another(unit, key).is_some() {
            return Vec::new();
        }
        let index = self.index.lock();
        let known = index.units.get(unit);
        let Some(objects) = known.and_then(|known| index.objects.get(&known.endpoint)) else {
            return Vec::new();
        };
        let of = |key: &ObjectKey, claims: &[Claim]| -> Vec<_> {
            let is_unproven = |claim: &&Claim| &*claim.unit != unit && claim.standing.is_unproven();
            let unproven = claims.iter().filter(is_unproven);
            unproven
                .map(|claim| (Arc::clone(&claim.unit), key.clone()))
                .collect()
        };
        let itself = objects.get(key).map_or_else(Vec::new, |claims| of(key, claims));
        let defined = key.name.split_once('.').filter(|_| is_definition(key));
        if !is_namespace(key) && defined.is_none() {
            return itself;
        }
        let goes_along = |other: &ObjectKey| match defined {
            Some((_, group)) => other.group == group,
            None => other.namespace == key.name,
        };
        let along = objects.iter().filter(|(other, _)| goes_along(other));
        let along = along.flat_map(|(other, claims)| of(other, claims));
        itself.into_iter().chain(along).collect()
    }

    /// Nothing is known of a unit any more. The units for which that changes something are returned.
    pub(super) fn forget(&self, unit: &str) -> HashSet<Arc<str>> {
        let mut index = self.index.lock();
        let concerned = index.set(unit, "", HashMap::new());
        index.units.remove(unit);
        self.doubts.lock().remove(unit);
        concerned
    }

    /// How much is kept, over all units.
    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        let index = self.index.lock();
        index.units.len() + index.objects.len() + self.doubts.lock().len()
    }

    /// The units that have to do with an object.
    pub(super) fn of(&self, endpoint: &str, key: &ObjectKey) -> Vec<Arc<str>> {
        let index = self.index.lock();
        let claims = index.objects.get(endpoint).and_then(|objects| objects.get(key));
        let claims = claims.into_iter().flatten();
        claims.map(|claim| Arc::clone(&claim.unit)).collect()
    }

    /// The objects of a unit that others want too. A namespace that it does not want any more, and in which others want something, is one of
    /// them: what is in it would go with it.
    pub(super) fn shared(&self, unit: &str) -> HashMap<ObjectKey, Shared> {
        let index = self.index.lock();
        let Some(known) = index.units.get(unit) else {
            return HashMap::new();
        };
        let Some(objects) = index.objects.get(&known.endpoint) else {
            return HashMap::new();
        };
        let of = |(key, standing): (&ObjectKey, &Standing)| {
            let claims = objects.get(key).map_or(&[][..], Vec::as_slice);
            let inside = || match standing {
                Standing::Leaves => inhabitant(unit, key, objects),
                _ => None,
            };
            let in_doubt = || {
                self.doubted(unit, key).map(|other| Shared {
                    unit: other,
                    has: false,
                    holds: false,
                })
            };
            let shared = shared(unit, claims).or_else(inside).or_else(in_doubt)?;
            Some((key.clone(), shared))
        };
        known.objects.iter().filter_map(of).collect()
    }

    /// The other unit that wants an object of this one, or something in it.
    pub(super) fn wanted_by_another(&self, unit: &str, key: &ObjectKey) -> Option<String> {
        if let Some(other) = self.doubted(unit, key) {
            return Some(other);
        }
        let index = self.index.lock();
        let known = index.units.get(unit)?;
        let objects = index.objects.get(&known.endpoint)?;
        let claims = objects.get(key).map_or(&[][..], Vec::as_slice);
        let other = shared(unit, claims).or_else(|| inhabitant(unit, key, objects))?;
        Some(other.unit)
    }

    /// The other unit that has or wants an object for good which to this one is a hook.
    pub(super) fn lasts_for_another(&self, unit: &str, key: &ObjectKey) -> Option<String> {
        let index = self.index.lock();
        let known = index.units.get(unit)?;
        let claims = index.objects.get(&known.endpoint)?.get(key)?;
        let mut others = claims.iter().filter(|claim| &*claim.unit != unit);
        let other = others.find(|claim| claim.standing.lasts())?;
        Some(other.unit.to_string())
    }

    /// Another unit that wants objects of a kind.
    pub(super) fn kind_wanted_by_another(&self, unit: &str, group: &str, kind: &str) -> Option<String> {
        let index = self.index.lock();
        let known = index.units.get(unit)?;
        let objects = index.objects.get(&known.endpoint)?.iter();
        let mut of_kind = objects
            .filter(|(key, _)| key.group == group && key.kind == kind)
            .flat_map(|(_, claims)| claims);
        let other = of_kind.find(|claim| &*claim.unit != unit && claim.standing.wants())?;
        Some(other.unit.to_string())
    }

    /// Other units that want objects of a group, with the kinds of these.
    pub(super) fn in_group(&self, unit: &str, group: &str) -> HashMap<String, Arc<str>> {
        let index = self.index.lock();
        let known = index.units.get(unit);
        let objects = known.and_then(|known| index.objects.get(&known.endpoint));
        let mut kinds = HashMap::new();
        for (key, claims) in objects
            .into_iter()
            .flatten()
            .filter(|(key, _)| key.group == group)
        {
            let mut others = claims.iter().filter(|claim| &*claim.unit != unit);
            if let Some(other) = others.find(|claim| claim.standing.wants()) {
                kinds
                    .entry(key.kind.to_string())
                    .or_insert(Arc::clone(&other.unit));
            }
        }
        kinds
    }
}

/// Another unit that wants something in a namespace.
fn inhabitant(unit: &str, key: &ObjectKey, objects: &HashMap<ObjectKey, Vec<Claim>>) -> Option<Shared> {
    if !is_namespace(key) {
        return None;
    }
    let mut inside = objects
        .iter()
        .filter(|(other, _)| other.namespace == key.name)
        .flat_map(|(_, claims)| claims);
    let other = inside.find(|claim| &*claim.unit != unit && claim.standing.wants())?;
    Some(Shared {
        unit: other.unit.to_string(),
        has: false,
        holds: false,
    })
}

fn is_namespace(key: &ObjectKey) -> bool {
    key.group.is_empty() && key.kind == "Namespace"
}

fn is_definition(key: &ObjectKey) -> bool {
    key.kind == "CustomResourceDefinition"
}

/// The namespace that an object is in.
fn namespace_of(key: &ObjectKey) -> ObjectKey {
    ObjectKey {
        group: "".into(),
        kind: "Namespace".into(),
        namespace: "".into(),
        name: key.namespace.clone(),
    }
}

impl Index {
    /// Changes the standings of a unit. The units for which that changes something are returned.
    fn change<T>(
        &mut self,
        unit: &str,
        objects: impl Iterator<Item = (ObjectKey, T)>,
        now: impl Fn(Standing, T) -> Standing,
    ) -> HashSet<Arc<str>> {
        let Some(known) = self.units.get(unit) else {
            return HashSet::new();
        };
        let changed = objects.filter_map(|(key, change)| {
            let before = *known.objects.get(&key)?;
            let now = now(before, change);
            (now != before).then_some((key, now))
        });
        let changed: Vec<_> = changed.collect();
        if changed.is_empty() {
            return HashSet::new();
        }
        let endpoint = Arc::clone(&known.endpoint);
        let mut objects = known.objects.clone();
        objects.extend(changed);
        self.set(unit, &endpoint, objects)
    }

    fn set(&mut self, unit: &str, endpoint: &str, now: HashMap<ObjectKey, Standing>) -> HashSet<Arc<str>> {
        let mut concerned = HashSet::new();
        let (unit, before) = match self.units.remove_entry(unit) {
            Some((unit, known)) => (unit, Some(known)),
            None => (Arc::from(unit), None),
        };
        let stays = before.as_ref().is_some_and(|known| &*known.endpoint == endpoint);
        if let Some(known) = &before {
            if stays && known.objects == now {
                self.units.extend(before.map(|known| (unit, known)));
                return concerned;
            }
            for key in known.objects.keys() {
                if !stays || !now.contains_key(key) {
                    self.remove(&known.endpoint, key, &unit, &mut concerned);
                }
            }
        }
        let endpoint: Arc<str> = match &before {
            Some(known) if stays => Arc::clone(&known.endpoint),
            _ => Arc::from(endpoint),
        };
        let before = before.filter(|_| stays);
        let (before, mut refused) = match before {
            Some(known) => (Some(known.objects), known.refused),
            None => (None, HashMap::new()),
        };
        // Another claim is another question.
        refused.retain(|key, _| {
            let before = before.as_ref().and_then(|before| before.get(key));
            before.is_some() && before == now.get(key)
        });
        let objects = self.objects.entry(Arc::clone(&endpoint)).or_default();
        for (key, standing) in &now {
            let known = before.as_ref().and_then(|before| before.get(key));
            if known == Some(standing) {
                continue;
            }
            if known.is_some_and(|known| known.wants()) && !standing.wants() {
                leavers(objects, key, &unit, &mut concerned);
            }
            let claims = objects.entry(key.clone()).or_default();
            // What counts for nothing is of no interest to others, unless it did before.
            if known.is_some_and(|known| known.counts()) || standing.counts() {
                let others = claims.iter().filter(|claim| claim.unit != unit);
                concerned.extend(others.map(|claim| Arc::clone(&claim.unit)));
            }
            match claims.iter_mut().find(|claim| claim.unit == unit) {
                Some(claim) => claim.standing = *standing,
                None => claims.push(Claim {
                    unit: Arc::clone(&unit),
                    standing: *standing,
                }),
            }
        }
        if objects.is_empty() {
            self.objects.remove(&endpoint);
        }
        let claimed = Claimed {
            endpoint,
            objects: now,
            refused,
        };
        self.units.insert(unit, claimed);
        concerned
    }

    fn remove(
        &mut self,
        endpoint: &Arc<str>,
        key: &ObjectKey,
        unit: &Arc<str>,
        concerned: &mut HashSet<Arc<str>>,
    ) {
        let Some(objects) = self.objects.get_mut(endpoint) else {
            return;
        };
        if let Some(claims) = objects.get_mut(key) {
            claims.retain(|claim| claim.unit != *unit);
            concerned.extend(claims.iter().map(|claim| Arc::clone(&claim.unit)));
            if claims.is_empty() {
                objects.remove(key);
            }
        }
        leavers(objects, key, unit, concerned);
        if objects.is_empty() {
            self.objects.remove(endpoint);
        }
    }
}

/// Adds the units that wait for the namespace of an object to be left: they may delete it now.
fn leavers(
    objects: &HashMap<ObjectKey, Vec<Claim>>,
    key: &ObjectKey,
    unit: &Arc<str>,
    concerned: &mut HashSet<Arc<str>>,
) {
    if key.namespace.is_empty() {
        return;
    }
    let claims = objects.get(&namespace_of(key)).into_iter().flatten();
    let waiting = claims.filter(|claim| claim.standing == Standing::Leaves && claim.unit != *unit);
    concerned.extend(waiting.map(|claim| Arc::clone(&claim.unit)));
}

/// What others have to do with an object of a unit; nothing if none of them wants it.
fn shared(unit: &str, claims: &[Claim]) -> Option<Shared> {
    let is_other = |claim: &&Claim| &*claim.unit != unit && claim.standing.wants();
    let others = || claims.iter().filter(is_other);
    let holder = claims.iter().find(|claim| claim.standing.may_hold());
    let holder = holder.filter(is_other);
    let other = holder.or_else(|| others().next())?;
    Some(Shared {
        unit: other.unit.to_string(),
        has: others().any(|claim| claim.standing.has()),
        holds: holder.is_some(),
    })
}
