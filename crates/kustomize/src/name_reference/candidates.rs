//! The resources that were renamed, and so can be what a reference means.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::rc::Rc;

use model::Str;
use yaml::node::Text;

use crate::id::{Gvk, NO_NAMESPACE, ResId, effective_namespace};
use crate::resource::{Affixes, Resource};
use crate::schema::Schema;

/// What is to be known of a resource to find out whether a reference means it.
pub(super) struct Candidate {
    pub(super) name: Text,
    /// As it is written.
    pub(super) namespace: Text,
    /// As it was written first; `None` if it belonged to none.
    original_namespace: Option<Text>,
    pub(super) affixes: Affixes,
    pub(super) kinds: Rc<Kinds>,
}

/// The kinds of a resource, which are the same for very many.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Kinds {
    pub(super) now: Gvk,
    pub(super) cluster_scoped: bool,
    /// Whether its name may be another one, through a mistake elsewhere.
    pub(super) is_doubtful: bool,
    pub(super) before: Vec<Gvk>,
}

impl Candidate {
    /// The namespace it is in as far as references go.
    pub(super) fn effective_namespace(&self) -> &str {
        effective_namespace(&self.namespace, self.cluster_scoped())
    }

    /// Whether it belongs to no namespace.
    pub(super) fn cluster_scoped(&self) -> bool {
        self.kinds.cluster_scoped
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
            cluster_scoped: self.cluster_scoped(),
        }
    }
}

/// Names and the positions of those that had them. A table of hashes would take three times the memory.
#[derive(Default)]
struct Names {
    hasher: RandomState,
    /// In order, so that a name is found by halving.
    entries: Vec<(u32, u32, Text)>,
}

impl Names {
    /// The first half of a hash is quicker to compare than names, and as good as they are to sort by.
    fn hash(&self, name: &str) -> u32 {
        (self.hasher.hash_one(name) >> 32) as u32
    }

    fn add(&mut self, name: &Text, at: usize) {
        let at = u32::try_from(at).expect("so many resources fit into no memory");
        let same = |(_, last, known): &(u32, u32, Text)| *last == at && known == name;
        if !self.entries.last().is_some_and(same) {
            self.entries.push((self.hash(name), at, name.clone()));
        }
    }

    fn sort(&mut self) {
        self.entries.sort_unstable();
        self.entries.dedup();
    }

    /// The positions of those that had a name, in order.
    fn find(&self, name: &str) -> impl Iterator<Item = usize> {
        let hash = self.hash(name);
        let first = self.entries.partition_point(|(other, ..)| *other < hash);
        let found = self.entries[first..]
            .iter()
            .take_while(move |(other, ..)| *other == hash);
        found
            .filter(move |(.., known)| known.as_str() == name)
            .map(|&(_, at, _)| at as usize)
    }
}

/// The candidates, by the names they had.
pub(super) struct Candidates {
    /// One for each resource that was renamed or has prefixes or suffixes, at its position.
    all: Vec<Option<Candidate>>,
    by_name: Names,
    kinds: HashSet<Rc<Kinds>>,
    /// All resources, renamed or not, by the namespace they were in first.
    by_original_namespace: HashMap<Str, Vec<(Str, bool)>>,
}

impl Candidates {
    /// Takes the prefixes and suffixes of the resources: nobody asks for them later.
    pub(super) fn new(resources: &mut [Resource], schema: &Schema) -> Candidates {
        let mut candidates = Candidates {
            all: Vec::with_capacity(resources.len()),
            by_name: Names::default(),
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
            // What was not renamed, but brought prefixes along in annotations of old, refers as if it had been.
            let is_known = resource.has_previous() || !resource.affixes.is_empty();
            let candidate = is_known.then(|| candidates.candidate(resource, id));
            candidates.all.push(candidate);
        }
        candidates.by_name.sort();
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
            self.by_name.add(name, at);
        }
        // The kind hardly ever changes.
        let mut before: Vec<Gvk> = Vec::with_capacity(1);
        for previous in resource.previous_ids() {
            if !before.contains(&previous.gvk) {
                before.push(previous.gvk);
            }
        }
        let kinds = Kinds {
            now: id.gvk,
            cluster_scoped: id.cluster_scoped,
            is_doubtful: resource.may_be_another(),
            before,
        };
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
            original_namespace: resource.original_namespace(),
            affixes: std::mem::take(&mut resource.affixes),
            kinds,
        }
    }

    /// The resource at a position, if it was renamed or has prefixes or suffixes.
    pub(super) fn at(&self, position: usize) -> Option<&Candidate> {
        self.all.get(position)?.as_ref()
    }

    /// Those that had the name, in order.
    pub(super) fn named<'c>(&'c self, name: &str) -> impl Iterator<Item = &'c Candidate> {
        self.by_name.find(name).filter_map(|at| self.at(at))
    }

    /// Where the resources are now that were in a namespace first, and whether they belong to none.
    pub(super) fn first_in(&self, namespace: &str) -> &[(Str, bool)] {
        self.by_original_namespace
            .get(namespace)
            .map_or(&[][..], Vec::as_slice)
    }
}
