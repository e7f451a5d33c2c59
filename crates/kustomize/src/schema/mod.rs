//! What kinds look like, as far as building needs to know: which lists are merged by which keys, and which kinds belong
//! to no namespace.
//!
//! The table is data: Kubernetes' own ([`Schema::kubernetes`]) or that of an OpenAPI document that a kustomization names
//! ([`Schema::from_openapi`]).

mod openapi;
mod table;

use std::collections::{HashMap, HashSet};

use model::Str;
use yaml::node::Text;

use crate::id::Gvk;

/// A table of types.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    types: Vec<Type>,
    by_kind: HashMap<Gvk, usize>,
    cluster_scoped: HashSet<Gvk>,
}

/// A type: its fields, and what all fields without a name have in common.
#[derive(Clone, Debug, Default)]
struct Type {
    fields: HashMap<Str, Field>,
    rest: Option<Field>,
}

/// A field of a type.
#[derive(Clone, Debug, PartialEq)]
enum Field {
    /// Something of another type.
    Nested(usize),
    /// A list whose elements are merged.
    Merged {
        /// What tells elements apart; empty for lists of scalars.
        keys: Vec<Text>,
        elements: Option<usize>,
    },
}

/// A place in a schema: a type, or a list that is merged.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place<'s> {
    Type(&'s Schema, usize),
    Merged(&'s Schema, &'s [Text], Option<usize>),
}

impl Schema {
    /// The types of Kubernetes, in the version that kustomize has built in.
    pub fn kubernetes() -> Schema {
        table::read(include_str!("../../data/kubernetes-1.21.2.txt"))
    }

    /// The types of an OpenAPI (Swagger 2) document in JSON or YAML.
    pub fn from_openapi(document: &[u8]) -> Result<Schema, yaml::Error> {
        Ok(openapi::read(&yaml::parse(document)?))
    }

    /// Whether it is certain that the kind belongs to no namespace.
    pub(crate) fn is_cluster_scoped(&self, gvk: &Gvk) -> bool {
        self.cluster_scoped.contains(gvk)
    }

    /// Takes over what another schema knows of scopes.
    pub(crate) fn add_scopes(&mut self, other: &Schema) {
        self.cluster_scoped.extend(other.cluster_scoped.iter().cloned());
    }

    /// Takes over the kinds of another schema that this one does not know.
    pub(crate) fn add_missing_kinds(&mut self, other: &Schema) {
        let first = self.types.len();
        let moved = |field: &Field| match field {
            Field::Nested(at) => Field::Nested(at + first),
            Field::Merged { keys, elements } => Field::Merged {
                keys: keys.clone(),
                elements: elements.map(|at| at + first),
            },
        };
        self.types.extend(other.types.iter().map(|known| {
            Type {
                fields: known
                    .fields
                    .iter()
                    .map(|(name, field)| (name.clone(), moved(field)))
                    .collect(),
                rest: known.rest.as_ref().map(moved),
            }
        }));
        for (gvk, at) in &other.by_kind {
            self.by_kind.entry(gvk.clone()).or_insert(at + first);
        }
    }

    pub(crate) fn of_kind(&self, gvk: &Gvk) -> Option<Place<'_>> {
        self.by_kind.get(gvk).map(|&at| Place::Type(self, at))
    }
}

impl<'s> Place<'s> {
    /// The place of a field.
    pub(crate) fn field(self, name: &str) -> Option<Place<'s>> {
        let Place::Type(schema, at) = self else {
            return None;
        };
        let found = &schema.types[at];
        Some(match found.fields.get(name).or(found.rest.as_ref())? {
            Field::Nested(inner) => Place::Type(schema, *inner),
            Field::Merged { keys, elements } => Place::Merged(schema, keys, *elements),
        })
    }

    /// The keys by which the elements of this list are merged; `None` for a list that is replaced.
    pub(crate) fn merge_keys(self) -> Option<&'s [Text]> {
        match self {
            Place::Merged(_, keys, _) => Some(keys),
            Place::Type(..) => None,
        }
    }

    /// The place of the elements of this list.
    pub(crate) fn elements(self) -> Option<Place<'s>> {
        match self {
            Place::Merged(schema, _, elements) => elements.map(|at| Place::Type(schema, at)),
            Place::Type(..) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_are_merged_by_name_and_ports_by_two_keys() {
        let schema = Schema::kubernetes();
        let pod = schema.of_kind(&Gvk::new("v1", "Pod")).unwrap();
        let containers = pod.field("spec").unwrap().field("containers").unwrap();
        assert_eq!(containers.merge_keys().unwrap(), ["name"]);
        let ports = containers.elements().unwrap().field("ports").unwrap();
        assert_eq!(ports.merge_keys().unwrap(), ["containerPort", "protocol"]);
        let finalizers = pod.field("metadata").unwrap().field("finalizers").unwrap();
        assert!(finalizers.merge_keys().unwrap().is_empty());
    }

    #[test]
    fn namespaces_belong_to_no_namespace() {
        let schema = Schema::kubernetes();
        assert!(schema.is_cluster_scoped(&Gvk::new("v1", "Namespace")));
        assert!(!schema.is_cluster_scoped(&Gvk::new("v1", "Pod")));
        assert!(!schema.is_cluster_scoped(&Gvk::new("example.com/v1", "Namespace")));
    }
}
