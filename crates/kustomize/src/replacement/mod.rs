//! `replacements`: values that are copied from a field of one resource to fields of others.

mod source;
mod structured;
mod text;

use std::cell::Cell;
use std::collections::HashSet;

use model::Value;
use yaml::Step;
use yaml::node::{Node, Text};

use crate::config::{FieldOptions, Replacement, Selector, Strictness, Target, decode_all};
use crate::field::{Created, Writes, select, split_bracketed, unlink};
use crate::id::ResId;
use crate::options::Release;
use crate::problem::{At, InText, Needs, Problem, key};
use crate::resmap::{AnyId, Matcher, Names, ResMap};
use crate::resource::Resource;
use crate::schema::Schema;
use crate::transform::{Transform, first};
use source::Copied;

/// How many bytes a value has at most that is copied. One that is put into itself again and again would double each time; no cluster takes
/// an object that is half as large.
const LARGEST: usize = 4 << 20;

/// How many bytes all replacements of a kustomization copy at most.
const MOST_COPIED: usize = 128 << 20;

/// Copies values.
pub(crate) struct Replacements {
    entries: Vec<Entry>,
    release: Release,
}

/// The replacements of an entry: itself, or those of its file.
struct Entry {
    number: usize,
    form: Form,
    replacements: Vec<Replacement>,
}

/// How an entry says what is replaced.
#[derive(Clone, Copy)]
enum Form {
    Itself,
    /// A file that is one replacement.
    File,
    /// A file that is a list of them.
    Files,
}

impl Entry {
    /// A field of a replacement.
    fn at(&self, number: usize, path: Vec<Step>) -> At {
        match self.form {
            Form::Itself => At::Field(path),
            Form::File => At::Text(InText::Field(path)),
            Form::Files => At::Text(InText::Field([vec![Step::Item(number)], path].concat())),
        }
    }
}

impl Replacements {
    /// Reads the replacements that stand in files. What cannot be read is told.
    pub(crate) fn load(
        entries: &[Replacement],
        load: &dyn Fn(&str) -> Result<Vec<u8>, String>,
        release: Release,
    ) -> (Replacements, Vec<Problem>) {
        let (mut read, mut problems) = (Vec::new(), Vec::new());
        for (number, entry) in entries.iter().enumerate() {
            match Replacements::read(entry, load) {
                Ok((form, replacements)) => read.push(Entry {
                    number,
                    form,
                    replacements,
                }),
                Err(more) => problems.extend(more.into_iter().map(|problem| problem.of_entry(number))),
            }
        }
        let replacements = Replacements {
            entries: read,
            release,
        };
        (replacements, problems)
    }

    fn read(
        entry: &Replacement,
        load: &dyn Fn(&str) -> Result<Vec<u8>, String>,
    ) -> Result<(Form, Vec<Replacement>), Vec<Problem>> {
        if entry.path.is_empty() {
            return Ok((Form::Itself, vec![entry.clone()]));
        }
        if entry.source.is_some() || entry.targets.as_ref().is_some_and(|targets| !targets.is_empty()) {
            let message = "cannot specify both path and inline replacement".to_owned();
            return Err(vec![message.into()]);
        }
        let content = load(&entry.path).map_err(|problem| vec![Problem::of("path", problem)])?;
        let value = yaml::parse(&content).map_err(|error| {
            vec![Problem::in_text(
                InText::Line(error.line()),
                error.without_values(),
            )]
        })?;
        let (form, (replacements, mistakes)) = match value {
            Value::Array(_) => (Form::Files, decode_all(&value, Strictness::Lax)),
            Value::Object(_) => {
                let (one, mistakes) = decode_all(&value, Strictness::Lax);
                (Form::File, (vec![one], mistakes))
            }
            other => {
                let message = format!(
                    "unsupported replacement type encountered within replacement path: {}",
                    other.type_name()
                );
                return Err(vec![Problem::in_text(InText::Line(1), message)]);
            }
        };
        if mistakes.is_empty() {
            return Ok((form, replacements));
        }
        let told = mistakes.into_iter();
        let told = told.map(|mistake| Problem::in_text(InText::Field(mistake.steps), mistake.message));
        Err(told.collect())
    }

    /// Makes a replacement; gives all that is wrong with it, with the ways to the fields.
    fn replace(
        &self,
        replacement: &Replacement,
        resources: &mut ResMap,
        index: &mut AnyId,
        schema: &Schema,
        left: &Cell<usize>,
    ) -> Vec<Wrong> {
        let Some(targets) = &replacement.targets else {
            return vec![Wrong::new(Vec::new(), NO_TARGET)];
        };
        let mut wrong = Vec::new();
        let value = Copied::new(replacement, resources.as_slice(), index, schema);
        let mut value = value.map_err(|problem| wrong.extend(problem)).ok();
        for (number, target) in targets.iter().enumerate() {
            let failed = match Resolved::new(target, self.release, left) {
                Err(failed) => failed,
                Ok(resolved) => resolved.apply(value.as_mut(), resources, index, schema),
            };
            let way = [key("targets"), Step::Item(number)];
            wrong.extend(failed.into_iter().map(|failed| Wrong {
                path: [&way[..], &failed.path].concat(),
                ..failed
            }));
        }
        wrong
    }
}

