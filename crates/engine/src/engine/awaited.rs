//! Objects that units wait for and do not have themselves: the health checks of a unit may name what others make.

use std::collections::{HashMap, HashSet};

use model::ObjectKey;
use parking_lot::Mutex;

/// A cluster and an object in it.
type Place = (String, ObjectKey);

/// Which units wait for objects that are not theirs.
#[derive(Default)]
pub(super) struct Awaited {
    index: Mutex<Index>,
}

#[derive(Default)]
struct Index {
    units: HashMap<Place, HashSet<String>>,
    places: HashMap<String, HashSet<Place>>,
}

impl Awaited {
    /// A unit waits for these and no others from now on.
    pub(super) fn set(&self, unit: &str, cluster: &str, objects: HashSet<ObjectKey>) {
        let places: HashSet<Place> = objects.into_iter().map(|key| (cluster.to_owned(), key)).collect();
        let mut index = self.index.lock();
        if index.places.get(unit).unwrap_or(&HashSet::new()) == &places {
            return;
        }
        for place in index.places.remove(unit).unwrap_or_default() {
            if let Some(units) = index.units.get_mut(&place) {
                units.remove(unit);
                if units.is_empty() {
                    index.units.remove(&place);
                }
            }
        }
        for place in &places {
            let units = index.units.entry(place.clone()).or_default();
            units.insert(unit.to_owned());
        }
        if !places.is_empty() {
            index.places.insert(unit.to_owned(), places);
        }
    }

    /// How much is kept, over all units.
    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        let index = self.index.lock();
        index.units.len() + index.places.len()
    }

    /// The units that wait for an object.
    pub(super) fn by(&self, cluster: &str, key: &ObjectKey) -> Vec<String> {
        let index = self.index.lock();
        if index.units.is_empty() {
            return Vec::new();
        }
        let units = index.units.get(&(cluster.to_owned(), key.clone()));
        units.into_iter().flatten().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_waits_for_what_it_said_last() {
        let key = |name: &str| ObjectKey {
            group: "".into(),
            kind: "ConfigMap".into(),
            namespace: "shop".into(),
            name: name.into(),
        };
        let awaited = Awaited::default();
        awaited.set("one", "", HashSet::from([key("a"), key("b")]));
        awaited.set("other", "", HashSet::from([key("b")]));
        awaited.set("one", "", HashSet::from([key("b"), key("c")]));
        assert!(awaited.by("", &key("a")).is_empty());
        assert_eq!(awaited.by("", &key("b")).len(), 2);
        assert_eq!(awaited.by("", &key("c")), ["one"]);
        assert!(awaited.by("elsewhere", &key("c")).is_empty());
        awaited.set("one", "elsewhere", HashSet::from([key("c")]));
        assert!(awaited.by("", &key("c")).is_empty());
        assert_eq!(awaited.by("elsewhere", &key("c")), ["one"]);
        awaited.set("one", "", HashSet::new());
        awaited.set("other", "", HashSet::new());
        let index = awaited.index.lock();
        assert!(index.units.is_empty() && index.places.is_empty());
    }
}
