//! `labels` and `commonLabels`: labels on everything, and on selectors and templates where that is asked for.

use std::collections::BTreeMap;

use yaml::node::{Kind, Node, Scalar, Text};

use crate::config::Label;
use crate::field::{Create, FieldPath, FieldSpec, Writes, merge_specs, wrong_kind};
use crate::schema::Schema;
use crate::specs::Specs;
use crate::transform::{Each, Transform};

/// Adds labels, or anything else that is a map of strings.
pub(crate) struct Labels {
    pairs: Vec<(Text, Scalar)>,
    paths: Vec<FieldPath>,
}

impl Labels {
    pub(crate) fn new(pairs: &BTreeMap<String, String>, specs: &[FieldSpec]) -> Labels {
        Labels {
            pairs: pairs
                .iter()
                .map(|(key, value)| (key.into(), as_set(value)))
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
        let mut added: Vec<Scalar> = Vec::new();
        Some(Box::new(move |resource| {
            if self.pairs.is_empty() {
                return Ok(());
            }
            added.clear();
            added.extend(self.pairs.iter().map(|(_, value)| Scalar {
                group: resource.new_group(),
                ..value.clone()
            }));
            let mut writes = Writes::default();
            let done = self.paths.iter().try_for_each(|path| {
                path.apply(resource, Create::Map, &mut |node| {
                    let pairs = self.pairs.iter().zip(&mut added);
                    pairs.into_iter().try_for_each(|((key, first), value)| {
                        // What needs quotes gets them again each time.
                        if first.kind == Kind::Quoted && value.kind == Kind::Plain && !value.folded {
                            value.kind = Kind::Quoted;
                            writes.note(value);
                        }
                        set_entry(node, key, value, &mut writes)
                    })
                })
            });
            writes.spread(&mut resource.node);
            done
        }))
    }

    fn keeps_ids(&self) -> bool {
        self.paths.iter().all(|path| path.spec.keeps_id())
    }
}

/// A string without quotes where it would be a string anyway.
fn as_set(text: &String) -> Scalar {
    match Node::set(text) {
        Node::Scalar(scalar) => scalar,
        _ => Scalar::new(text, Kind::Quoted),
    }
}

/// Sets a key of a map. What is there is written over and keeps its quotes, which the value then has wherever else it is
/// added; else the value is added, which is one and the same in all places.
fn set_entry(node: &mut Node, key: &Text, value: &mut Scalar, writes: &mut Writes) -> Result<(), String> {
    let Node::Map(map) = node else {
        return Err(wrong_kind("MappingNode", node));
    };
    let Some(old) = map.get_mut(key) else {
        map.push(key, Node::Scalar(value.clone()));
        return Ok(());
    };
    let before = value.clone();
    let group = match old {
        Node::Scalar(old) => {
            value.take_style(old);
            old.group
        }
        _ => {
            value.take_style(&Scalar::new("", Kind::Plain));
            0
        }
    };
    if *value != before {
        writes.note(value);
    }
    let written = Scalar {
        group,
        ..value.clone()
    };
    writes.note(&written);
    *old = Node::Scalar(written);
    Ok(())
}
