//! `patches`, `patchesStrategicMerge` and `patchesJson6902`: changes to single resources.

mod json6902;
mod strategic;

pub(crate) use json6902::{JsonPatches, TargetedJson};
pub(crate) use strategic::StrategicPatches;

use json6902::JsonPatch;
use strategic::{ByName, Targeted};

/// Reads a file of patches.
pub(crate) type Load<'l> = &'l dyn Fn(&str) -> Result<String, String>;

use yaml::node::{Text, Texts};

use crate::config::{Patch as Config, PatchOptions};
use crate::guard::Guarded;
use crate::id::ResId;
use crate::problem::{InText, Problem};
use crate::resmap::{AnyId, Matcher, ResMap, Selector};
use crate::resource::{MayChange, Resource, from_text};
use crate::schema::Schema;
use crate::transform::{Lost, Transform, first};

/// An entry of `patches`: of either form.
pub(crate) struct Patch {
    content: Content,
    /// Most patches have none.
    target: Option<Box<Selector>>,
    /// How the patch is named in messages; `None` for one of which there is nothing to complain.
    source: Option<String>,
}

enum Content {
    Strategic(Vec<Resource>),
    Json(JsonPatch),
    /// It cannot be read, but for some of its documents.
    Lost(Lost, Vec<Resource>),
}

impl Patch {
    /// Reads an entry.
    pub(crate) fn load(config: &Config, load: Load<'_>, texts: &mut Texts) -> Result<Patch, Vec<Problem>> {
        match (config.patch.trim(), config.path.as_str()) {
            ("", "") => Err(vec!["must specify one of patch and path".to_owned().into()]),
            ("", path) => {
                let text = load(path).map_err(|problem| {
                    let message = format!("failed to get the patch file from path({path}): {problem}");
                    vec![Problem::of("path", message)]
                })?;
                Patch::new(config, &text, texts)
            }
            (text, "") => Patch::new(config, text, texts),
            _ => Err(vec![
                "patch and path can't be set at the same time".to_owned().into(),
            ]),
        }
    }

    /// An entry whose fields cannot be read.
    pub(crate) fn unread() -> Patch {
        Patch {
            content: Content::Lost(Lost::Anything, Vec::new()),
            target: None,
            source: None,
        }
    }

    /// An entry whose patch cannot be read. What it is for is known; and what can be read of several patches is.
    pub(crate) fn lost(config: &Config, load: Load<'_>) -> Patch {
        let text = match config.path.as_str() {
            "" => Some(config.patch.clone()),
            path => load(path).ok(),
        };
        let may_rename = match (&config.options, &config.target) {
            (Some(options), _) if options.allow_name_change || options.allow_kind_change => true,
            (_, None) => false,
            // A JSON patch has a target, and needs no option to rename it.
            (_, Some(_)) => text.as_deref().is_none_or(json6902::mentions_names),
        };
        // With a target there may be one alone.
        let text = text.filter(|_| config.target.is_none());
        let read = text.map_or(Ok(Vec::new()), |text| {
            from_text(text.trim(), &mut Texts::default())
        });
        let good = read.err().map_or_else(Vec::new, |malformed| malformed.good);
        let options = config.options.clone().unwrap_or_default();
        let good = good.into_iter().map(|parsed| allow(parsed.resource, &options));
        let lost = if may_rename {
            Lost::Anything
        } else {
            Lost::Deletions
        };
        Patch {
            content: Content::Lost(lost, good.collect()),
            target: config.target.clone().map(|target| Box::new(target.into())),
            source: None,
        }
    }

    /// Finds out which form the patch has. `text` is the patch itself, from the entry or from its file.
    fn new(config: &Config, text: &str, texts: &mut Texts) -> Result<Patch, Vec<Problem>> {
        // The text is not told: it may be that of a Secret.
        let source = match config.path.as_str() {
            "" => "[patch]".to_owned(),
            path => format!("[path: {path:?}]"),
        };
        let strategic = from_text(text, texts);
        let json = JsonPatch::parse(text);
        let target = config.target.clone().map(|target| Box::new(target.into()));
        let content = match (strategic, json) {
            (Ok(strategic), Ok(json)) if !strategic.is_empty() && !json.is_empty() => {
                return Err(vec![
                    format!("illegally qualifies as both an SM and JSON patch: {source}").into(),
                ]);
            }
            (Err(malformed), Err(wrong)) => {
                let whole = &config.patch;
                let blank = whole.len() - whole.trim_start().len();
                let left_out = whole[..blank].matches('\n').count();
                let is_list = yaml::parse(text.as_bytes()).is_ok_and(|value| value.as_array().is_some());
                let reasons = if is_list || text.starts_with('[') {
                    let told = wrong.into_iter();
                    told.map(|(line, problem)| Problem::in_text(InText::Line(line + left_out), problem))
                        .collect()
                } else {
                    malformed.into_problems(left_out)
                };
                let words = format!("unable to parse SM or JSON patch from {source}: ");
                return Err(reasons.into_iter().map(|reason| reason.after(&words)).collect());
            }
            (Ok(strategic), _) => {
                let options = config.options.clone().unwrap_or_default();
                let patches = strategic
                    .into_iter()
                    .map(|parsed| allow(parsed.resource, &options));
                Content::Strategic(patches.collect())
            }
            (Err(_), Ok(json)) => Content::Json(json),
        };
        let is_wrong = match &content {
            Content::Strategic(patches) => target.is_some() && patches.len() > 1,
            Content::Json(_) => target.is_none(),
            Content::Lost(..) => false,
        };
        Ok(Patch {
            content,
            target,
            source: is_wrong.then_some(source),
        })
    }

