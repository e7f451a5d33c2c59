//! Which units have to do with an object: all that want it, and all that have it.
//!
//! An object is deleted by nobody as long as another unit wants it. Of several that want it one holds it: who has applied it
//! last. The others tell that they share it, and leave it to that one until they have something new to apply.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use model::ObjectKey;
use parking_lot::Mutex;

use crate::plan::Shared;

/// All claims of all units.
#[derive(Default)]
pub(super) struct Claims {
    index: Mutex<Index>,
}

#[derive(Default)]
struct Index {
    /// By endpoint: names of clusters may lead to the same one.
    objects: HashMap<Arc<str>, HashMap<ObjectKey, Vec<Claim>>>,
    units: HashMap<Arc<str>, Claimed>,
}

/// What one unit claims, and where.
struct Claimed {
    endpoint: Arc<str>,
    objects: HashMap<ObjectKey, Standing>,
}

/// What a unit has to do with an object. The first of those that have it or have applied it holds it.
struct Claim {
    unit: Arc<str>,
    standing: Standing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// It is in its inventory. Whether it still wants it is not known: it was not built since we run.
    Had,
    /// It wants it for a while, as a hook.
    Runs,
    /// It wants it.
    Wants,
    /// It wants it and has applied it. Its inventory does not say so: its operation has not ended, or another has applied it since.
    Applied,
    /// It wants it and has it.
    Has,
    /// It has it, and does not want it any more.
    Leaves,
}

impl Standing {
    fn wants(self) -> bool {
        self != Standing::Leaves
    }

    /// Whether it is to be there for good.
    fn lasts(self) -> bool {
        self.wants() && self != Standing::Runs
    }

    fn has(self) -> bool {
        matches!(self, Standing::Had | Standing::Has)
    }

    fn may_hold(self) -> bool {
        self.has() || self == Standing::Applied
    }
}

impl Claims {
    /// A unit has these objects, as its inventory says, and wants these besides, as was stored of it; nothing is known of what else it
    /// wants. Says nothing of one of which it is.
    pub(super) fn had(
        &self,
        unit: &str,
        endpoint: &str,
        has: impl Iterator<Item = ObjectKey>,
        wants: impl Iterator<Item = ObjectKey>,
    ) {
        let mut index = self.index.lock();
        let known = index.units.get(unit);
        if known.is_none_or(|known| &*known.endpoint != endpoint) {
            let wants = wants.map(|key| (key, Standing::Wants));
            let has = has.map(|key| (key, Standing::Had));
            index.set(unit, endpoint, wants.chain(has).collect());
        }
    }

