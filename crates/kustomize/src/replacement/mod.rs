//! `replacements`: values that are copied from a field of one resource to fields of others.

mod structured;

use model::Value;
use yaml::node::Node;

use crate::config::{FieldOptions, Replacement, Selector, Source, Strictness, Target, decode};
use crate::field::{Created, lookup, select, split_bracketed};
use crate::id::{Gvk, ResId};
use crate::options::Release;
use crate::resmap::{Matcher, Names, ResMap};
use crate::resource::Resource;
use crate::schema::Schema;
use crate::transform::{Transform, first};

/// Copies values.
pub(crate) struct Replacements {
    replacements: Vec<Replacement>,
    release: Release,
}

impl Replacements {
    /// Reads the replacements that stand in files.
    pub(crate) fn load(
        entries: &[Replacement],
        load: &dyn Fn(&str) -> Result<Vec<u8>, String>,
        release: Release,
    ) -> Result<Replacements, String> {
        let mut result = Vec::new();
        for entry in entries {
            result.extend(Replacements::read(entry, load)?);
        }
        Ok(Replacements::new(result, release))
    }

    /// The replacements of an entry: itself, or those of its file.
    pub(crate) fn read(
        entry: &Replacement,
        load: &dyn Fn(&str) -> Result<Vec<u8>, String>,
    ) -> Result<Vec<Replacement>, String> {
        if entry.path.is_empty() {
            return Ok(vec![entry.clone()]);
        }
        if entry.source.is_some() || entry.targets.as_ref().is_some_and(|targets| !targets.is_empty()) {
            return Err("cannot specify both path and inline replacement".to_owned());
        }
        let content = load(&entry.path)?;
        let value = yaml::parse(&content).map_err(|error| format!("{}: {error}", entry.path))?;
        match value {
            Value::Array(_) => decode(&value, Strictness::Lax),
            Value::Object(_) => Ok(vec![decode(&value, Strictness::Lax)?]),
            other => Err(format!(
                "unsupported replacement type encountered within replacement path: {}",
                other.type_name()
            )),
        }
    }

    pub(crate) fn new(replacements: Vec<Replacement>, release: Release) -> Replacements {
        Replacements {
            replacements,
            release,
        }
    }

    fn replace(
        &self,
        replacement: &Replacement,
        resources: &mut ResMap,
        schema: &Schema,
    ) -> Result<(), String> {
        let Some(targets) = &replacement.targets else {
            return Err(NO_TARGET.to_owned());
        };
        let value = value(replacement, resources.as_slice(), schema)?;
        for target in targets {
            Resolved::new(target, self.release)?.apply(&value, resources.as_mut_slice(), schema)?;
        }
        Ok(())
    }
}

const DEFAULT_PATH: &str = "metadata.name";

impl Transform for Replacements {
    fn transform(&self, resources: &mut ResMap, schema: &Schema) -> Result<(), String> {
        first(self.transform_all(resources, schema))
    }

    fn transform_all(&self, resources: &mut ResMap, schema: &Schema) -> Vec<(Option<usize>, String)> {
        let replaced = self
            .replacements
            .iter()
            .map(|replacement| self.replace(replacement, resources, schema));
        // Entries may be files of several: which one it was is in the message.
        replaced
            .filter_map(Result::err)
            .map(|problem| (None, problem))
            .collect()
    }
}

const NO_TARGET: &str = "replacements must specify a source and at least one target";

/// The value to be copied.
fn value(replacement: &Replacement, resources: &[Resource], schema: &Schema) -> Result<Node, String> {
    match (&replacement.source_value, &replacement.source) {
        (Some(_), Some(_)) => Err("value and resource selectors are mutually exclusive".to_owned()),
        (None, None) => Err(NO_TARGET.to_owned()),
        (Some(text), None) => Ok(Node::plain(text)),
        (None, Some(source)) => from_source(source, resources, schema),
    }
}

fn ids(resource: &Resource, schema: &Schema) -> Vec<ResId> {
    let mut current = resource.id(schema);
    // kustomize does not ask the schema here.
    current.cluster_scoped = false;
    [current].into_iter().chain(resource.previous_ids()).collect()
}

fn from_source(source: &Source, resources: &[Resource], schema: &Schema) -> Result<Node, String> {
    let wanted = ResId {
        gvk: Gvk {
            group: source.group.as_str().into(),
            version: source.version.as_str().into(),
            kind: source.kind.as_str().into(),
        },
        name: source.name.as_str().into(),
        namespace: source.namespace.as_str().into(),
        cluster_scoped: false,
    };
    let path = if source.field_path.is_empty() {
        DEFAULT_PATH
    } else {
        &source.field_path
    };
    let shown = || {
        let mut text = wanted.to_string();
        for part in [source.field_path.clone(), shown_options(source.options.as_ref())] {
            if !part.is_empty() {
                text.push(':');
                text.push_str(&part);
            }
        }
        text
    };
    let mut found = None;
    for resource in resources {
        let fits = ids(resource, schema).iter().any(|id| id.is_selected_by(&wanted));
        if fits && found.replace(resource).is_some() {
            return Err(format!("multiple matches for selector {}", shown()));
        }
    }
    let Some(found) = found else {
        return Err(format!("nothing selected by {}", shown()));
    };
    let field = lookup(&found.node, &split_bracketed(path))
        .map_err(|problem| format!("error looking up replacement source: {problem}"))?;
    match field {
        Some(field) if !field.is_empty() => part_of(field, source.options.as_ref()),
        _ => Err(format!(
            "fieldPath `{path}` is missing for replacement source {wanted}"
        )),
    }
}

