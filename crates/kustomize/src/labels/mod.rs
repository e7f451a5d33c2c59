//! `labels` and `commonLabels`: labels on everything, and on selectors and templates where that is asked for.

use std::collections::BTreeMap;

use yaml::node::Text;

use crate::config::Label;
use crate::field::{Create, FieldPath, FieldSpec, merge_specs, set_entry};
use crate::schema::Schema;
use crate::specs::Specs;
use crate::transform::{Each, Transform};

/// Adds labels, or anything else that is a map of strings.
pub(crate) struct Labels {
    pairs: Vec<(Text, Text)>,
    paths: Vec<FieldPath>,
}

impl Labels {
    pub(crate) fn new(pairs: &BTreeMap<String, String>, specs: &[FieldSpec]) -> Labels {
        Labels {
            pairs: pairs
                .iter()
                .map(|(key, value)| (key.into(), value.into()))
                .collect(),
            paths: FieldPath::all(specs),
        }
    }

    /// An entry of `labels`.
    pub(crate) fn of_entry(label: &Label, specs: &Specs) -> Result<Labels, String> {
        let mut chosen: Vec<FieldSpec> = label.field_specs.iter().cloned().map(Into::into).collect();
        let merge = |chosen: &mut Vec<FieldSpec>, more: &[FieldSpec]| {
            merge_specs(chosen, more).map_err(|problem| format!("failed to merge labels: {problem}"))
        };
        merge(&mut chosen, &specs.labels)?;
        if label.include_selectors {
            merge(&mut chosen, &specs.common_labels)?;
        } else {
            if label.include_templates {
                merge_specs(&mut chosen, &specs.template_labels)
                    .map_err(|problem| format!("failed to merge template fieldSpec: {problem}"))?;
            }
            let own = FieldSpec {
                path: "metadata/labels".into(),
                create: true,
                ..FieldSpec::default()
            };
            merge(&mut chosen, &[own])?;
        }
        Ok(Labels::new(&label.pairs, &chosen))
    }
}

impl Transform for Labels {
    fn each<'t>(&'t self, _: &'t Schema) -> Option<Each<'t>> {
        Some(Box::new(|resource| {
            if self.pairs.is_empty() {
                return Ok(());
            }
            self.paths.iter().try_for_each(|path| {
                path.apply(resource, Create::Map, &mut |node| {
                    self.pairs
                        .iter()
                        .try_for_each(|(key, value)| set_entry(node, key, value))
                })
            })
        }))
    }

    fn keeps_ids(&self) -> bool {
        true
    }
}