impl Replacements {
    /// The names by which resources are looked for.
    fn names(&self) -> HashSet<Text> {
        let replacements = || self.entries.iter().flat_map(|entry| &entry.replacements);
        let sources = replacements().filter_map(|replacement| replacement.source.as_ref());
        let targets = replacements().flat_map(|replacement| replacement.targets.iter().flatten());
        let selected = targets.filter_map(|target| target.select.as_ref());
        let names = sources
            .map(|source| &source.name)
            .chain(selected.map(|select| &select.name));
        names.map(|name| Text::from(name.as_str())).collect()
    }
}

/// Something that is wrong with a replacement.
struct Wrong {
    /// The way to the field.
    path: Vec<Step>,
    message: String,
    needs: Needs,
}

impl Wrong {
    fn new(path: Vec<Step>, message: impl Into<String>) -> Wrong {
        Wrong {
            path,
            message: message.into(),
            needs: Needs::Nothing,
        }
    }
}

const DEFAULT_PATH: &str = "metadata.name";

impl Transform for Replacements {
    fn transform(&self, resources: &mut ResMap, schema: &Schema) -> Result<(), String> {
        first(self.transform_all(resources, schema))
    }

    fn transform_all(&self, resources: &mut ResMap, schema: &Schema) -> Vec<Problem> {
        let mut index = AnyId::new(self.names(), resources.as_slice(), schema);
        let mut problems = Vec::new();
        let left = Cell::new(MOST_COPIED);
        for entry in &self.entries {
            for (number, replacement) in entry.replacements.iter().enumerate() {
                let wrong = self
                    .replace(replacement, resources, &mut index, schema, &left)
                    .into_iter();
                problems.extend(wrong.map(|wrong| {
                    let problem = Problem::new(entry.at(number, wrong.path), wrong.message);
                    problem.needing(wrong.needs).of_entry(entry.number)
                }));
            }
        }
        problems
    }
}

const NO_TARGET: &str = "replacements must specify a source and at least one target";

fn ids(resource: &Resource, schema: &Schema) -> Vec<ResId> {
    let mut current = resource.id(schema);
    // kustomize does not ask the schema here.
    current.cluster_scoped = false;
    [current].into_iter().chain(resource.previous_ids()).collect()
}

const SCALARS_ONLY: &str = "delimiter option can only be used with scalar nodes";

/// Where to look for resources: where the name is known, or everywhere.
fn candidates(name: Option<&str>, resources: &[Resource], index: &mut AnyId) -> Vec<usize> {
    match name {
        Some(name) => index.named(name, resources),
        None => (0..resources.len()).collect(),
    }
}

/// A target whose expressions were read.
struct Resolved<'t> {
    target: &'t Target,
    select: Matcher,
    reject: Vec<(Matcher, RejectBy)>,
    paths: Vec<(String, Vec<String>)>,
    release: Release,
    /// How many bytes may still be copied.
    left: &'t Cell<usize>,
}

/// What a rejection says something about.
struct RejectBy {
    id: bool,
    metadata: bool,
}

impl<'t> Resolved<'t> {
    fn new(target: &'t Target, release: Release, left: &'t Cell<usize>) -> Result<Self, Vec<Wrong>> {
        let mut wrong = Vec::new();
        let mut matcher = |path: &[Step], selector: &Selector| {
            let names = match release {
                Release::V5_5 => Names::Literal,
                Release::V5_8 => Names::Expressions,
            };
            let read = Matcher::with_names(&selector.clone().into(), names);
            read.map_err(|fields| {
                wrong.extend(fields.into_iter().map(|(field, problem)| {
                    let message = format!("error creating target selector: {problem}");
                    Wrong::new([path, &[key(field)]].concat(), message)
                }));
            })
            .ok()
        };
        let select = match &target.select {
            Some(selector) => matcher(&[key("select")], selector),
            None => None,
        };
        let rejected = target.reject.iter().enumerate().filter_map(|(number, selector)| {
            let by = RejectBy {
                id: *selector
                    != Selector {
                        annotation_selector: selector.annotation_selector.clone(),
                        label_selector: selector.label_selector.clone(),
                        ..Selector::default()
                    },
                metadata: !selector.annotation_selector.is_empty() || !selector.label_selector.is_empty(),
            };
            Some((matcher(&[key("reject"), Step::Item(number)], selector)?, by))
        });
        let reject: Vec<_> = rejected.collect();
        if target.select.is_none() {
            wrong.push(Wrong::new(Vec::new(), "target must specify resources to select"));
        }
        let (Some(select), true) = (select, wrong.is_empty()) else {
            return Err(wrong);
        };
        let default = [DEFAULT_PATH.to_owned()];
        let paths = if target.field_paths.is_empty() {
            &default[..]
        } else {
            &target.field_paths
        };
        Ok(Resolved {
            target,
            select,
            reject,
            paths: paths
                .iter()
                .map(|path| (path.clone(), split_bracketed(path)))
                .collect(),
            release,
            left,
        })
    }

