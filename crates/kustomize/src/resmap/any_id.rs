//! Finding resources by any identity that they have or had.

use std::collections::{HashMap, HashSet};

use thin_vec::ThinVec;
use yaml::node::Text;

use crate::id::{Fingerprint, ResId};
use crate::resource::Resource;
use crate::schema::Schema;

/// An index of resources by their identities and names, old and new. It is for one transformer, which tells it what it
/// changes.
pub(crate) struct AnyId {
    /// The names that will be asked for. Of all others nothing is held.
    names: HashSet<Text>,
    by_key: HashMap<Fingerprint, Positions>,
    /// Made when it is first asked for.
    by_name: Option<HashMap<Text, Positions>>,
}

/// Positions of resources, of which there is nearly always one.
#[derive(Clone, Debug, Default)]
enum Positions {
    #[default]
    None,
    One(u32),
    Several(ThinVec<u32>),
}

impl Positions {
    fn add(&mut self, at: usize) {
        let at = u32::try_from(at).expect("so many resources fit into no memory");
        match self {
            Positions::None => *self = Positions::One(at),
            Positions::One(known) if *known == at => {}
            Positions::One(known) => *self = Positions::Several([*known, at].into()),
            // They are mostly added in order.
            Positions::Several(known) if known.last() < Some(&at) => known.push(at),
            Positions::Several(known) if known.contains(&at) => {}
            Positions::Several(known) => known.push(at),
        }
    }

    fn iter(&self) -> impl Iterator<Item = usize> {
        let known: &[u32] = match self {
            Positions::None => &[],
            Positions::One(at) => std::slice::from_ref(at),
            Positions::Several(known) => known,
        };
        known.iter().map(|&at| at as usize)
    }
}

impl AnyId {
    /// An index for the names that will be asked for.
    pub(crate) fn new(names: HashSet<Text>, resources: &[Resource], schema: &Schema) -> AnyId {
        let mut index = AnyId {
            names,
            by_key: HashMap::new(),
            by_name: None,
        };
        index.renew(resources, schema);
        index
    }

    /// Makes the index anew, when resources have moved.
    pub(crate) fn renew(&mut self, resources: &[Resource], schema: &Schema) {
        self.by_key = HashMap::new();
        self.by_name = None;
        for (at, resource) in resources.iter().enumerate() {
            self.add(at, resource, schema);
        }
    }

    /// Adds a resource, or what is new about it: what it was called before still finds it.
    pub(crate) fn add(&mut self, at: usize, resource: &Resource, schema: &Schema) {
        if !self.asks_for(resource) {
            return;
        }
        let ids = resource.previous_ids().chain([resource.id(schema)]);
        for id in ids.filter(|id| self.names.contains(id.name.as_str())) {
            self.by_key.entry(id.fingerprint()).or_default().add(at);
            if let Some(by_name) = &mut self.by_name {
                by_name.entry(id.name.into()).or_default().add(at);
            }
        }
    }

    fn asks_for(&self, resource: &Resource) -> bool {
        let mut before = resource.previous_names();
        !resource.is_empty()
            && (self.names.contains(resource.name()) || before.any(|name| self.names.contains(name)))
    }

    /// The resources that have or had the identity.
    pub(crate) fn matches(&self, id: &ResId, resources: &[Resource]) -> Vec<usize> {
        debug_assert!(self.names.contains(id.name.as_str()));
        let found = self.by_key.get(&id.fingerprint());
        let found = found.into_iter().flat_map(Positions::iter);
        found.filter(|&at| !resources[at].is_empty()).collect()
    }

    /// The resources that have or had the name, in order.
    pub(crate) fn named(&mut self, name: &str, resources: &[Resource]) -> Vec<usize> {
        debug_assert!(self.names.contains(name));
        if self.by_name.is_none() {
            self.by_name = Some(self.index_names(resources));
        }
        let found = self.by_name.as_ref().and_then(|by_name| by_name.get(name));
        let mut found: Vec<usize> = found.into_iter().flat_map(Positions::iter).collect();
        found.sort_unstable();
        found
    }

    fn index_names(&self, resources: &[Resource]) -> HashMap<Text, Positions> {
        let mut by_name: HashMap<Text, Positions> = HashMap::new();
        let asked = resources
            .iter()
            .enumerate()
            .filter(|(_, resource)| self.asks_for(resource));
        for (at, resource) in asked {
            let names = resource.previous_names().cloned().chain([resource.shared_name()]);
            for name in names.filter(|name| self.names.contains(name)) {
                by_name.entry(name).or_default().add(at);
            }
        }
        by_name
    }
}