    /// Whether anything is known of a unit.
    pub(super) fn knows(&self, unit: &str) -> bool {
        self.index.lock().units.contains_key(unit)
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
            let before = before.and_then(|known| known.objects.get(&key));
            let otherwise = match before {
                _ if !lasts => Standing::Runs,
                Some(Standing::Has | Standing::Applied) => Standing::Applied,
                _ => Standing::Wants,
            };
            let has = |standing: &mut Standing| *standing = Standing::Has;
            objects.entry(key).and_modify(has).or_insert(otherwise);
        }
        index.set(unit, endpoint, objects)
    }

    /// A unit has applied an object, and holds it from now on.
    pub(super) fn take(&self, unit: &str, key: &ObjectKey) {
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
        if *standing == Standing::Wants {
            *standing = Standing::Applied;
        }
        if let Some(place) = claims.iter().position(|claim| &*claim.unit == unit) {
            claims[place].standing = *standing;
            claims[..=place].rotate_right(1);
        }
    }

    /// Nothing is known of a unit any more. The units for which that changes something are returned.
    pub(super) fn forget(&self, unit: &str) -> HashSet<Arc<str>> {
        let mut index = self.index.lock();
        let concerned = index.set(unit, "", HashMap::new());
        index.units.remove(unit);
        concerned
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
            Some((key.clone(), shared(unit, claims).or_else(inside)?))
        };
        known.objects.iter().filter_map(of).collect()
    }

    /// The other unit that wants an object of this one, or something in it.
    pub(super) fn wanted_by_another(&self, unit: &str, key: &ObjectKey) -> Option<String> {
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
        let before = before.filter(|_| stays).map(|known| known.objects);
        let objects = self.objects.entry(Arc::clone(&endpoint)).or_default();
        for (key, standing) in &now {
            let known = before.as_ref().and_then(|before| before.get(key));
            if known == Some(standing) {
                continue;
            }
            let claims = objects.entry(key.clone()).or_default();
            let others = claims.iter().filter(|claim| claim.unit != unit);
            concerned.extend(others.map(|claim| Arc::clone(&claim.unit)));
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
        let objects = now;
        self.units.insert(unit, Claimed { endpoint, objects });
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
        // Whoever waits for its namespace to be left may delete that now.
        if !key.namespace.is_empty()
            && let Some(claims) = objects.get(&namespace_of(key))
        {
            let waiting = claims.iter().filter(|claim| claim.standing == Standing::Leaves);
            concerned.extend(
                waiting
                    .map(|claim| Arc::clone(&claim.unit))
                    .filter(|other| other != unit),
            );
        }
        if objects.is_empty() {
            self.objects.remove(endpoint);
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> ObjectKey {
        ObjectKey {
            group: "".into(),
            kind: "ConfigMap".into(),
            namespace: "shop".into(),
            name: name.into(),
        }
    }

    fn set(claims: &Claims, unit: &str, wants: &[&str], has: &[&str]) -> Vec<String> {
        let keys = |names: &[&str]| names.iter().map(|name| key(name)).collect::<Vec<_>>();
        let wants = keys(wants).into_iter().map(|key| (key, true));
        let concerned = claims.set(unit, "here", wants, keys(has).into_iter());
        let mut concerned: Vec<_> = concerned.iter().map(ToString::to_string).collect();
        concerned.sort();
        concerned
    }

    fn sharing(claims: &Claims, unit: &str, name: &str) -> Option<(String, bool, bool)> {
        let shared = claims.shared(unit).remove(&key(name))?;
        Some((shared.unit, shared.has, shared.holds))
    }

    #[test]
    fn who_has_applied_an_object_last_holds_it_until_it_wants_it_no_more() {
        let claims = Claims::default();
        assert!(set(&claims, "a", &["x"], &["x"]).is_empty());
        assert_eq!(set(&claims, "b", &["x"], &[]), ["a"], "somebody else wants it");
        assert!(set(&claims, "b", &["x"], &[]).is_empty(), "that is known");
        assert_eq!(sharing(&claims, "a", "x"), Some(("b".to_owned(), false, false)));
        assert_eq!(sharing(&claims, "b", "x"), Some(("a".to_owned(), true, true)));
        claims.take("b", &key("x"));
        assert!(
            set(&claims, "b", &["x"], &[]).is_empty(),
            "its inventory comes later"
        );
        assert_eq!(sharing(&claims, "a", "x"), Some(("b".to_owned(), false, true)));
        assert_eq!(set(&claims, "b", &["x"], &["x"]), ["a"], "there it is");
        assert_eq!(sharing(&claims, "a", "x"), Some(("b".to_owned(), true, true)));
        assert_eq!(sharing(&claims, "b", "x"), Some(("a".to_owned(), true, false)));
        assert_eq!(
            set(&claims, "a", &["x"], &[]),
            ["b"],
            "it is not in its inventory any more"
        );
        assert_eq!(sharing(&claims, "b", "x"), Some(("a".to_owned(), false, false)));
        assert_eq!(set(&claims, "b", &[], &["x"]), ["a"]);
        assert_eq!(sharing(&claims, "a", "x"), None, "who leaves it has no say");
        assert_eq!(claims.wanted_by_another("b", &key("x")).as_deref(), Some("a"));
    }

    #[test]
    fn what_a_unit_had_counts_as_wanted_until_it_is_known_what_it_wants() {
        let claims = Claims::default();
        claims.had("b", "here", [key("x")].into_iter(), [key("y")].into_iter());
        set(&claims, "a", &[], &["x", "y"]);
        assert_eq!(claims.wanted_by_another("a", &key("x")).as_deref(), Some("b"));
        assert_eq!(sharing(&claims, "a", "y"), Some(("b".to_owned(), false, false)));
        assert_eq!(set(&claims, "b", &[], &["x"]), ["a"]);
        assert_eq!(claims.wanted_by_another("a", &key("x")), None);
        claims.had("b", "here", [key("x")].into_iter(), [key("y")].into_iter());
        assert_eq!(
            claims.wanted_by_another("a", &key("x")),
            None,
            "more is known than that"
        );
    }

    #[test]
    fn a_namespace_is_kept_for_what_others_want_in_it_and_who_has_it_hears_when_they_have_left() {
        let claims = Claims::default();
        let space = namespace_of(&key("x"));
        let none = std::iter::empty::<(ObjectKey, bool)>;
        claims.set(
            "a",
            "here",
            [(space.clone(), true)].into_iter(),
            [space.clone()].into_iter(),
        );
        set(&claims, "b", &["x", "y"], &[]);
        assert!(claims.shared("a").is_empty(), "it wants it itself");
        claims.set("a", "here", none(), [space.clone()].into_iter());
        assert_eq!(claims.shared("a")[&space].unit, "b");
        assert_eq!(claims.wanted_by_another("a", &space).as_deref(), Some("b"));
        assert_eq!(set(&claims, "b", &["y"], &[]), ["a"]);
        assert_eq!(claims.wanted_by_another("a", &space).as_deref(), Some("b"));
        assert_eq!(set(&claims, "b", &[], &[]), ["a"]);
        assert_eq!(claims.wanted_by_another("a", &space), None);
        assert!(claims.shared("a").is_empty());
    }

    #[test]
    fn hooks_of_the_same_name_are_nobodys_for_good() {
        let claims = Claims::default();
        let hook = || [(key("x"), false)].into_iter();
        claims.set("a", "here", hook(), std::iter::empty());
        claims.set("b", "here", hook(), std::iter::empty());
        assert_eq!(claims.lasts_for_another("a", &key("x")), None);
        claims.take("b", &key("x"));
        assert_eq!(claims.lasts_for_another("a", &key("x")), None);
        set(&claims, "c", &["x"], &[]);
        assert_eq!(claims.lasts_for_another("a", &key("x")).as_deref(), Some("c"));
        assert!(claims.in_group("a", "").contains_key("ConfigMap"));
        set(&claims, "c", &[], &["x"]);
        assert_eq!(
            claims.lasts_for_another("a", &key("x")),
            None,
            "it is about to go"
        );
    }

    #[test]
    fn a_unit_that_moves_or_goes_leaves_nothing_behind() {
        let claims = Claims::default();
        set(&claims, "a", &["x", "y"], &[]);
        set(&claims, "b", &["y"], &[]);
        let moved = claims.set("a", "there", [(key("x"), true)].into_iter(), std::iter::empty());
        assert_eq!(moved.len(), 1);
        assert!(claims.of("here", &key("x")).is_empty());
        assert_eq!(claims.of("there", &key("x")).len(), 1);
        assert_eq!(claims.of("here", &key("y")).len(), 1);
        assert!(claims.forget("a").is_empty() && claims.forget("b").is_empty());
        let index = claims.index.lock();
        assert!(index.objects.is_empty() && index.units.is_empty());
    }
}
