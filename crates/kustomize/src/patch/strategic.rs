//! Strategic merge patches.

use std::collections::HashSet;

use yaml::node::{Node, Texts};

use crate::guard::Guarded;
use crate::id::ResId;
use crate::merge::merge;
use crate::problem::{At, InText, Needs, Problem};
use crate::resmap::{AnyId, KeepsId, Matcher, ResMap, Selector};
use crate::resource::{MayChange, Parsed, Resource, from_text};
use crate::schema::Schema;
use crate::transform::{Lost, Transform, first};

/// The patches of `patchesStrategicMerge`.
pub(crate) struct StrategicPatches {
    entries: Vec<Entry>,
    guard: Guarded,
}

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
            let (patches, wrong) = StrategicPatches::read(entry, load, texts);
            read.push(Entry {
                number,
                patches,
                is_lost: !wrong.is_empty(),
            });
            problems.extend(wrong.into_iter().map(|problem| problem.of_entry(number)));
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
        let patches = StrategicPatches {
            entries: read,
            guard: Guarded::default(),
        };
        (patches, problems)
    }

    /// The same patches, with a guard.
    pub(crate) fn guarded(self, guard: Guarded) -> Self {
        StrategicPatches { guard, ..self }
    }

    /// The patches of an entry that can be read, and what is wrong with others.
    fn read(entry: &str, load: super::Load<'_>, texts: &mut Texts) -> (Vec<Resource>, Vec<Problem>) {
        let read = match from_text(entry, texts) {
            // No file has a name of several lines.
            Err(_) if !entry.contains('\n') => match load(entry) {
                Ok(text) => from_text(&text, texts),
                Err(problem) => return (Vec::new(), vec![problem.into()]),
            },
            read => read,
        };
        match read {
            Ok(parsed) => (resources(parsed), Vec::new()),
            Err(mut malformed) => {
                let good = std::mem::take(&mut malformed.good);
                (resources(good), malformed.into_problems(0))
            }
        }
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
        let patches = self.entries.iter().flat_map(|entry| &entry.patches);
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
        } in &self.entries
        {
            if *is_lost {
                Lost::Deletions.transform_all(resources, schema);
            }
            for (at, patch) in patches.iter().enumerate() {
                if let Err(why) = self.guard.begin() {
                    problems.push(Problem::from(why).of_entry(*number));
                    return problems;
                }
                let patch = ByName { number: at, patch };
                let failed = patch.apply(resources, &mut index, schema, |_, problem| problem);
                let clashes = clashes(at, resources, &mut index, schema);
                let all = failed.into_iter().chain(clashes);
                problems.extend(all.map(|problem| problem.of_entry(*number)));
            }
        }
        problems
    }
}

/// A patch for the resource that has or had its name.
pub(crate) struct ByName<'p> {
    /// The number of the patch in its text.
    pub(crate) number: usize,
    pub(crate) patch: &'p Resource,
}

impl ByName<'_> {
    /// Changes the resource, or says what is wrong. `explain` makes a message of why there is none.
    pub(crate) fn apply(
        self,
        resources: &mut ResMap,
        index: &mut AnyId,
        schema: &Schema,
        explain: impl Fn(&ResId, String) -> String,
    ) -> Option<Problem> {
        let ByName { number, patch } = self;
        let id = patch.id(schema);
        let at = match index.matches(&id, resources.as_slice()).as_slice() {
            &[at] => at,
            found => {
                let how_many = if found.is_empty() { "no" } else { "multiple" };
                let problem =
                    format!("{how_many} matches for Id {id}; failed to find unique target for patch {id}");
                let needs = match found.is_empty() {
                    true => Needs::object(&id.gvk.kind, &id.name),
                    false => Needs::of_several(found.iter().map(|&at| &resources.as_slice()[at])),
                };
                let at = InText::Object(number);
                return Some(Problem::in_text(at, explain(&id, problem)).needing(needs));
            }
        };
        match apply(resources.change(at, keeps_id(patch)), patch, schema) {
            Ok(()) => {
                index.add(at, &resources.as_slice()[at], schema);
                None
            }
            Err(problem) => {
                let resource = resources.change(at, KeepsId::No);
                resource.refuse(Problem::in_text(InText::Object(number), problem))
            }
        }
    }
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
        guard: &Guarded,
    ) -> Vec<Problem> {
        let matcher = match Matcher::new(self.target) {
            Ok(matcher) => matcher,
            Err(wrong) => return Problem::of_target(wrong),
        };
        let mut problems = Vec::new();
        let selected = resources.select(&matcher, Some(index), schema);
        let selected = with_the_same(selected, resources, schema);
        let keeps = keeps_id(self.patch);
        let texts = with_texts(self.patch.clone());
        for at in selected {
            let resource = resources.change(at, keeps);
            let mut patch = texts.clone();
            patch.set_api_version(resource.api_version());
            let before = guard.size(resource);
            if let Err(problem) = apply(resource, &patch, schema) {
                problems.extend(resource.refuse(Problem::in_text(InText::Object(0), problem)));
            }
            let changed = guard.changed(resource, before);
            if keeps == KeepsId::No {
                index.add(at, &resources.as_slice()[at], schema);
            }
            if let Err(why) = changed {
                problems.push(why.into());
                break;
            }
        }
        problems.extend(clashes(0, resources, index, schema));
        problems
    }
}

/// The positions of resources, and of all that have the identity of one of them: kustomize knows what it has selected by
/// identities.
fn with_the_same(selected: Vec<usize>, resources: &ResMap, schema: &Schema) -> Vec<usize> {
    if !resources.may_clash() {
        return selected;
    }
    let all = resources.as_slice();
    let id = |at: usize| all[at].id(schema).fingerprint();
    let ids: HashSet<_> = selected.into_iter().map(id).collect();
    (0..all.len()).filter(|&at| ids.contains(&id(at))).collect()
}

/// What is the same after a patch, which may have been so before it: kustomize looks for that after each patch that it does
/// not apply by name. Another patch could part them again, which is too late.
fn clashes(number: usize, resources: &mut ResMap, index: &mut AnyId, schema: &Schema) -> Vec<Problem> {
    if !resources.may_clash() {
        return Vec::new();
    }
    resources.drop_empties();
    let clashes = resources.check_ids(schema);
    index.renew(resources.as_slice(), schema);
    let told = clashes.into_iter().map(|clash| Problem {
        at: At::Text(InText::Object(number)),
        ..clash.into_problem()
    });
    told.collect()
}

/// Whether what a patch changes keeps its identity.
fn keeps_id(patch: &Resource) -> KeepsId {
    match patch.may_change {
        MayChange::Neither => KeepsId::Yes,
        _ => KeepsId::No,
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
