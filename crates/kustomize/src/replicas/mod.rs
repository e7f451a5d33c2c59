//! `replicas`: how many replicas a workload gets.

use std::collections::{BTreeMap, HashMap};

use yaml::node::{Kind, Text};

use crate::config::Replica;
use crate::field::{Create, FieldPath, FieldSpec, set_value};
use crate::problem::{Missing, Needs, Problem};
use crate::resmap::ResMap;
use crate::resource::Resource;
use crate::schema::Schema;
use crate::transform::{Transform, first};

/// Sets the number of replicas of the workloads of some names.
pub(crate) struct Replicas {
    entries: Vec<Replica>,
    /// The entries that are about a name, in order.
    by_name: HashMap<String, Vec<usize>>,
    paths: Vec<FieldPath>,
}

impl Replicas {
    pub(crate) fn new(entries: Vec<Replica>, specs: &[FieldSpec]) -> Replicas {
        let mut by_name: HashMap<String, Vec<usize>> = HashMap::new();
        for (number, entry) in entries.iter().enumerate() {
            by_name.entry(entry.name.clone()).or_default().push(number);
        }
        Replicas {
            entries,
            by_name,
            paths: FieldPath::all(specs),
        }
    }

    /// The entries that are about a name that the resource has or had.
    fn about(&self, resource: &Resource) -> Vec<usize> {
        let names = resource
            .previous_names()
            .map(Text::as_str)
            .chain([resource.name()]);
        let entries = names.filter_map(|name| self.by_name.get(name));
        let mut entries: Vec<usize> = entries.flatten().copied().collect();
        entries.sort_unstable();
        entries.dedup();
        entries
    }

    /// Sets the replicas of a resource, and says whether the entry is about resources of its kind.
    fn set(&self, entry: usize, resource: &mut Resource, schema: &Schema) -> Result<bool, String> {
        let Replica { name, count } = &self.entries[entry];
        let count = Text::from(count.to_string());
        let current = resource.id(schema);
        let ids: Vec<_> = resource.previous_ids().chain([current]).collect();
        let mut found = false;
        for path in &self.paths {
            let mut named = ids.iter().filter(|id| id.name == name.as_str());
            if named.any(|id| id.gvk.is_selected_by(&path.spec.gvk)) {
                found = true;
                path.apply(resource, Create::Scalar(Kind::Int), &mut |node| {
                    set_value(node, &count, Kind::Int)
                })?;
            }
        }
        Ok(found)
    }

    /// What is missing for an entry: one of the kinds that have replicas.
    fn needs(&self, entry: usize) -> Needs {
        let kinds = self.paths.iter().map(|path| path.spec.gvk.kind.to_string());
        let is_any = self.paths.iter().any(|path| path.spec.gvk.kind.is_empty());
        Needs::Object(Missing {
            kinds: kinds.filter(|_| !is_any).collect(),
            name: self.entries[entry].name.clone(),
        })
    }

    fn not_found(&self, entry: usize) -> String {
        let kinds: Vec<String> = self.paths.iter().map(|path| path.spec.gvk.to_string()).collect();
        format!(
            "resource with name {} does not match a config with the following GVK [{}]",
            self.entries[entry].name,
            kinds.join(" ")
        )
    }
}

impl Transform for Replicas {
    fn transform(&self, resources: &mut ResMap, schema: &Schema) -> Result<(), String> {
        first(self.transform_all(resources, schema))
    }

    fn transform_all(&self, resources: &mut ResMap, schema: &Schema) -> Vec<Problem> {
        let mut found = vec![false; self.entries.len()];
        let mut problems = BTreeMap::new();
        let all = match self.paths.iter().all(|path| path.spec.keeps_id()) {
            true => resources.contents_mut(),
            false => resources.as_mut_slice(),
        };
        for resource in all.iter_mut().filter(|resource| !resource.is_empty()) {
            for entry in self.about(resource) {
                match self.set(entry, resource, schema) {
                    Ok(is_meant) => found[entry] |= is_meant,
                    Err(problem) => {
                        found[entry] = true;
                        if let Some(problem) = resource.refuse(problem) {
                            problems.entry(entry).or_insert(Problem::from(problem));
                        }
                    }
                }
            }
        }
        for (entry, _) in found.iter().enumerate().filter(|(_, found)| !**found) {
            let missing = || Problem::from(self.not_found(entry)).needing(self.needs(entry));
            problems.entry(entry).or_insert_with(missing);
        }
        let problems = problems.into_iter();
        problems.map(|(entry, problem)| problem.of_entry(entry)).collect()
    }
}
