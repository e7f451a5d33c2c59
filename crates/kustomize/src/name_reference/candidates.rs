//! The resources that were renamed, and so can be what a reference means.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use model::Str;
use yaml::node::Text;

use crate::id::{Gvk, NO_NAMESPACE, ResId, effective_namespace};
use crate::resmap::Positions;
use crate::resource::{Affixes, Resource};
use crate::schema::Schema;

/// What is to be known of a resource to find out whether a reference means it.
pub(super) struct Candidate {
    pub(super) name: Text,
    /// As it is written.
    pub(super) namespace: Text,
    pub(super) cluster_scoped: bool,
    /// As it was written first; `None` if it belonged to none.
    original_namespace: Option<Text>,
    pub(super) affixes: Affixes,
    pub(super) kinds: Rc<Kinds>,
}

/// The kinds of a resource, which are the same for very many.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Kinds {
    pub(super) now: Gvk,
    pub(super) before: Vec<Gvk>,
}

impl Candidate {
    /// The namespace it is in as far as references go.
    pub(super) fn effective_namespace(&self) -> &str {
        effective_namespace(&self.namespace, self.cluster_scoped)
    }

    /// The one that it was in first.
    pub(super) fn original_namespace(&self) -> &str {
        let written = self.original_namespace.as_deref();
        effective_namespace(written.unwrap_or_default(), written.is_none())
    }

    /// What identifies it, for messages.
    pub(super) fn id(&self) -> ResId {
        ResId {
            gvk: self.kinds.now.clone(),
            name: (&self.name).into(),
            namespace: (&self.namespace).into(),
            cluster_scoped: self.cluster_scoped,
        }
    }
}

/// The candidates, by the names they had.
pub(super) struct Candidates {
    /// One for each resource that was renamed, at its position.
    all: Vec<Option<Candidate>>,
    by_name: HashMap<Text, Positions>,
    kinds: HashSet<Rc<Kinds>>,
    /// All resources, renamed or not, by the namespace they were in first.
    by_original_namespace: HashMap<Str, Vec<(Str, bool)>>,
}

impl Candidates {
    /// Takes the prefixes and suffixes of the resources: nobody asks for them later.
    pub(super) fn new(resources: &mut [Resource], schema: &Schema) -> Candidates {
        let mut candidates = Candidates {
            all: Vec::with_capacity(resources.len()),
            by_name: HashMap::new(),
            kinds: HashSet::new(),
            by_original_namespace: HashMap::new(),
        };
        for resource in resources {
            let id = resource.id(schema);
            let original = resource.original_id(schema);
            let namespace = original.effective_namespace();
            if namespace != NO_NAMESPACE {
                candidates.add_namespace(namespace, &id);
            }
            let candidate = resource
                .has_previous()
                .then(|| candidates.candidate(resource, id));
            candidates.all.push(candidate);
        }
        candidates
    }

    fn add_namespace(&mut self, original: &str, id: &ResId) {
        let here = (id.effective_namespace(), id.cluster_scoped);
        let is_here =
            |(namespace, cluster_scoped): &(Str, bool)| (namespace.as_str(), *cluster_scoped) == here;
        let known = match self.by_original_namespace.get_mut(original) {
            Some(known) => known,
            None => self.by_original_namespace.entry(original.into()).or_default(),
        };
        if !known.iter().any(is_here) {
            known.push((here.0.into(), here.1));
        }
    }

    fn candidate(&mut self, resource: &mut Resource, id: ResId) -> Candidate {
        let at = self.all.len();
        for name in resource.previous_names() {
            self.by_name.entry(name.clone()).or_default().add(at);
        }
        // The kind hardly ever changes.
        let mut before: Vec<Gvk> = Vec::with_capacity(1);
        for previous in resource.previous_ids() {
            if !before.contains(&previous.gvk) {
                before.push(previous.gvk);
            }
        }
        let kinds = Kinds { now: id.gvk, before };
        let kinds = match self.kinds.get(&kinds) {
            Some(known) => Rc::clone(known),
            None => {
                let new = Rc::new(kinds);
                self.kinds.insert(Rc::clone(&new));
                new
            }
        };
        Candidate {
            name: resource.shared_name(),
            namespace: resource.shared_namespace(),
            cluster_scoped: id.cluster_scoped,
            original_namespace: resource.original_namespace(),
            affixes: std::mem::take(&mut resource.affixes),
            kinds,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// The resource at a position, if it was renamed.
    pub(super) fn at(&self, position: usize) -> Option<&Candidate> {
        self.all.get(position)?.as_ref()
    }

    /// Those that had the name, in order.
    pub(super) fn named(&self, name: &str) -> impl Iterator<Item = &Candidate> {
        let found = self.by_name.get(name).into_iter().flat_map(Positions::iter);
        found.filter_map(|at| self.at(at))
    }

    /// Where the resources are now that were in a namespace first, and whether they belong to none.
    pub(super) fn first_in(&self, namespace: &str) -> &[(Str, bool)] {
        self.by_original_namespace
            .get(namespace)
            .map_or(&[][..], Vec::as_slice)
    }
}
