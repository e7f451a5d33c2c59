//! `replicas`: how many replicas a workload gets.

use yaml::node::{Kind, Text};

use crate::config::Replica;
use crate::field::{Create, FieldPath, FieldSpec, set_value};
use crate::resmap::ResMap;
use crate::schema::Schema;
use crate::transform::Transform;

/// Sets the number of replicas of the workloads of one name.
pub(crate) struct Replicas {
    replica: Replica,
    paths: Vec<FieldPath>,
}

impl Replicas {
    pub(crate) fn new(replica: &Replica, specs: &[FieldSpec]) -> Replicas {
        Replicas {
            replica: replica.clone(),
            paths: FieldPath::all(specs),
        }
    }
}

impl Transform for Replicas {
    fn transform(&self, resources: &mut ResMap, schema: &Schema) -> Result<(), String> {
        let count = Text::from(self.replica.count.to_string());
        let mut found = false;
        for resource in resources.contents_mut() {
            if resource.is_empty() {
                continue;
            }
            let named = resource.name() == self.replica.name
                || resource
                    .previous_names()
                    .any(|name| name.as_str() == self.replica.name);
            if !named {
                continue;
            }
            let current = resource.id(schema);
            let ids: Vec<_> = resource.previous_ids().chain([current]).collect();
            for path in &self.paths {
                let meant = ids
                    .iter()
                    .any(|id| id.name == self.replica.name.as_str() && id.gvk.is_selected_by(&path.spec.gvk));
                if meant {
                    found = true;
                    path.apply(resource, Create::Scalar(Kind::Int), &mut |node| {
                        set_value(node, &count, Kind::Int)
                    })?;
                }
            }
        }
        if found {
            return Ok(());
        }
        let kinds: Vec<String> = self.paths.iter().map(|path| path.spec.gvk.to_string()).collect();
        Err(format!(
            "resource with name {} does not match a config with the following GVK [{}]",
            self.replica.name,
            kinds.join(" ")
        ))
    }
}
