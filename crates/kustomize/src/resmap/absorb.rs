//! Taking in what generators made: new resources, and changes to ones that are there.

use std::collections::BTreeMap;

use yaml::node::Text;

use super::{AnyId, Clash, ResMap};
use crate::problem::Needs;
use crate::resource::{Behavior, Resource};
use crate::schema::Schema;

impl ResMap {
    /// Adds what was generated, or lets it replace or be merged with what is there, as its behavior says.
    pub(crate) fn absorb(&mut self, new: Resource, index: &mut AnyId, schema: &Schema) -> Result<(), Clash> {
        let (id, spot) = (new.id(schema), new.spot);
        let refuse = |message: String, others: &[usize], resources: &[Resource]| {
            let may_be_others = others.iter().any(|&at| resources[at].may_be_another());
            let needs = if may_be_others {
                Needs::Names
            } else {
                Needs::Nothing
            };
            let others = others.iter().map(|&at| resources[at].spot).collect();
            Err(Clash {
                needs,
                ..Clash::new(message, spot, others)
            })
        };
        let matches = index.matches(&id, self.as_slice());
        let shown = || {
            format!(
                "resid.ResId{{Gvk:resid.Gvk{{Group:{:?}, Version:{:?}, Kind:{:?}, isClusterScoped:{}}}, \
                 Name:{:?}, Namespace:{:?}}}",
                id.gvk.group, id.gvk.version, id.gvk.kind, id.cluster_scoped, id.name, id.namespace
            )
        };
        match matches.as_slice() {
            [] => {
                if matches!(new.behavior, Behavior::Merge | Behavior::Replace) {
                    let message = format!("id {} does not exist; cannot merge or replace", shown());
                    return Err(Clash {
                        needs: Needs::object(&id.gvk.kind, &id.name),
                        ..Clash::new(message, spot, Vec::new())
                    });
                }
                if let Some(clash) = self.append_each([new], schema).pop() {
                    return Err(clash);
                }
                let at = self.len() - 1;
                index.add(at, &self.resources[at], schema);
                Ok(())
            }
            &[at] => {
                let old = &self.resources[at];
                let merged = match new.behavior {
                    Behavior::Replace => replaced(old, new),
                    Behavior::Merge => merged(old, new),
                    behavior => {
                        let message = format!(
                            "id {} exists; can not use behavior: '{}', behavior must be merge or replace",
                            shown(),
                            behavior.name()
                        );
                        return refuse(message, &[at], &self.resources);
                    }
                };
                self.resources[at] = merged;
                Ok(())
            }
            several => {
                let ids = several
                    .iter()
                    .map(|&at| self.resources[at].plain_id().to_string());
                let message = format!(
                    "found multiple objects {:?} that could accept merge of {id}",
                    ids.collect::<Vec<_>>()
                );
                refuse(message, several, &self.resources)
            }
        }
    }
}

/// The new resource with the name of the old one; labels and annotations of both.
fn replaced(old: &Resource, mut new: Resource) -> Resource {
    for field in ["labels", "annotations"] {
        let texts = overlaid(old.texts(field), new.texts(field));
        new.set_texts(field, &texts);
    }
    new.set_name(old.name());
    new.set_namespace(old.namespace());
    new.take_memory(old);
    new
}

/// The same with the data of both.
fn merged(old: &Resource, new: Resource) -> Resource {
    let data: Vec<_> = ["data", "binaryData"]
        .map(|field| (field, overlaid(old.data_texts(field), new.data_texts(field))))
        .into();
    let origin = old.origin().or(new.origin()).cloned();
    let mut result = replaced(old, new);
    for (field, texts) in data {
        result.set_data_texts(field, texts);
    }
    result.set_origin(origin.as_ref());
    result
}

fn overlaid(mut below: BTreeMap<Text, Text>, above: BTreeMap<Text, Text>) -> BTreeMap<Text, Text> {
    below.extend(above);
    below
}
