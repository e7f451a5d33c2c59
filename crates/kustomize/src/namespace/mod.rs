//! `namespace`: puts everything that can be in a namespace into one.
//!
//! Beside the resources' own namespace this sets the name of `Namespace` objects, the namespaces of webhook services and
//! those of role bindings' subjects; see [`Subjects`].

mod ids;

use std::collections::{HashMap, HashSet};

use yaml::node::{Kind, Node, Scalar, Text};

use crate::field::{Create, FieldPath, FieldSpec, set_value};
use crate::id::Fingerprint;
use crate::problem::{Needs, Problem};
use crate::resmap::ResMap;
use crate::resource::Resource;
use crate::schema::Schema;
use crate::transform::{Transform, first};
use ids::Ids;

/// Sets a namespace.
pub(crate) struct Namespace {
    namespace: Text,
    /// The field that all resources have for it.
    own: FieldPath,
    paths: Vec<FieldPath>,
    subjects: Subjects,
    unset_only: bool,
}

/// The subjects of role bindings that get the namespace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Subjects {
    /// Those that are named `default`.
    #[default]
    Default,
    /// All service accounts.
    ServiceAccounts,
    None,
}

impl Subjects {
    pub(crate) fn new(name: &str) -> Result<Subjects, String> {
        match name {
            "" | "defaultOnly" => Ok(Subjects::Default),
            "allServiceAccounts" => Ok(Subjects::ServiceAccounts),
            "none" => Ok(Subjects::None),
            other => Err(format!(
                "invalid value {other:?} for setRoleBindingSubjects: must be one of \"defaultOnly\", \"none\" or \
                 \"allServiceAccounts\""
            )),
        }
    }
}

impl Namespace {
    pub(crate) fn new(namespace: &str, specs: &[FieldSpec]) -> Namespace {
        Namespace {
            namespace: namespace.into(),
            own: FieldPath::new(&FieldSpec {
                path: "metadata/namespace".into(),
                create: true,
                ..FieldSpec::default()
            }),
            paths: FieldPath::all(specs),
            subjects: Subjects::Default,
            unset_only: false,
        }
    }

    pub(crate) fn subjects(mut self, subjects: Subjects) -> Namespace {
        self.subjects = subjects;
        self
    }

    pub(crate) fn unset_only(mut self, unset_only: bool) -> Namespace {
        self.unset_only = unset_only;
        self
    }

    /// Sets the namespace of one resource.
    pub(crate) fn apply(&self, resource: &mut Resource, schema: &Schema) -> Result<(), String> {
        let mut set = |node: &mut Node| self.set(node);
        if !schema.is_cluster_scoped(&resource.gvk()) {
            self.own
                .apply_to(resource, Create::Scalar(Kind::Quoted), &mut set)?;
        }
        let is_binding = matches!(resource.kind(), "RoleBinding" | "ClusterRoleBinding");
        if is_binding {
            self.set_subjects(resource)?;
        }
        let is_v1 = resource.api_version() == "v1";
        for path in &self.paths {
            let skipped = match path.spec.path.as_str() {
                "metadata/namespace" => true,
                "metadata/name" => !is_v1,
                "subjects/namespace" => {
                    is_binding && matches!(path.spec.gvk.kind.as_str(), "RoleBinding" | "ClusterRoleBinding")
                }
                _ => false,
            };
            if !skipped {
                path.apply(resource, Create::Scalar(Kind::Quoted), &mut set)
                    .map_err(|problem| format!("namespace transformation failed: {problem}"))?;
            }
        }
        Ok(())
    }

    fn set(&self, node: &mut Node) -> Result<(), String> {
        if self.unset_only && !node.text().is_empty() {
            return Ok(());
        }
        set_value(node, &self.namespace, Kind::Plain)
    }

    fn set_subjects(&self, resource: &mut Resource) -> Result<(), String> {
        let (field, wanted) = match self.subjects {
            Subjects::None => return Ok(()),
            Subjects::Default => ("name", "default"),
            Subjects::ServiceAccounts => ("kind", "ServiceAccount"),
        };
        let Some(subjects) = resource.node.get_mut("subjects").filter(|node| !node.is_null()) else {
            return Ok(());
        };
        let Node::List(subjects) = subjects else {
            return Err(crate::field::wrong_kind("SequenceNode", subjects));
        };
        for subject in subjects {
            let Node::Map(map) = subject else {
                return Err(crate::field::wrong_kind("MappingNode", subject));
            };
            if map.get(field).is_some_and(|node| node.text() == wanted) {
                self.set(map.entry("namespace", || Node::Scalar(Scalar::new("", Kind::Plain))))?;
            }
        }
        Ok(())
    }
}

impl Transform for Namespace {
    fn transform(&self, resources: &mut ResMap, schema: &Schema) -> Result<(), String> {
        first(self.transform_all(resources, schema))
    }

    fn transform_all(&self, resources: &mut ResMap, schema: &Schema) -> Vec<Problem> {
        if self.namespace.is_empty() {
            return Vec::new();
        }
        let mut ids = Ids::default();
        for resource in resources.iter() {
            ids.add(resource.id(schema).fingerprint());
        }
        let (mut problems, mut twice) = (Vec::new(), HashSet::new());
        for resource in resources.as_mut_slice() {
            if resource.is_empty() || resource.from_chart {
                continue;
            }
            ids.remove(resource.id(schema).fingerprint());
            resource.remember_id(schema);
            if let Err(problem) = self.apply(resource, schema) {
                problems.extend(resource.refuse(Problem::from(problem)));
                resource.lose_namespace();
            }
            let id = resource.id(schema).fingerprint();
            if !ids.add(id) {
                twice.insert(id);
            }
        }
        problems.extend(conflicts(resources, &twice, schema));
        problems
    }
}

/// One problem for each identity that several resources have now. What else is wrong with their names follows from that.
fn conflicts(resources: &mut ResMap, twice: &HashSet<Fingerprint>, schema: &Schema) -> Vec<Problem> {
    let (mut problems, mut numbers): (Vec<Problem>, HashMap<Fingerprint, usize>) = Default::default();
    if twice.is_empty() {
        return problems;
    }
    let mut certain = Vec::new();
    for resource in resources.contents_mut() {
        let id = resource.id(schema);
        if !twice.contains(&id.fingerprint()) {
            continue;
        }
        let number = *numbers.entry(id.fingerprint()).or_insert_with(|| {
            let message = format!("namespace transformation produces ID conflict: {id}");
            problems.push(Problem::from(message));
            certain.push(0);
            problems.len() - 1
        });
        problems[number].objects.push(resource.spot);
        certain[number] += usize::from(!resource.may_be_another());
        resource.lose_namespace();
    }
    for (problem, certain) in problems.iter_mut().zip(certain) {
        if certain < 2 {
            problem.needs = Needs::Names;
        }
    }
    problems
}
