//! `patches`, `patchesStrategicMerge` and `patchesJson6902`: changes to single resources.

mod json6902;
mod strategic;

pub(crate) use json6902::JsonPatches;
pub(crate) use strategic::StrategicPatches;

use json6902::JsonPatch;
use strategic::{Targeted, apply_all};

/// Reads a file of patches.
pub(crate) type Load<'l> = &'l dyn Fn(&str) -> Result<String, String>;

use yaml::node::{Text, Texts};

use crate::config::{Patch as Config, PatchOptions};
use crate::resmap::{AnyId, Matcher, ResMap, Selector};
use crate::resource::{Resource, from_text};
use crate::schema::Schema;
use crate::transform::{Transform, first};

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
}

impl Patch {
    /// Reads an entry.
    pub(crate) fn load(config: &Config, load: Load<'_>, texts: &mut Texts) -> Result<Patch, String> {
        match (config.patch.trim(), config.path.as_str()) {
            ("", "") => Err("must specify one of patch and path".to_owned()),
            ("", path) => {
                let text = load(path).map_err(|problem| {
                    format!("failed to get the patch file from path({path}): {problem}")
                })?;
                Patch::new(config, &text, texts)
            }
            (text, "") => Patch::new(config, text, texts),
            _ => Err("patch and path can't be set at the same time".to_owned()),
        }
    }

    /// Finds out which form the patch has. `text` is the patch itself, from the entry or from its file.
    fn new(config: &Config, text: &str, texts: &mut Texts) -> Result<Patch, String> {
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
                return Err(format!(
                    "illegally qualifies as both an SM and JSON patch: {source}"
                ));
            }
            (Err(_), Err(_)) => {
                let reason = yaml::documents(text).find_map(Result::err);
                let reason = reason.map_or_else(String::new, |error| format!(": {error}"));
                return Err(format!("unable to parse SM or JSON patch from {source}{reason}"));
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
            (Content::Strategic(patches), None) => patches.iter().map(Resource::shared_name).collect(),
            (Content::Json(_), None) => Vec::new(),
        }
    }

    /// Whether this patch finds its resource by its own name.
    fn is_by_name(&self) -> bool {
        self.target.is_none() && matches!(self.content, Content::Strategic(_))
    }
}

fn allow(mut patch: Resource, options: &PatchOptions) -> Resource {
    patch.may_rename = options.allow_name_change;
    patch.may_change_kind = options.allow_kind_change;
    patch
}

/// The patches of a kustomization, one after the other.
pub(crate) struct Patches(pub(crate) Vec<Patch>);

impl Transform for Patches {
    fn transform(&self, resources: &mut ResMap, schema: &Schema) -> Result<(), String> {
        first(self.transform_all(resources, schema))
    }

    fn transform_all(&self, resources: &mut ResMap, schema: &Schema) -> Vec<(Option<usize>, String)> {
        let names = self.0.iter().flat_map(Patch::names).collect();
        let mut index = AnyId::new(names, resources.as_slice(), schema);
        let mut problems = Vec::new();
        for (number, patch) in self.0.iter().enumerate() {
            if let Err(problem) = patch.apply(resources, &mut index, schema) {
                problems.push((Some(number), problem));
            }
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
    fn apply(&self, resources: &mut ResMap, index: &mut AnyId, schema: &Schema) -> Result<(), String> {
        match (&self.content, &self.target) {
            (Content::Strategic(patches), None) => {
                apply_all(patches, resources, index, schema, |id, problem| {
                    format!(
                        "no resource matches strategic merge patch {:?}: {problem}",
                        id.to_string()
                    )
                })
            }
            (Content::Strategic(patches), Some(target)) => match patches.as_slice() {
                [] => Ok(()),
                [patch] => Targeted { patch, target }.apply(resources, index, schema),
                _ => Err(format!(
                    "Multiple Strategic-Merge Patches in one `patches` entry is not allowed to set `patches.target` \
                     field: {}",
                    self.source.as_deref().unwrap_or_default()
                )),
            },
            (Content::Json(_), None) => Err(format!(
                "must specify a target for JSON patch {}",
                self.source.as_deref().unwrap_or_default()
            )),
            (Content::Json(patch), Some(target)) => {
                let matcher = Matcher::new(target)?;
                for at in resources.select(&matcher, Some(index), schema) {
                    let resource = &mut resources.as_mut_slice()[at];
                    resource.remember_id(schema);
                    patch.apply(resource)?;
                    index.add(at, &resources.as_slice()[at], schema);
                }
                Ok(())
            }
        }
    }
}
