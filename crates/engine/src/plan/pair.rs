//! Which live object belongs to which desired one, for units that know their objects by a label.

use std::collections::{BTreeMap, HashMap, HashSet};

use model::ObjectKey;

use super::input::{Desired, Live};

/// Desired and live objects side by side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pairs {
    /// What is there of each desired object, in the same order.
    pub live: Vec<Option<Live>>,
    /// What is there and not desired: what may be pruned, sorted by key.
    pub rest: Vec<Live>,
}

/// Finds for each desired object the live one.
///
/// If the server did not say whether a kind lives in namespaces, the object is looked for with and without one, or else it would be
/// taken for stale. An object that is served in several groups is there once, under a desired key if there is one.
pub fn pair(desired: &[Desired], live: Vec<Live>, default_namespace: &str) -> Pairs {
    let wanted: Vec<Vec<ObjectKey>> = desired
        .iter()
        .map(|desired| keys(desired, default_namespace))
        .collect();
    let mut by_key: BTreeMap<ObjectKey, Live> =
        live.into_iter().map(|live| (live.key.clone(), live)).collect();
    remove_duplicates(&mut by_key, &wanted.iter().flatten().collect());
    let take = |keys: &Vec<ObjectKey>, by_key: &mut BTreeMap<ObjectKey, Live>| {
        keys.iter().find_map(|key| by_key.remove(key))
    };
    let live = wanted.iter().map(|keys| take(keys, &mut by_key)).collect();
    Pairs {
        live,
        rest: by_key.into_values().collect(),
    }
}

/// The keys that an object may have, the likeliest first.
fn keys(desired: &Desired, default_namespace: &str) -> Vec<ObjectKey> {
    let written = ObjectKey::of(&desired.object);
    let with = |namespace: &str| ObjectKey {
        namespace: namespace.into(),
        ..written.clone()
    };
    let namespace = match written.namespace.as_str() {
        "" => default_namespace,
        namespace => namespace,
    };
    match desired.namespaced {
        Some(true) => vec![with(namespace)],
        Some(false) => vec![with("")],
        None => vec![with(namespace), with("")],
    }
}

/// Of the keys that one object is served under, those are dropped that nobody desires; one stays.
fn remove_duplicates(live: &mut BTreeMap<ObjectKey, Live>, wanted: &HashSet<&ObjectKey>) {
    let mut by_uid: HashMap<String, Vec<ObjectKey>> = HashMap::new();
    for (key, object) in live.iter().filter(|(_, object)| !object.uid.is_empty()) {
        by_uid.entry(object.uid.clone()).or_default().push(key.clone());
    }
    for keys in by_uid.into_values() {
        let mut left = keys.len();
        for key in keys.iter().rev().filter(|key| !wanted.contains(key)) {
            if left > 1 {
                live.remove(key);
                left -= 1;
            }
        }
    }
}