    /// Copies a value to what is selected. Without one, that is without what it should have.
    fn apply(
        &self,
        mut value: Option<&mut Copied>,
        resources: &mut ResMap,
        index: &mut AnyId,
        schema: &Schema,
    ) -> Vec<Wrong> {
        let mut wrong = Vec::new();
        for at in candidates(self.select.only_name(), resources.as_slice(), index) {
            let resource = &mut resources.as_mut_slice()[at];
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
                match &mut value {
                    Some(value) => self.copy(value, at, resource, &mut wrong),
                    None => resource.fail_change(),
                }
                // It may have got another name.
                index.add(at, &resources.as_slice()[at], schema);
            }
        }
        wrong
    }

    fn copy(&self, value: &mut Copied, at: usize, resource: &mut Resource, wrong: &mut Vec<Wrong>) {
        let options = self.target.options.as_ref();
        for (number, (path, parts)) in self.paths.iter().enumerate() {
            value.renew(at, resource);
            let cost = weight(&value.node);
            if let Err(problem) = self.spend(cost) {
                let problem = Wrong::new(vec![key("fieldPaths"), Step::Item(number)], problem);
                wrong.extend(resource.refuse(problem));
                continue;
            }
            let created = match &value.node {
                _ if !options.is_some_and(|options| options.create) => Created::Nothing,
                Node::Scalar(_) => Created::Scalar,
                Node::List(_) => Created::List,
                Node::Map(_) => Created::Map,
            };
            if self.release == Release::V5_8
                && structured::set(&mut resource.node, &value.node, parts, created)
            {
                continue;
            }
            if matches!(created, Created::List | Created::Map) {
                // What is made in the object that the value comes from is part of the value.
                let _ = select(&mut resource.node, parts, created, &mut |_: &mut Node| Ok(()));
                value.renew(at, resource);
            }
            let value = &value.node;
            let missing = || {
                let what = if created == Created::Nothing {
                    "find"
                } else {
                    "find or create"
                };
                format!("unable to {what} field {path:?} in replacement target")
            };
            let mut failed = None;
            let mut writes = Writes::default();
            let count = select(&mut resource.node, parts, created, &mut |field| {
                let done = self.spend(cost);
                let done = done.and_then(|()| writes.change(field, |field| set(field, value, options)));
                done.inspect_err(|problem| failed = Some(problem.clone()))
            });
            writes.spread(&mut resource.node);
            let problem = match (failed, count) {
                (Some(problem), _) => problem,
                (None, Err(problem)) => format!("{}: {problem}", missing()),
                (None, Ok(0)) => missing(),
                (None, Ok(_)) => continue,
            };
            let problem = Wrong::new(vec![key("fieldPaths"), Step::Item(number)], problem);
            wrong.extend(resource.refuse(problem));
        }
        value.renew(at, resource);
    }
}

impl Resolved<'_> {
    /// Takes note of so many bytes that are about to be copied.
    fn spend(&self, bytes: usize) -> Result<(), String> {
        if bytes > LARGEST {
            return Err(format!(
                "the value has more than {LARGEST} bytes, which no object can hold: is it copied into itself?"
            ));
        }
        let left = self.left.get().checked_sub(bytes).ok_or_else(|| {
            format!("the replacements copy more than {MOST_COPIED} bytes: copy less, or to fewer fields")
        })?;
        self.left.set(left);
        Ok(())
    }
}

/// How many bytes a value takes, about.
fn weight(node: &Node) -> usize {
    let inner = match node {
        Node::Scalar(scalar) => scalar.text.len(),
        Node::List(items) => items.iter().map(weight).sum(),
        Node::Map(map) => map.iter().map(|(key, value)| key.len() + weight(value)).sum(),
    };
    inner + std::mem::size_of::<Node>()
}

/// Puts the value into a field: a scalar keeps its type and only gets the text.
fn set(field: &mut Node, value: &Node, options: Option<&FieldOptions>) -> Result<(), String> {
    let options = options.filter(|options| !options.delimiter.is_empty());
    let whole;
    let text = match options {
        None => value.raw_text(),
        Some(options) => {
            let Node::Scalar(old) = &*field else {
                return Err(SCALARS_ONLY.to_owned());
            };
            whole = joined(&old.text, value, options);
            &whole
        }
    };
    match field {
        Node::Scalar(scalar) => scalar.set_text(text),
        other => {
            *other = value.clone();
            unlink(other);
        }
    }
    Ok(())
}

/// A text with the value as one of its parts.
fn joined(old: &str, value: &Node, options: &FieldOptions) -> String {
    // What has no type is never `null`.
    let part = match value {
        Node::Scalar(scalar) if scalar.untyped => value.raw_text(),
        _ => value.text(),
    };
    let mut parts: Vec<&str> = old.split(options.delimiter.as_str()).collect();
    match usize::try_from(options.index) {
        Err(_) => parts.insert(0, part),
        Ok(index) if index >= parts.len() => parts.push(part),
        Ok(index) => parts[index] = part,
    }
    parts.join(&options.delimiter)
}
