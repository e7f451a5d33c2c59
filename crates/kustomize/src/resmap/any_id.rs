//! Finding resources by any identity that they have or had.

use std::collections::HashMap;

use model::Str;

use crate::id::{Key, ResId};
use crate::resource::Resource;
use crate::schema::Schema;

/// An index of resources by their identities and names, old and new. It is for one transformer, which tells it what it
/// changes.
pub(crate) struct AnyId {
    by_key: HashMap<Key, Vec<usize>>,
    by_name: HashMap<Str, Vec<usize>>,
}

impl AnyId {
    pub(crate) fn new(resources: &[Resource], schema: &Schema) -> AnyId {
        let mut index = AnyId {
            by_key: HashMap::with_capacity(resources.len()),
            by_name: HashMap::with_capacity(resources.len()),
        };
        for (at, resource) in resources.iter().enumerate() {
            index.add(at, resource, schema);
        }
        index
    }

    /// Adds a resource, or what is new about it: what it was called before still finds it.
    pub(crate) fn add(&mut self, at: usize, resource: &Resource, schema: &Schema) {
        if resource.is_empty() {
            return;
        }
        let ids = resource.previous_ids().chain([resource.id(schema)]);
        for id in ids {
            let named = self.by_name.entry(id.name.clone()).or_default();
            if named.last() != Some(&at) && !named.contains(&at) {
                named.push(at);
            }
            let same = self.by_key.entry(id.key()).or_default();
            if same.last() != Some(&at) && !same.contains(&at) {
                same.push(at);
            }
        }
    }

    /// The resources that have or had the identity.
    pub(crate) fn matches<'a>(&'a self, id: &ResId, resources: &'a [Resource]) -> Vec<usize> {
        let found = self.by_key.get(&id.key()).map_or(&[][..], Vec::as_slice);
        let alive = found.iter().copied().filter(|&at| !resources[at].is_empty());
        alive.collect()
    }

    /// The resources that have or had the name, in order.
    pub(crate) fn named(&self, name: &str) -> Vec<usize> {
        let mut found = self.by_name.get(name).cloned().unwrap_or_default();
        found.sort_unstable();
        found
    }
}
