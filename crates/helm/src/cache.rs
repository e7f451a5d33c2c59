//! What was made before, kept for as long as there is room.

use std::collections::HashMap;
use std::hash::Hash;
use std::mem;

/// Things by their names, no heavier than a limit altogether. What was not asked for the longest time goes first: things are kept in two
/// generations, what is found in the older one moves to the younger, and when the younger has half of the weight, the older is dropped.
#[derive(Debug)]
pub(crate) struct Cache<K, V> {
    young: HashMap<K, (V, usize)>,
    old: HashMap<K, (V, usize)>,
    /// The weight of the young ones.
    weight: usize,
    limit: usize,
}

impl<K: Hash + Eq, V: Clone> Cache<K, V> {
    pub(crate) fn new(limit: usize) -> Self {
        Cache {
            young: HashMap::new(),
            old: HashMap::new(),
            weight: 0,
            limit,
        }
    }

    pub(crate) fn get(&mut self, key: &K) -> Option<V> {
        if let Some((value, _)) = self.young.get(key) {
            return Some(value.clone());
        }
        let (key, (value, weight)) = self.old.remove_entry(key)?;
        self.insert(key, value.clone(), weight);
        Some(value)
    }

    pub(crate) fn insert(&mut self, key: K, value: V, weight: usize) {
        // What has no room beside others would only push them out.
        if weight > self.limit / 2 {
            return;
        }
        if self.weight + weight > self.limit / 2 {
            self.old = mem::take(&mut self.young);
            self.weight = 0;
        }
        self.weight += weight;
        if let Some((_, before)) = self.young.insert(key, (value, weight)) {
            self.weight -= before;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_stays_and_there_is_never_more_than_the_limit() {
        let mut cache = Cache::new(100);
        for number in 0..1000 {
            cache.insert(number, number, 10);
            assert_eq!(cache.get(&0), Some(0), "it was asked for each time");
            let weight = |things: &HashMap<i32, (i32, usize)>| {
                things.values().map(|(_, weight)| weight).sum::<usize>()
            };
            assert!(weight(&cache.young) + weight(&cache.old) <= 100);
        }
        assert_eq!(cache.get(&1), None);
        assert_eq!(cache.get(&999), Some(999));
        cache.insert(7, 7, 1000);
        assert_eq!(cache.get(&7), None, "it has no room");
    }
}
