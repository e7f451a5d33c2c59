//! A map while it is read.

use std::collections::HashMap;

use model::{Map, Str, Value};

use crate::{Duplicates, Options, Order};

/// The pairs read so far.
pub(crate) struct Pairs {
    options: Options,
    entries: Vec<(Str, Value)>,
    /// Where each key is, once there are many.
    index: Option<HashMap<Str, usize>>,
}

/// Up to this many keys are searched one by one.
const SCAN_LIMIT: usize = 16;

impl Pairs {
    pub(crate) fn new(options: Options) -> Self {
        Pairs {
            options,
            entries: Vec::new(),
            index: None,
        }
    }

    /// Adds a pair. Returns the key if it was there before and may not be again.
    pub(crate) fn set(&mut self, key: Str, value: Value) -> Option<Str> {
        if self.options == Options::default() {
            // Sorting will find the duplicates, and the last one wins.
            self.entries.push((key, value));
            return None;
        }
        match self.position(&key) {
            Some(_) if self.options.duplicates == Duplicates::Refuse => return Some(key),
            Some(at) => self.entries[at].1 = value,
            None => {
                if let Some(index) = &mut self.index {
                    index.insert(key.clone(), self.entries.len());
                }
                self.entries.push((key, value));
            }
        }
        None
    }

    fn position(&mut self, key: &Str) -> Option<usize> {
        if self.entries.len() <= SCAN_LIMIT {
            return self.entries.iter().position(|(other, _)| other == key);
        }
        let entries = &self.entries;
        let number = || {
            entries
                .iter()
                .enumerate()
                .map(|(at, (key, _))| (key.clone(), at))
                .collect()
        };
        self.index.get_or_insert_with(number).get(key).copied()
    }

    pub(crate) fn finish(self) -> Map {
        if self.options.order == Order::Sorted {
            return Map::from_pairs(self.entries.into_iter());
        }
        let mut map = Map::with_capacity(self.entries.len());
        for (key, value) in self.entries {
            map.push(key, value);
        }
        map
    }
}
