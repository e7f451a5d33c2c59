//! The identities of resources while they change.

use std::collections::{HashMap, HashSet};

use crate::id::Fingerprint;

/// Identities, some of which may be there several times.
#[derive(Default)]
pub(super) struct Ids {
    known: HashSet<Fingerprint>,
    /// How often one is there once more.
    more: HashMap<Fingerprint, usize>,
}

impl Ids {
    /// Adds one, and says whether it is new.
    pub(super) fn add(&mut self, id: Fingerprint) -> bool {
        let is_new = self.known.insert(id);
        if !is_new {
            *self.more.entry(id).or_default() += 1;
        }
        is_new
    }

    pub(super) fn remove(&mut self, id: Fingerprint) {
        match self.more.get_mut(&id).filter(|more| **more > 0) {
            Some(more) => *more -= 1,
            None => drop(self.known.remove(&id)),
        }
    }
}