    /// The names by which resources are looked for.
    fn names(&self) -> Vec<Text> {
        match (&self.content, &self.target) {
            (_, Some(target)) => vec![Text::from(&target.id.name)],
            (Content::Strategic(patches) | Content::Lost(_, patches), None) => {
                patches.iter().map(Resource::shared_name).collect()
            }
            (Content::Json(_), None) => Vec::new(),
        }
    }

    /// Whether this patch finds its resource by its own name.
    fn is_by_name(&self) -> bool {
        self.target.is_none() && matches!(self.content, Content::Strategic(_))
    }
}

fn allow(mut patch: Resource, options: &PatchOptions) -> Resource {
    patch.may_change = MayChange::new(
        patch.may_change.name() || options.allow_name_change,
        patch.may_change.kind() || options.allow_kind_change,
    );
    if options.allow_name_change || options.allow_kind_change {
        // kustomize says so in an annotation of the patch, and makes strings of all of them for that.
        patch.set_texts("annotations", &patch.texts("annotations"));
    }
    patch
}

/// The patches of a kustomization, one after the other.
pub(crate) struct Patches {
    patches: Vec<Patch>,
    guard: Guarded,
}

impl Patches {
    pub(crate) fn new(patches: Vec<Patch>, guard: Guarded) -> Self {
        Patches { patches, guard }
    }
}

impl Transform for Patches {
    fn merges(&self) -> bool {
        let mut patches = self.patches.iter();
        patches.any(|patch| matches!(patch.content, Content::Strategic(_)))
    }

    fn transform(&self, resources: &mut ResMap, schema: &Schema) -> Result<(), String> {
        first(self.transform_all(resources, schema))
    }

    fn transform_all(&self, resources: &mut ResMap, schema: &Schema) -> Vec<Problem> {
        let names = self.patches.iter().flat_map(Patch::names).collect();
        let mut index = AnyId::new(names, resources.as_slice(), schema);
        let mut problems = Vec::new();
        for (number, patch) in self.patches.iter().enumerate() {
            if let Err(why) = self.guard.begin() {
                problems.push(Problem::from(why).of_entry(number));
                break;
            }
            let failed = patch.apply(resources, &mut index, schema, &self.guard);
            problems.extend(failed.into_iter().map(|problem| problem.of_entry(number)));
            if !patch.is_by_name() {
                // A selected patch may have deleted resources, which kustomize then drops at once.
                let before = resources.len();
                resources.drop_empties();
                if resources.len() != before {
                    index.renew(resources.as_slice(), schema);
                }
            }
        }
        problems
    }
}

impl Patch {
    fn apply(
        &self,
        resources: &mut ResMap,
        index: &mut AnyId,
        schema: &Schema,
        guard: &Guarded,
    ) -> Vec<Problem> {
        let refused = |what: &str| {
            let source = self.source.as_deref().unwrap_or_default();
            vec![format!("{what} {source}").into()]
        };
        match (&self.content, &self.target) {
            (Content::Strategic(patches), None) => by_name(patches, resources, index, schema),
            (Content::Strategic(patches), Some(target)) => match patches.as_slice() {
                [] => Vec::new(),
                [patch] => Targeted { patch, target }.apply(resources, index, schema, guard),
                _ => refused(
                    "Multiple Strategic-Merge Patches in one `patches` entry is not allowed to set `patches.target` field:",
                ),
            },
            (Content::Lost(lost, good), target) => {
                match target.as_ref().and_then(|target| Matcher::new(target).ok()) {
                    Some(matcher) => {
                        for at in resources.select(&matcher, Some(index), schema) {
                            lost.note(&mut resources.contents_mut()[at]);
                        }
                        Vec::new()
                    }
                    None => {
                        lost.transform_all(resources, schema);
                        by_name(good, resources, index, schema)
                    }
                }
            }
            (Content::Json(_), None) => refused("must specify a target for JSON patch"),
            (Content::Json(patch), Some(target)) => {
                let matcher = match Matcher::new(target) {
                    Ok(matcher) => matcher,
                    Err(wrong) => return Problem::of_target(wrong),
                };
                let mut problems = Vec::new();
                for at in resources.select(&matcher, Some(index), schema) {
                    let resource = resources.change(at, patch.keeps_id());
                    resource.remember_id(schema);
                    let before = guard.size(resource);
                    problems.extend(patch.apply(resource));
                    let changed = guard.changed(resource, before);
                    index.add(at, &resources.as_slice()[at], schema);
                    if let Err(why) = changed {
                        problems.push(why.into());
                        break;
                    }
                }
                problems
            }
        }
    }
}

/// Applies patches to the resources of their names, one after the other.
fn by_name(patches: &[Resource], resources: &mut ResMap, index: &mut AnyId, schema: &Schema) -> Vec<Problem> {
    let explain = |id: &ResId, problem: String| {
        let id = id.to_string();
        format!("no resource matches strategic merge patch {id:?}: {problem}")
    };
    let patches = patches.iter().enumerate();
    let failed = patches
        .filter_map(|(number, patch)| ByName { number, patch }.apply(resources, index, schema, explain));
    failed.collect()
}
