//! JSON patches (RFC 6902).

use model::Value;
use smd::patch::{Checking, json};
use yaml::node::{Kind, Meaning, Node, Scalar, Text};
use yaml::{Lines, Step};

use crate::convert;
use crate::guard::Guarded;
use crate::problem::{At, InText, Problem};
use crate::resmap::{AnyId, KeepsId, Matcher, ResMap, Selector};
use crate::resource::Resource;
use crate::schema::Schema;
use crate::transform::{Lost, Transform, first};
use crate::unwritable;

/// A JSON patch that was read.
pub(super) struct JsonPatch {
    patch: json::Patch,
    count: usize,
    /// Whether annotations are replaced or removed as a whole.
    drops_annotations: bool,
    /// Whether it changes what identifies an object.
    renames: bool,
}

/// Whether a text that should be a patch, but is none, may be about what an object is called.
pub(super) fn mentions_names(text: &str) -> bool {
    text.contains("/metadata/name")
}

/// Far more than anyone writes by hand, but bounded.
const LIMITS: json::Limits = json::Limits {
    operations: 1_000_000,
    copied_bytes: 64 << 20,
    shifted_elements: 100_000_000,
};

impl JsonPatch {
    /// Reads a patch in JSON or YAML; or tells all that is wrong, and in which lines.
    pub(super) fn parse(text: &str) -> Result<JsonPatch, Vec<(usize, String)>> {
        if text.is_empty() {
            return Err(vec![(1, "empty json patch operations".to_owned())]);
        }
        // What begins as JSON has to be JSON, as with kustomize.
        let value =
            match text.starts_with('[') {
                true => model::json::parse(text.as_bytes())
                    .map_err(|error| vec![(error.line, error.to_string())])?,
                false => yaml::parse(text.as_bytes())
                    .map_err(|error| vec![(error.line(), error.without_values())])?,
            };
        let operations = match &value {
            Value::Array(operations) => operations.as_slice(),
            Value::Null => &[],
            other => {
                let message = format!(
                    "json: cannot unmarshal {} into Go value of type jsonpatch.Patch",
                    other.type_name()
                );
                return Err(vec![(1, message)]);
            }
        };
        let count = operations.len();
        let read = if value.is_null() {
            json::Patch::read(&Value::from(Vec::new()), Checking::Lax, LIMITS)
        } else {
            json::Patch::read(&value, Checking::Lax, LIMITS)
        };
        let (patch, _) = read.map_err(|error| unreadable(text, operations, &error))?;
        Ok(JsonPatch {
            patch,
            count,
            drops_annotations: operations.iter().any(drops_annotations),
            renames: operations.iter().any(renames),
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether objects keep their identities.
    pub(super) fn keeps_id(&self) -> KeepsId {
        match self.renames {
            true => KeepsId::No,
            false => KeepsId::Yes,
        }
    }

    /// Changes a resource, and gives all that is wrong: what fails on it, and where something does, all operations that fail on
    /// any object. Where there is none, nobody tells of those, and neither does kustomize.
    pub(super) fn apply(&self, resource: &mut Resource) -> Vec<Problem> {
        let Err(failed) = self.apply_to(resource) else {
            return Vec::new();
        };
        let (number, problem) = *failed;
        let flaws = self.patch.flaws();
        let is_flaw = flaws.iter().any(|(flaw, _)| Some(*flaw) == number);
        let own = resource.refuse(problem).filter(|_| !is_flaw);
        let flaws = flaws.into_iter().map(|(number, error)| {
            let at = InText::Field(vec![Step::Item(number)]);
            Problem::in_text(at, error.to_string())
        });
        own.into_iter().chain(flaws).collect()
    }

    /// Changes a resource, or gives what is wrong and with which operation. Once it has another name than at first, or might have,
    /// kustomize keeps notes in its annotations, and so there are annotations for a patch to add to or to remove.
    fn apply_to(&self, resource: &mut Resource) -> Result<(), Box<(Option<usize>, Problem)>> {
        resource.quote_in_brackets();
        let mut value = convert::to_value(&resource.node).map_err(|problem| {
            // It stands in the object, and so which one matters more than which patch.
            let all = unwritable::all(&resource.node).into_iter();
            let all: Vec<String> = all.map(|found| found.to_string()).collect();
            let all = if all.is_empty() { problem } else { all.join("; ") };
            Box::new((None, Problem::from(format!("{all} (in {})", resource.plain_id()))))
        })?;
        let added = resource.previous_ids().next().is_some() && add_annotations(&mut value);
        if let Err((number, error)) = self.patch.apply_numbered(&mut value) {
            if self.renames {
                resource.lose_name();
            }
            let at = InText::Field(vec![Step::Item(number)]);
            let message = format!("{error} (in {})", resource.plain_id());
            return Err(Box::new((Some(number), Problem::in_text(at, message))));
        }
        if added {
            drop_empty_annotations(&mut value);
        }
        let mut node = convert::from_value(&value);
        make_floats(&mut node);
        resource.rebuild(node);
        if self.drops_annotations {
            resource.forget_history();
        }
        Ok(())
    }
}

/// What is wrong with operations that could not be read: all that are no maps, or what is wrong with them as a whole.
fn unreadable(text: &str, operations: &[Value], whole: &smd::patch::Error) -> Vec<(usize, String)> {
    let lines = Lines::read(text);
    let odd = operations.iter().enumerate().filter_map(|(number, operation)| {
        let alone = Value::from(vec![operation.clone()]);
        let error = json::Patch::read(&alone, Checking::Lax, LIMITS).err()?;
        let line = lines
            .as_ref()
            .map_or(1, |lines| lines.line(&[Step::Item(number)]));
        Some((line, error.to_string()))
    });
    let odd: Vec<(usize, String)> = odd.collect();
    match odd.is_empty() {
        true => vec![(1, whole.to_string())],
        false => odd,
    }
}

/// All numbers have been floats to kustomize then, with the texts that Go has for those.
fn make_floats(node: &mut Node) {
    match node {
        Node::Map(map) => map.iter_mut().for_each(|(_, value)| make_floats(value)),
        Node::List(items) => items.iter_mut().for_each(make_floats),
        Node::Scalar(scalar) => {
            let number = match scalar.meaning() {
                Ok(Meaning::Int(number)) => number as f64,
                Ok(Meaning::Uint(number)) => number as f64,
                Ok(Meaning::Float(number)) => number,
                _ => return,
            };
            let text = yaml::go::float(number);
            if text != scalar.text.as_str() {
                let kind = if text.contains(['e', '.']) {
                    Kind::Float
                } else {
                    Kind::Int
                };
                *scalar = Scalar::new(text, kind);
            }
        }
    }
}

/// Whether an operation takes all annotations away, or puts others in their place.
fn drops_annotations(operation: &Value) -> bool {
    let text = |field: &str| operation.get(field).and_then(Value::as_str);
    let is_whole = |field: &str| matches!(text(field), Some("" | "/metadata" | "/metadata/annotations"));
    match text("op") {
        Some("add" | "replace" | "remove" | "copy") => is_whole("path"),
        Some("move") => is_whole("path") || is_whole("from"),
        _ => false,
    }
}

/// Whether an operation changes the name, namespace, kind or version of an object.
fn renames(operation: &Value) -> bool {
    let about = |field: &str| operation.get(field).and_then(Value::as_str);
    let is_name = |path: &str| {
        matches!(
            path,
            "" | "/metadata" | "/metadata/name" | "/metadata/namespace" | "/kind" | "/apiVersion"
        )
    };
    about("op") != Some("test") && ["path", "from"].into_iter().filter_map(about).any(is_name)
}

/// Gives an object annotations, if it has none.
fn add_annotations(object: &mut Value) -> bool {
    let metadata = object.as_object_mut().and_then(|map| map.get_mut("metadata"));
    let Some(metadata) = metadata.and_then(Value::as_object_mut) else {
        return false;
    };
    if metadata
        .get("annotations")
        .is_some_and(|annotations| !annotations.is_null())
    {
        return false;
    }
    metadata.insert("annotations", Value::object());
    true
}

fn drop_empty_annotations(object: &mut Value) {
    let metadata = object.as_object_mut().and_then(|map| map.get_mut("metadata"));
    if let Some(metadata) = metadata.and_then(Value::as_object_mut)
        && metadata
            .get("annotations")
            .and_then(Value::as_object)
            .is_some_and(model::Map::is_empty)
    {
        metadata.remove("annotations");
    }
}

/// An entry of `patchesJson6902`.
pub(crate) struct TargetedJson {
    /// `None` if it cannot be read.
    patch: Option<JsonPatch>,
    target: Selector,
}

impl TargetedJson {
    /// Reads an entry, whose patch stands in it or in a file; and tells all that is wrong with it.
    pub(crate) fn load(
        target: Option<&crate::config::Selector>,
        path: &str,
        inline: &str,
        load: super::Load<'_>,
    ) -> (TargetedJson, Vec<Problem>) {
        let target = target.cloned().unwrap_or_default();
        let mut problems = Vec::new();
        if target.name.is_empty() {
            problems.push(Problem::of("target", "must specify the target name"));
        }
        let patch = TargetedJson::patch(path, inline, load).map_err(|more| problems.extend(more));
        let entry = TargetedJson {
            patch: patch.ok().filter(|_| problems.is_empty()),
            target: target.into(),
        };
        (entry, problems)
    }

    fn patch(path: &str, inline: &str, load: super::Load<'_>) -> Result<JsonPatch, Vec<Problem>> {
        let loaded;
        let text = match (path, inline) {
            ("", "") => return Err(vec!["empty file path and empty jsonOp".to_owned().into()]),
            ("", inline) => inline,
            (path, "") => {
                loaded = load(path).map_err(|problem| vec![Problem::of("path", problem)])?;
                if loaded.is_empty() {
                    let message = format!("patch file '{path}' empty seems to be empty");
                    return Err(vec![Problem::new(At::File(path.to_owned(), None), message)]);
                }
                &loaded
            }
            _ => {
                return Err(vec![
                    "must specify a file path or jsonOp, not both".to_owned().into(),
                ]);
            }
        };
        // The text is not told: it may be that of a Secret.
        let read = JsonPatch::parse(text);
        let patch = read.map_err(|wrong| {
            let told = wrong.into_iter().map(|(line, problem)| {
                Problem::in_text(InText::Line(line), format!("decoding the patch: {problem}"))
            });
            told.collect::<Vec<_>>()
        })?;
        if patch.is_empty() {
            let message = "patch appears to be empty";
            return Err(vec![Problem::in_text(InText::Line(1), message)]);
        }
        Ok(patch)
    }
}

/// The entries of `patchesJson6902`, one after the other.
pub(crate) struct JsonPatches {
    entries: Vec<TargetedJson>,
    guard: Guarded,
}

impl JsonPatches {
    pub(crate) fn new(entries: Vec<TargetedJson>, guard: Guarded) -> Self {
        JsonPatches { entries, guard }
    }
}

impl TargetedJson {
    fn apply(
        &self,
        resources: &mut ResMap,
        index: &mut AnyId,
        schema: &Schema,
        guard: &Guarded,
    ) -> Vec<Problem> {
        let matcher = match Matcher::new(&self.target) {
            Ok(matcher) => matcher,
            Err(wrong) => return Problem::of_target(wrong),
        };
        let mut problems = Vec::new();
        for at in resources.select(&matcher, Some(index), schema) {
            let keeps = self.patch.as_ref().map_or(KeepsId::Yes, JsonPatch::keeps_id);
            let resource = resources.change(at, keeps);
            let Some(patch) = &self.patch else {
                Lost::Anything.note(resource);
                continue;
            };
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

impl Transform for JsonPatches {
    fn transform(&self, resources: &mut ResMap, schema: &Schema) -> Result<(), String> {
        first(self.transform_all(resources, schema))
    }

    fn transform_all(&self, resources: &mut ResMap, schema: &Schema) -> Vec<Problem> {
        let names = self
            .entries
            .iter()
            .map(|entry| Text::from(&entry.target.id.name))
            .collect();
        let mut index = AnyId::new(names, resources.as_slice(), schema);
        let mut problems = Vec::new();
        for (number, entry) in self.entries.iter().enumerate() {
            if let Err(why) = self.guard.begin() {
                problems.push(Problem::from(why).of_entry(number));
                break;
            }
            let wrong = entry
                .apply(resources, &mut index, schema, &self.guard)
                .into_iter();
            problems.extend(wrong.map(|problem| problem.of_entry(number)));
        }
        problems
    }
}
