//! Objects with the same identity, which no two may have.

use std::borrow::Borrow;
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
}

impl Clash {
    /// Something about an object and others.
    pub(crate) fn new(message: String, spot: Spot, others: Vec<Spot>) -> Clash {
        Clash {
            message,
            spot,
            others,
            needs: Needs::Names,
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
        clashes(&self.resources, &twice, schema)
    }

    /// Sees that no two resources have the same identity. Of those that have, the first stays.
    pub(crate) fn check_ids(&mut self, schema: &Schema) -> Vec<Clash> {
        let (known, twice) = self.distinct(schema);
        let clashes = clashes(&self.resources, &twice, schema);
        if !clashes.is_empty() {
            let mut seen = HashSet::new();
            self.resources
                .retain(|resource| seen.insert(resource.id(schema).fingerprint()));
        }
        self.known = Some(known);
        clashes
    }

    /// The resources that have the identity of one before them.
    pub(crate) fn clashes(&self, schema: &Schema) -> Vec<Clash> {
        clashes(&self.resources, &self.distinct(schema).1, schema)
    }

    /// The identities, and the resources that have one of those before them.
    fn distinct(&self, schema: &Schema) -> (HashSet<Fingerprint>, Vec<&Resource>) {
        let mut known = HashSet::with_capacity(self.resources.len());
        let twice = self.resources.iter();
        let twice = twice.filter(|resource| !known.insert(resource.id(schema).fingerprint()));
        let twice = twice.collect();
        (known, twice)
    }
}

/// The clashes of resources with the first of their identity.
fn clashes<R: Borrow<Resource>>(resources: &[Resource], twice: &[R], schema: &Schema) -> Vec<Clash> {
    if twice.is_empty() {
        return Vec::new();
    }
    let wanted = twice
        .iter()
        .map(|resource| (resource.borrow().id(schema).fingerprint(), None));
    let mut firsts: HashMap<Fingerprint, Option<Spot>> = wanted.collect();
    for resource in resources {
        if let Some(first) = firsts.get_mut(&resource.id(schema).fingerprint()) {
            first.get_or_insert(resource.spot);
        }
    }
    let told = twice.iter().map(|resource| {
        let resource = resource.borrow();
        let id = resource.id(schema);
        let first = firsts.get(&id.fingerprint()).copied().flatten();
        let message = format!("may not add resource with an already registered id: {id}");
        Clash::new(message, resource.spot, first.into_iter().collect())
    });
    told.collect()
}
