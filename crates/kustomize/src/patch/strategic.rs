//! Strategic merge patches.

use yaml::node::{Node, Texts};

use crate::id::ResId;
use crate::merge::merge;
use crate::problem::{At, InText, Needs, Problem};
use crate::resmap::{AnyId, Matcher, ResMap, Selector};
use crate::resource::{MayChange, Parsed, Resource, from_text};
use crate::schema::Schema;
use crate::transform::{Lost, Transform, first};

/// The patches of `patchesStrategicMerge`.
pub(crate) struct StrategicPatches(Vec<Entry>);

/// The patches of an entry: it is a patch itself or the file of one.
struct Entry {
    number: usize,
    patches: Vec<Resource>,
    /// Whether it could not be read.
    is_lost: bool,
}

impl StrategicPatches {
    /// Reads patches; `inline` may hold more than the entries. What cannot be read is told.
    pub(crate) fn load(
        entries: &[String],
        inline: &str,
        load: super::Load<'_>,
        texts: &mut Texts,
    ) -> (Self, Vec<Problem>) {
        let (mut read, mut problems) = (Vec::new(), Vec::new());
        if entries.is_empty() && inline.is_empty() {
            problems.push("empty file path and empty patch content".to_owned().into());
        }
        for (number, entry) in entries.iter().enumerate() {
            let loaded = StrategicPatches::read(entry, load, texts);
            let is_lost = loaded.is_err();
            let patches = loaded.unwrap_or_else(|more| {
                problems.extend(more.into_iter().map(|problem| problem.of_entry(number)));
                Vec::new()
            });
            read.push(Entry {
                number,
                patches,
                is_lost,
            });
        }
        if !inline.is_empty() {
            match from_text(inline, texts) {
                Ok(parsed) => read.push(Entry {
                    number: entries.len(),
                    patches: resources(parsed),
                    is_lost: false,
                }),
                Err(malformed) => problems.extend(malformed.into_problems(0)),
            }
        }
        if problems.is_empty() && read.iter().all(|entry| entry.patches.is_empty()) {
            let message = format!("patch appears to be empty; files=[{}]", entries.join(" "));
            problems.push(message.into());
        }
        (StrategicPatches(read), problems)
    }

    fn read(entry: &str, load: super::Load<'_>, texts: &mut Texts) -> Result<Vec<Resource>, Vec<Problem>> {
        let parsed = match from_text(entry, texts) {
            Ok(parsed) => parsed,
            // No file has such a name.
            Err(malformed) if entry.contains('\n') => return Err(malformed.into_problems(0)),
            Err(_) => {
                let text = load(entry).map_err(|problem| vec![problem.into()])?;
                from_text(&text, texts).map_err(|malformed| malformed.into_problems(0))?
            }
        };
        Ok(resources(parsed))
    }
}

fn resources(parsed: Vec<Parsed>) -> Vec<Resource> {
    parsed
        .into_iter()
        .map(|parsed| with_texts(parsed.resource))
        .collect()
}

/// The patch with strings as labels and annotations, which kustomize makes of most patches: `null` removes none of them.
fn with_texts(mut patch: Resource) -> Resource {
    for field in ["labels", "annotations"] {
        patch.set_texts(field, &patch.texts(field));
    }
    patch
}

impl Transform for StrategicPatches {
    fn merges(&self) -> bool {
        true
    }

    fn transform(&self, resources: &mut ResMap, schema: &Schema) -> Result<(), String> {
        first(self.transform_all(resources, schema))
    }

    fn transform_all(&self, resources: &mut ResMap, schema: &Schema) -> Vec<Problem> {
        let patches = self.0.iter().flat_map(|entry| &entry.patches);
        let mut index = AnyId::new(
            patches.map(Resource::shared_name).collect(),
            resources.as_slice(),
            schema,
        );
        let mut problems = Vec::new();
        for Entry {
            number,
            patches,
            is_lost,
        } in &self.0
        {
            if *is_lost {
                Lost::Deletions.transform_all(resources, schema);
            }
            let failed = apply_all(patches, resources, &mut index, schema, |_, problem| problem);
            problems.extend(failed.into_iter().map(|problem| problem.of_entry(*number)));
        }
        problems
    }
}

