//! The resources that were renamed, and so can be what a reference means.

use std::collections::HashMap;

use model::Str;

use crate::id::{Gvk, NO_NAMESPACE, ResId};
use crate::resource::{Affixes, Resource};
use crate::schema::Schema;

/// What is to be known of a resource to find out whether a reference means it.
pub(super) struct Candidate {
    pub(super) id: ResId,
    /// What it was before: names are looked up, kinds are compared.
    pub(super) previous_kinds: Vec<Gvk>,
    pub(super) original_namespace: Str,
    pub(super) affixes: Affixes,
}

/// The candidates, by the names they had.
pub(super) struct Candidates {
    pub(super) all: Vec<Candidate>,
    by_name: HashMap<Str, Vec<usize>>,
    /// All resources, renamed or not, by the namespace they were in first.
    by_original_namespace: HashMap<Str, Vec<(Str, bool)>>,
}

impl Candidates {
    pub(super) fn new(resources: &[Resource], schema: &Schema) -> Candidates {
        let mut candidates = Candidates {
            all: Vec::new(),
            by_name: HashMap::new(),
            by_original_namespace: HashMap::new(),
        };
        for resource in resources {
            let id = resource.id(schema);
            let original = resource.original_id(schema);
            let namespace = Str::new(original.effective_namespace());
            if namespace != NO_NAMESPACE {
                let known = candidates
                    .by_original_namespace
                    .entry(namespace.clone())
                    .or_default();
                let here = (Str::new(id.effective_namespace()), id.cluster_scoped);
                if known.last() != Some(&here) && !known.contains(&here) {
                    known.push(here);
                }
            }
            if resource.has_previous() {
                candidates.add(resource, id, namespace);
            }
        }
        candidates
    }

    fn add(&mut self, resource: &Resource, id: ResId, original_namespace: Str) {
        let at = self.all.len();
        for name in resource.previous_names() {
            let known = self.by_name.entry(name.into()).or_default();
            if known.last() != Some(&at) {
                known.push(at);
            }
        }
        // The kind hardly ever changes.
        let mut previous_kinds: Vec<Gvk> = Vec::with_capacity(1);
        for previous in resource.previous_ids() {
            if !previous_kinds.contains(&previous.gvk) {
                previous_kinds.push(previous.gvk);
            }
        }
        self.all.push(Candidate {
            id,
            previous_kinds,
            original_namespace,
            affixes: resource.affixes.clone(),
        });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Those that had the name, in order.
    pub(super) fn named(&self, name: &str) -> impl Iterator<Item = &Candidate> {
        let found = self.by_name.get(name).map_or(&[][..], Vec::as_slice);
        found.iter().map(|&at| &self.all[at])
    }

    /// Where the resources are now that were in a namespace first, and whether they belong to none.
    pub(super) fn first_in(&self, namespace: &str) -> &[(Str, bool)] {
        self.by_original_namespace
            .get(namespace)
            .map_or(&[][..], Vec::as_slice)
    }
}
