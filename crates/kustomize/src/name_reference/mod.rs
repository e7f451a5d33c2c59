//! Fixing references: fields that hold the name of a resource whose name was changed get the new name.
//!
//! kustomize compares every field with every resource. Here the resources that were renamed are indexed by the names
//! they had, so that the work grows with the number of references.

mod candidates;
mod referral;

use std::collections::HashMap;

use model::Str;
use yaml::node::Node;

use crate::accumulate::Spot;
use crate::field::{Create, FieldPath};
use crate::id::Gvk;
use crate::resmap::ResMap;
use crate::resource::Resource;
use crate::schema::Schema;
use crate::specs::BackReferences;
use candidates::Candidates;
use referral::{Referral, Referrer};

/// Fixes the references in all resources; all that cannot be fixed are told, with the resources they are in.
pub(crate) fn fix(resources: &mut ResMap, rules: &Rules, schema: &Schema) -> Vec<(Spot, String)> {
    // Without any there is nothing to fix, but fields that cannot hold names are still to be told.
    let candidates = Candidates::new(resources.contents_mut(), schema);
    let mut problems = Vec::new();
    for (at, resource) in resources.contents_mut().iter_mut().enumerate() {
        let original = resource.original_id(schema).gvk;
        let mut referrer = None;
        for rule in rules.of(&original) {
            let referrer = referrer.get_or_insert_with(|| Referrer::new(at, resource, &candidates, schema));
            if let Err(problem) = rule.apply(resource, referrer)
                && !referrer.doubts.take()
                && !resource.is_unsure()
            {
                problems.push((resource.spot, problem));
            }
        }
    }
    problems
}

/// The fields that may hold names, by the kind they are in.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    all: Vec<Rule>,
    by_kind: HashMap<Str, Vec<usize>>,
    of_any_kind: Vec<usize>,
}

/// A field, and the kind of resource whose name it holds.
#[derive(Debug)]
struct Rule {
    target: Gvk,
    path: FieldPath,
}

impl Rules {
    pub(crate) fn new(references: &[BackReferences]) -> Self {
        let mut rules = Rules::default();
        for reference in references {
            for spec in &reference.referrers {
                let at = rules.all.len();
                rules.all.push(Rule {
                    target: reference.target.clone(),
                    path: FieldPath::new(spec),
                });
                if spec.gvk.kind.is_empty() {
                    rules.of_any_kind.push(at);
                } else {
                    rules.by_kind.entry(spec.gvk.kind.clone()).or_default().push(at);
                }
            }
        }
        rules
    }

    /// The rules for a kind, in order.
    fn of(&self, gvk: &Gvk) -> impl Iterator<Item = &Rule> {
        let own = self.by_kind.get(gvk.kind.as_str()).map_or(&[][..], Vec::as_slice);
        let mut numbers: Vec<usize> = own.iter().chain(&self.of_any_kind).copied().collect();
        if !self.of_any_kind.is_empty() {
            numbers.sort_unstable();
        }
        numbers
            .into_iter()
            .map(|at| &self.all[at])
            .filter(|rule| gvk.is_selected_by(&rule.path.spec.gvk))
            .collect::<Vec<_>>()
            .into_iter()
    }
}

impl Rule {
    fn apply(&self, resource: &mut Resource, referrer: &Referrer<'_>) -> Result<(), String> {
        let is_role_ref = self.path.spec.path.ends_with("roleRef/name");
        let role_ref = if is_role_ref { role_ref(resource) } else { None };
        let referral = Referral {
            referrer,
            target: &self.target,
            role_ref,
        };
        self.path
            .apply_to(resource, Create::Nothing, &mut |node| set(node, &referral))
            .map_err(|problem| {
                format!(
                    "updating name reference in '{}' field of '{}': {problem}",
                    self.path.spec.path, referrer.id
                )
            })
    }
}

/// The kind that a binding says its role is of.
fn role_ref(resource: &Resource) -> Option<Gvk> {
    let role = resource.node.get("roleRef")?;
    let text = |field: &str| role.get(field).map(|node| Str::new(node.raw_text()));
    Some(Gvk {
        group: text("apiGroup")?,
        version: Str::default(),
        kind: text("kind")?,
    })
}

fn set(node: &mut Node, referral: &Referral<'_>) -> Result<(), String> {
    match node {
        Node::List(items) => items.iter_mut().try_for_each(|item| match item {
            Node::List(_) => {
                Err("a list in a list is expected to be either a string or a map of string".to_owned())
            }
            item => set(item, referral),
        }),
        Node::Map(_) => set_map(node, referral),
        Node::Scalar(_) if node.is_null() => Ok(()),
        Node::Scalar(scalar) => {
            let name = scalar.text.clone();
            if let Some(found) = referral.by_name(&name)?
                && found.name != name
            {
                node.rewrite(&found.name);
            }
            Ok(())
        }
    }
}

/// Sets the name and namespace of a map that refers to a resource.
fn set_map(node: &mut Node, referral: &Referral<'_>) -> Result<(), String> {
    let Some(name) = node.get("name").map(Node::shared_text) else {
        return Err("path config error; no 'name' field in node".to_owned());
    };
    let namespace = node.get("namespace").map(Node::shared_text);
    let Some(found) = referral.by_name_and_namespace(&name, namespace.as_deref())? else {
        return Ok(());
    };
    if found.name == name && found.namespace.is_empty() {
        return Ok(());
    }
    let Node::Map(map) = node else {
        return Ok(());
    };
    map.entry("name", || Node::str("")).rewrite(&found.name);
    if !found.namespace.is_empty() {
        map.entry("namespace", || Node::str("")).rewrite(&found.namespace);
    }
    Ok(())
}
