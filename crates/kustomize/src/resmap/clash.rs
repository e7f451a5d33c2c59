//! Objects with the same identity, which no two may have.

use std::collections::{HashMap, HashSet};

use super::ResMap;
use crate::accumulate::Spot;
use crate::id::Fingerprint;
use crate::problem::{Needs, Problem};
use crate::resource::Resource;
use crate::schema::Schema;

/// An object that may not be there, as others have its identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Clash {
    pub(crate) message: String,
    /// Where the object comes from.
    pub(crate) spot: Spot,
    /// Where the others come from.
    pub(crate) others: Vec<Spot>,
    pub(crate) needs: Needs,
    /// Whether the object that is left out can be meant by other names than the one that stays.
    pub(crate) is_missed: bool,
}

impl Clash {
    /// Something about an object and others.
    pub(crate) fn new(message: String, spot: Spot, others: Vec<Spot>) -> Clash {
        Clash {
            message,
            spot,
            others,
            needs: Needs::Nothing,
            is_missed: false,
        }
    }

    /// The same as the problem of a transformer that has made it.
    pub(crate) fn into_problem(self) -> Problem {
        let mut problem = Problem::from(self.message);
        problem.objects = self.others.into();
        problem.objects.push(self.spot);
        problem.needs = self.needs;
        problem
    }
}

impl ResMap {
    /// Adds resources; those whose identities are not new are left out and told.
    pub(crate) fn append_each(
        &mut self,
        new: impl IntoIterator<Item = Resource>,
        schema: &Schema,
    ) -> Vec<Clash> {
        let mut twice = Vec::new();
        for resource in new {
            let id = resource.id(schema).fingerprint();
            if self.known(schema).insert(id) {
                self.resources.push(resource);
            } else {
                twice.push(resource);
            }
        }
        clashes(&mut self.resources, twice, schema)
    }

    /// Sees that no two resources have the same identity. Of those that have, one stays.
    pub(crate) fn check_ids(&mut self, schema: &Schema) -> Vec<Clash> {
        let mut known = HashSet::with_capacity(self.resources.len());
        let mut ids = self
            .resources
            .iter()
            .map(|resource| resource.id(schema).fingerprint());
        if ids.all(|id| known.insert(id)) {
            self.known = Some(known);
            return Vec::new();
        }
        self.known = Some(HashSet::new());
        let all = std::mem::take(&mut self.resources);
        self.append_each(all, schema)
    }
}

/// The clashes of resources with the first of their identity. If it is not certain that this has it, and it is with another
/// one, that takes its place, so that it is known what others clash with.
fn clashes(resources: &mut [Resource], twice: Vec<Resource>, schema: &Schema) -> Vec<Clash> {
    if twice.is_empty() {
        return Vec::new();
    }
    let wanted = twice
        .iter()
        .map(|resource| (resource.id(schema).fingerprint(), None));
    let mut firsts: HashMap<Fingerprint, Option<usize>> = wanted.collect();
    for (at, resource) in resources.iter().enumerate() {
        if let Some(first) = firsts.get_mut(&resource.id(schema).fingerprint()) {
            first.get_or_insert(at);
        }
    }
    let told = twice.into_iter().map(|mut resource| {
        let id = resource.id(schema);
        let first = firsts.get(&id.fingerprint()).copied().flatten();
        let first = first.and_then(|at| resources.get_mut(at));
        let message = format!("may not add resource with an already registered id: {id}");
        let spot = resource.spot;
        let others = first.iter().map(|first| first.spot).collect();
        let needs = Needs::of_several(first.as_deref().into_iter().chain([&resource]));
        if let Some(first) = first
            && first.may_be_another()
            && !resource.may_be_another()
        {
            std::mem::swap(first, &mut resource);
        }
        Clash {
            is_missed: resource.may_be_another() || resource.has_previous(),
            needs,
            ..Clash::new(message, spot, others)
        }
    });
    told.collect()
}