fn shown_options(options: Option<&FieldOptions>) -> String {
    match options {
        Some(options) if !options.delimiter.is_empty() || options.create => format!(
            "{}({}), create={}",
            options.delimiter, options.index, options.create
        ),
        _ => String::new(),
    }
}

const SCALARS_ONLY: &str = "delimiter option can only be used with scalar nodes";

/// The part of the source's field that is meant.
fn part_of(field: &Node, options: Option<&FieldOptions>) -> Result<Node, String> {
    let Some(options) = options.filter(|options| !options.delimiter.is_empty()) else {
        return Ok(field.clone());
    };
    let Node::Scalar(scalar) = field else {
        return Err(SCALARS_ONLY.to_owned());
    };
    let mut parts = field.text().split(options.delimiter.as_str());
    let part = usize::try_from(options.index)
        .ok()
        .and_then(|index| parts.nth(index));
    let Some(part) = part else {
        return Err(format!(
            "options.index {} is out of bounds for value {}",
            options.index,
            field.text()
        ));
    };
    let mut result = scalar.clone();
    result.text = part.into();
    Ok(Node::Scalar(result))
}

/// A target whose expressions were read.
struct Resolved<'t> {
    target: &'t Target,
    select: Matcher,
    reject: Vec<(Matcher, RejectBy)>,
    paths: Vec<(String, Vec<String>)>,
    release: Release,
}

/// What a rejection says something about.
struct RejectBy {
    id: bool,
    metadata: bool,
}

impl<'t> Resolved<'t> {
    fn new(target: &'t Target, release: Release) -> Result<Self, String> {
        let matcher = |selector: &Selector| {
            let names = match release {
                Release::V5_5 => Names::Literal,
                Release::V5_8 => Names::Expressions,
            };
            Matcher::with_names(&selector.clone().into(), names)
                .map_err(|problem| format!("error creating target selector: {problem}"))
        };
        let Some(selector) = &target.select else {
            return Err("target must specify resources to select".to_owned());
        };
        let reject = target.reject.iter().map(|selector| {
            let by = RejectBy {
                id: *selector
                    != Selector {
                        annotation_selector: selector.annotation_selector.clone(),
                        label_selector: selector.label_selector.clone(),
                        ..Selector::default()
                    },
                metadata: !selector.annotation_selector.is_empty() || !selector.label_selector.is_empty(),
            };
            Ok((matcher(selector)?, by))
        });
        let default = [DEFAULT_PATH.to_owned()];
        let paths = if target.field_paths.is_empty() {
            &default[..]
        } else {
            &target.field_paths
        };
        Ok(Resolved {
            target,
            select: matcher(selector)?,
            reject: reject.collect::<Result<_, String>>()?,
            paths: paths
                .iter()
                .map(|path| (path.clone(), split_bracketed(path)))
                .collect(),
            release,
        })
    }

    fn apply(&self, value: &Node, resources: &mut [Resource], schema: &Schema) -> Result<(), String> {
        for resource in resources {
            let rejected =
                |(matcher, by): &(Matcher, RejectBy)| by.metadata && matcher.fits_metadata(resource);
            if !self.select.fits_metadata(resource) || self.reject.iter().any(rejected) {
                continue;
            }
            let ids = ids(resource, schema);
            let fits = |matcher: &Matcher, id: &ResId| {
                matcher.fits_gvk(&id.gvk)
                    && matcher.fits_name(&id.name)
                    && matcher.fits_namespace(&id.namespace)
            };
            let rejected = self
                .reject
                .iter()
                .any(|(matcher, by)| by.id && ids.iter().any(|id| fits(matcher, id)));
            if !rejected && ids.iter().any(|id| fits(&self.select, id)) {
                self.copy(value, resource)?;
            }
        }
        Ok(())
    }

    fn copy(&self, value: &Node, resource: &mut Resource) -> Result<(), String> {
        let options = self.target.options.as_ref();
        let created = match value {
            _ if !options.is_some_and(|options| options.create) => Created::Nothing,
            Node::Scalar(_) => Created::Scalar,
            Node::List(_) => Created::List,
            Node::Map(_) => Created::Map,
        };
        for (path, parts) in &self.paths {
            if self.release == Release::V5_8 && structured::set(&mut resource.node, value, parts, created) {
                continue;
            }
            let missing = || {
                let what = if created == Created::Nothing {
                    "find"
                } else {
                    "find or create"
                };
                format!("unable to {what} field {path:?} in replacement target")
            };
            let mut failed = None;
            let count = select(&mut resource.node, parts, created, &mut |field| {
                set(field, value, options).inspect_err(|problem| failed = Some(problem.clone()))
            });
            if let Some(problem) = failed {
                return Err(problem);
            }
            match count.map_err(|problem| format!("{}: {problem}", missing()))? {
                0 => return Err(missing()),
                _ => continue,
            }
        }
        Ok(())
    }
}

/// Puts the value into a field: a scalar keeps its type and only gets the text.
fn set(field: &mut Node, value: &Node, options: Option<&FieldOptions>) -> Result<(), String> {
    let options = options.filter(|options| !options.delimiter.is_empty());
    let joined;
    let text = match options {
        None => value.raw_text(),
        Some(options) => {
            let Node::Scalar(old) = &*field else {
                return Err(SCALARS_ONLY.to_owned());
            };
            let mut parts: Vec<&str> = old.text.split(options.delimiter.as_str()).collect();
            match usize::try_from(options.index) {
                Err(_) => parts.insert(0, value.text()),
                Ok(index) if index >= parts.len() => parts.push(value.text()),
                Ok(index) => parts[index] = value.text(),
            }
            joined = parts.join(&options.delimiter);
            &joined
        }
    };
    match field {
        Node::Scalar(scalar) => scalar.text = text.into(),
        other => *other = value.clone(),
    }
    Ok(())
}
