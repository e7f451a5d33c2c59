//! The resources of a build in order, with indexes instead of searches.

mod absorb;
mod any_id;
mod clash;
mod selector;

pub(crate) use any_id::AnyId;
pub(crate) use clash::Clash;
pub(crate) use selector::{Matcher, Names, Selector, Wrong, joined};

use std::collections::HashSet;

use crate::id::Fingerprint;
use crate::resource::Resource;
use crate::schema::Schema;

/// Whether a change leaves the identity of a resource alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeepsId {
    Yes,
    No,
}

/// Resources in the order they were added, no two with the same identity.
#[derive(Clone, Debug, Default)]
pub(crate) struct ResMap {
    resources: Vec<Resource>,
    /// The identities of all of them; `None` when they may have changed since.
    known: Option<HashSet<Fingerprint>>,
}

impl ResMap {
    pub(crate) fn new() -> ResMap {
        ResMap {
            resources: Vec::new(),
            known: Some(HashSet::new()),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.resources.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.resources.is_empty()
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Resource> {
        self.resources.iter()
    }

    pub(crate) fn as_slice(&self) -> &[Resource] {
        &self.resources
    }

    /// The resources for change; their identities may change as well.
    pub(crate) fn as_mut_slice(&mut self) -> &mut [Resource] {
        self.known = None;
        &mut self.resources
    }

    /// One resource for change.
    pub(crate) fn change(&mut self, at: usize, keeps: KeepsId) -> &mut Resource {
        if keeps == KeepsId::No {
            self.known = None;
        }
        &mut self.resources[at]
    }

    /// Whether identities may have changed since they were last compared, so that two resources may have the same.
    pub(crate) fn may_clash(&self) -> bool {
        self.known.is_none()
    }

    /// The resources for changes that leave their identities alone.
    pub(crate) fn contents_mut(&mut self) -> &mut [Resource] {
        &mut self.resources
    }

    /// Adds all resources of another; those whose identities are not new are left out and told.
    pub(crate) fn append_all(&mut self, other: ResMap, schema: &Schema) -> Vec<Clash> {
        if self.is_empty() {
            let known = other.known.is_some();
            *self = other;
            return if known { Vec::new() } else { self.check_ids(schema) };
        }
        self.resources.reserve(other.len());
        self.append_each(other.resources, schema)
    }

    fn known(&mut self, schema: &Schema) -> &mut HashSet<Fingerprint> {
        let resources = &self.resources;
        self.known.get_or_insert_with(|| {
            resources
                .iter()
                .map(|resource| resource.id(schema).fingerprint())
                .collect()
        })
    }

    /// Notes that a change was lost of which nobody knows what it is for.
    pub(crate) fn lose_change(&mut self) {
        self.resources.iter_mut().for_each(Resource::lose_change);
    }

    /// The same of one that may have renamed any of them.
    pub(crate) fn lose_names(&mut self) {
        self.resources.iter_mut().for_each(Resource::lose_name);
    }

    /// Whether a change to any of them was lost.
    pub(crate) fn is_unsure(&self) -> bool {
        self.resources.iter().any(Resource::is_unsure)
    }

    /// Drops resources of which nothing is left.
    pub(crate) fn drop_empties(&mut self) {
        let before = self.resources.len();
        self.resources.retain(|resource| !resource.is_empty());
        if self.resources.len() != before {
            self.known = None;
        }
    }

    pub(crate) fn retain(&mut self, keep: impl FnMut(&Resource) -> bool) {
        self.known = None;
        self.resources.retain(keep);
    }

    /// Puts the resources into another order.
    pub(crate) fn sort_by_cached_key<K: Ord>(&mut self, key: impl FnMut(&Resource) -> K) {
        self.resources.sort_by_cached_key(key);
    }

    pub(crate) fn into_resources(self) -> Vec<Resource> {
        self.resources
    }
}