/// Applies patches to the resources that have or had their names. `explain` makes a message of why there is none.
pub(crate) fn apply_all(
    patches: &[Resource],
    resources: &mut ResMap,
    index: &mut AnyId,
    schema: &Schema,
    explain: impl Fn(&ResId, String) -> String,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (number, patch) in patches.iter().enumerate() {
        let id = patch.id(schema);
        let at = match index.matches(&id, resources.as_slice()).as_slice() {
            &[at] => at,
            found => {
                let how_many = if found.is_empty() { "no" } else { "multiple" };
                let problem =
                    format!("{how_many} matches for Id {id}; failed to find unique target for patch {id}");
                let needs = match found.is_empty() {
                    true => Needs::Object(id.gvk.kind.to_string()),
                    false => Needs::of_several(found.iter().map(|&at| &resources.as_slice()[at])),
                };
                let at = InText::Object(number);
                problems.push(Problem::in_text(at, explain(&id, problem)).needing(needs));
                continue;
            }
        };
        let resource = &mut resources.as_mut_slice()[at];
        match apply(resource, patch, schema) {
            Ok(()) => index.add(at, &resources.as_slice()[at], schema),
            Err(problem) => {
                let problem = Problem::in_text(InText::Object(number), problem);
                problems.extend(resource.refuse(problem));
            }
        }
    }
    problems
}

/// A patch that says itself what it is for.
pub(crate) struct Targeted<'p> {
    pub(crate) patch: &'p Resource,
    pub(crate) target: &'p Selector,
}

impl Targeted<'_> {
    pub(crate) fn apply(self, resources: &mut ResMap, index: &mut AnyId, schema: &Schema) -> Vec<Problem> {
        let matcher = match Matcher::new(self.target) {
            Ok(matcher) => matcher,
            Err(wrong) => return Problem::of_target(wrong),
        };
        let mut problems = Vec::new();
        let selected = resources.select(&matcher, Some(index), schema);
        let renames = self.patch.may_change != MayChange::Neither;
        let texts = with_texts(self.patch.clone());
        for at in selected {
            let resource = &mut resources.as_mut_slice()[at];
            let mut patch = texts.clone();
            patch.set_api_version(resource.api_version());
            if let Err(problem) = apply(resource, &patch, schema) {
                problems.extend(resource.refuse(Problem::in_text(InText::Object(0), problem)));
            }
            if renames {
                index.add(at, &resources.as_slice()[at], schema);
            }
        }
        if renames {
            resources.drop_empties();
            for clash in resources.check_ids(schema) {
                let problem = clash.into_problem();
                problems.push(Problem {
                    at: At::Text(InText::Object(0)),
                    ..problem
                });
            }
            index.renew(resources.as_slice(), schema);
        }
        problems
    }
}

/// Merges a patch into a resource. Name, kind and namespace stay, unless the patch may change them.
fn apply(resource: &mut Resource, patch: &Resource, schema: &Schema) -> Result<(), String> {
    let kind = resource.shared_kind();
    let (name, namespace) = (resource.shared_name(), resource.shared_namespace());
    if patch.may_change != MayChange::Neither {
        resource.remember_id(schema);
    }
    let object = std::mem::replace(&mut resource.node, Node::null());
    match merge(object, patch.node.clone(), schema) {
        Ok(None) => return Ok(()),
        Ok(Some(merged)) => resource.node = merged,
        Err(problem) => {
            // Other patches for it are not to be told that there is no such resource.
            resource.node = patch.node.clone();
            resource.set_kind(&kind);
            resource.set_name(&name);
            if patch.may_change != MayChange::Neither {
                resource.lose_name();
            }
            return Err(problem);
        }
    }
    if resource.is_empty() {
        return Ok(());
    }
    if replaces_annotations(&patch.node) {
        resource.forget();
    }
    if !patch.may_change.kind() {
        resource.set_kind(&kind);
    }
    if !patch.may_change.name() {
        resource.set_name(&name);
    }
    resource.set_namespace(&namespace);
    Ok(())
}

/// Whether a patch puts its annotations, which may be none, in the place of all that are there.
fn replaces_annotations(patch: &Node) -> bool {
    let replaces = |node: &Node| {
        let directive = node.get("$patch");
        directive.is_some_and(|directive| directive.text() == "replace")
    };
    let metadata = patch.get("metadata");
    let annotations = metadata.and_then(|metadata| metadata.get("annotations"));
    // To replace the whole object does nothing.
    !replaces(patch) && [metadata, annotations].into_iter().flatten().any(replaces)
}
