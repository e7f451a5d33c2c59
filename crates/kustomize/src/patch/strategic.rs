//! Strategic merge patches.

use yaml::node::{Node, Texts};

use crate::id::ResId;
use crate::merge::merge;
use crate::resmap::{AnyId, Matcher, ResMap, Selector};
use crate::resource::{Resource, from_text};
use crate::schema::Schema;
use crate::transform::{Transform, first};

/// The patches of `patchesStrategicMerge`.
pub(crate) struct StrategicPatches(Vec<Resource>);

impl StrategicPatches {
    /// Reads patches: each entry is a patch itself or the file of one, and `inline` may hold more.
    pub(crate) fn load(
        entries: &[String],
        inline: &str,
        load: super::Load<'_>,
        texts: &mut Texts,
    ) -> Result<Self, String> {
        if entries.is_empty() && inline.is_empty() {
            return Err("empty file path and empty patch content".to_owned());
        }
        let mut patches = Vec::new();
        for entry in entries {
            patches.extend(StrategicPatches::read(entry, load, texts)?);
        }
        if !inline.is_empty() {
            let parsed = from_text(inline, texts).map_err(|malformed| malformed.message)?;
            patches.extend(parsed.into_iter().map(|parsed| parsed.resource));
        }
        StrategicPatches::new(patches, entries)
    }

    /// The patches of an entry: it is a patch itself or the file of one.
    pub(crate) fn read(
        entry: &str,
        load: super::Load<'_>,
        texts: &mut Texts,
    ) -> Result<Vec<Resource>, String> {
        let parsed = match from_text(entry, texts) {
            Ok(parsed) => parsed,
            Err(_) => from_text(&load(entry)?, texts)
                .map_err(|malformed| format!("{entry}:{}: {}", malformed.line, malformed.message))?,
        };
        Ok(parsed.into_iter().map(|parsed| parsed.resource).collect())
    }

    /// The patches of all entries.
    pub(crate) fn new(patches: Vec<Resource>, entries: &[String]) -> Result<Self, String> {
        if patches.is_empty() {
            return Err(format!(
                "patch appears to be empty; files=[{}]",
                entries.join(" ")
            ));
        }
        Ok(StrategicPatches(patches))
    }
}

impl Transform for StrategicPatches {
    fn transform(&self, resources: &mut ResMap, schema: &Schema) -> Result<(), String> {
        first(self.transform_all(resources, schema))
    }

    fn transform_all(&self, resources: &mut ResMap, schema: &Schema) -> Vec<(Option<usize>, String)> {
        let names = self.0.iter().map(Resource::shared_name).collect();
        let mut index = AnyId::new(names, resources.as_slice(), schema);
        let applied = self.0.iter().map(|patch| {
            let patch = std::slice::from_ref(patch);
            apply_all(patch, resources, &mut index, schema, |_, problem| problem)
        });
        // An entry may hold several patches: which one it was is in the message.
        applied
            .filter_map(Result::err)
            .map(|problem| (None, problem))
            .collect()
    }
}

/// Applies patches to the resources that have or had their names. `explain` makes a message of why there is none.
pub(crate) fn apply_all(
    patches: &[Resource],
    resources: &mut ResMap,
    index: &mut AnyId,
    schema: &Schema,
    explain: impl Fn(&ResId, String) -> String,
) -> Result<(), String> {
    for patch in patches {
        let id = patch.id(schema);
        let at = match index.matches(&id, resources.as_slice()).as_slice() {
            &[at] => at,
            found => {
                let how_many = if found.is_empty() { "no" } else { "multiple" };
                let problem =
                    format!("{how_many} matches for Id {id}; failed to find unique target for patch {id}");
                return Err(explain(&id, problem));
            }
        };
        let resource = &mut resources.as_mut_slice()[at];
        apply(resource, patch, schema)?;
        index.add(at, &resources.as_slice()[at], schema);
    }
    Ok(())
}

/// A patch that says itself what it is for.
pub(crate) struct Targeted<'p> {
    pub(crate) patch: &'p Resource,
    pub(crate) target: &'p Selector,
}

impl Targeted<'_> {
    pub(crate) fn apply(
        self,
        resources: &mut ResMap,
        index: &mut AnyId,
        schema: &Schema,
    ) -> Result<(), String> {
        let matcher = Matcher::new(self.target)?;
        let selected = resources.select(&matcher, Some(index), schema);
        let renames = self.patch.may_rename || self.patch.may_change_kind;
        // kustomize makes strings of the labels and annotations of such a patch: `null` removes none of them.
        let mut texts = self.patch.clone();
        for field in ["labels", "annotations"] {
            texts.set_texts(field, &texts.texts(field));
        }
        for at in selected {
            let resource = &mut resources.as_mut_slice()[at];
            let mut patch = texts.clone();
            patch.set_api_version(resource.api_version());
            apply(resource, &patch, schema)?;
            if renames {
                index.add(at, &resources.as_slice()[at], schema);
            }
        }
        if renames {
            resources.drop_empties();
            resources.check_ids(schema)?;
            index.renew(resources.as_slice(), schema);
        }
        Ok(())
    }
}

/// Merges a patch into a resource. Name, kind and namespace stay, unless the patch may change them.
fn apply(resource: &mut Resource, patch: &Resource, schema: &Schema) -> Result<(), String> {
    let kind = resource.shared_kind();
    let (name, namespace) = (resource.shared_name(), resource.shared_namespace());
    if patch.may_rename || patch.may_change_kind {
        resource.remember_id(schema);
    }
    let object = std::mem::replace(&mut resource.node, Node::null());
    let Some(merged) = merge(object, patch.node.clone(), schema)? else {
        return Ok(());
    };
    resource.node = merged;
    if resource.is_empty() {
        return Ok(());
    }
    if !patch.may_change_kind {
        resource.set_kind(&kind);
    }
    if !patch.may_rename {
        resource.set_name(&name);
    }
    resource.set_namespace(&namespace);
    Ok(())
}
