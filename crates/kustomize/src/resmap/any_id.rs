//! Finding resources by any identity that they have or had.

use std::collections::HashMap;

use thin_vec::ThinVec;
use yaml::node::Text;

use crate::id::{Fingerprint, ResId};
use crate::resource::Resource;
use crate::schema::Schema;

/// An index of resources by their identities and names, old and new. It is for one transformer, which tells it what it
/// changes.
pub(crate) struct AnyId {
    by_key: HashMap<Fingerprint, Positions>,
    /// Made when it is first asked for.
    by_name: Option<HashMap<Text, Positions>>,
}

/// Positions of resources, of which there is nearly always one.
#[derive(Clone, Debug, Default)]
pub(crate) enum Positions {
    #[default]
    None,
    One(u32),
    Several(ThinVec<u32>),
}

impl Positions {
    pub(crate) fn add(&mut self, at: usize) {
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

    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
        let known: &[u32] = match self {
            Positions::None => &[],
            Positions::One(at) => std::slice::from_ref(at),
            Positions::Several(known) => known,
        };
        known.iter().map(|&at| at as usize)
    }
}

impl AnyId {
    pub(crate) fn new(resources: &[Resource], schema: &Schema) -> AnyId {
        let mut index = AnyId {
            by_key: HashMap::with_capacity(resources.len()),
            by_name: None,
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
            self.by_key.entry(id.fingerprint()).or_default().add(at);
            if let Some(by_name) = &mut self.by_name {
                by_name.entry(id.name.into()).or_default().add(at);
            }
        }
    }

    /// The resources that have or had the identity.
    pub(crate) fn matches<'a>(&'a self, id: &ResId, resources: &'a [Resource]) -> Vec<usize> {
        let found = self.by_key.get(&id.fingerprint());
        let found = found.into_iter().flat_map(Positions::iter);
        found.filter(|&at| !resources[at].is_empty()).collect()
    }

    /// The resources that have or had the name, in order.
    pub(crate) fn named(&mut self, name: &str, resources: &[Resource]) -> Vec<usize> {
        let by_name = self.by_name.get_or_insert_with(|| {
            let mut by_name: HashMap<Text, Positions> = HashMap::new();
            for (at, resource) in resources
                .iter()
                .enumerate()
                .filter(|(_, resource)| !resource.is_empty())
            {
                for name in resource.previous_names().cloned().chain([resource.shared_name()]) {
                    by_name.entry(name).or_default().add(at);
                }
            }
            by_name
        });
        let found = by_name.get(name);
        let mut found: Vec<usize> = found.into_iter().flat_map(Positions::iter).collect();
        found.sort_unstable();
        found
    }
}
