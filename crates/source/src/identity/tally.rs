//! How the cache of credentials is used, and for which objects.

use std::collections::BTreeMap;

/// An object that credentials are asked for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Involved {
    /// Its kind.
    pub kind: String,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl Involved {
    /// An object by its kind, namespace and name.
    pub fn new(kind: &str, namespace: &str, name: &str) -> Self {
        Involved {
            kind: kind.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        }
    }
}

/// How often what was asked for was kept, and how often not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Events {
    /// It was.
    pub hits: u64,
    /// It was not.
    pub misses: u64,
}

/// What has been counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How much is kept now.
    pub items: usize,
    /// How much had to make room.
    pub evictions: u64,
    /// How often something was given.
    pub successes: u64,
    /// How often nothing was.
    pub failures: u64,
    /// By the object that it was for.
    pub events: BTreeMap<Involved, Events>,
}

impl Tally {
    pub(super) fn count(&mut self, involved: Option<&Involved>, was_kept: bool, is_success: bool) {
        match is_success {
            true => self.successes += 1,
            false => self.failures += 1,
        }
        if let Some(involved) = involved {
            let events = self.events.entry(involved.clone()).or_default();
            match was_kept {
                true => events.hits += 1,
                false => events.misses += 1,
            }
        }
    }
}
