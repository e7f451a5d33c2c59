//! Whether a value fits a schema.

mod array;
mod combine;
mod object;
mod scalar;
mod unevaluated;

use std::cell::Cell;

use model::{Map, Value};
use unevaluated::Unevaluated;

use super::document::{Document, Schema, Target};
use super::draft::Draft;
use super::failure::{Failure, Failures, Kind, quote};
use super::{format, number};
use crate::render::Stop;

/// How many schemas are looked at: references can multiply without end.
const MAX_STEPS: usize = 300_000;
/// How many schemas may be inside of one another.
const MAX_DEPTH: usize = 400;

/// How many bytes the failures have together. Of those after that there is no text: lists of what is allowed can be as long as the schema, and
/// fail as often as there are steps.
const MAX_TOLD: usize = 1 << 20;

/// Checks one value.
pub(super) struct Validator<'d> {
    document: &'d Document<'d>,
    /// Where in the value we are.
    place: Vec<String>,
    /// The schemas on the way here, each with the number of the value it is about.
    scopes: Vec<(Schema<'d>, usize)>,
    steps: usize,
    /// The bytes of all failures so far.
    told: Cell<usize>,
    /// Tells when to stop, and why it did.
    stop: Option<&'d Stop>,
    stopped: Option<String>,
}

/// What is found about one value by one schema.
struct Findings {
    failures: Vec<Failure>,
    unevaluated: Unevaluated,
}

impl<'d> Validator<'d> {
    pub(super) fn new(document: &'d Document<'d>, stop: Option<&'d Stop>) -> Self {
        Validator {
            document,
            place: Vec::new(),
            scopes: Vec::new(),
            steps: 0,
            told: Cell::new(0),
            stop,
            stopped: None,
        }
    }

    pub(super) fn run(&mut self, value: &Value) -> Result<(), Failures> {
        let root = self.document.root();
        let checked = self.schema(root, value, 0, false);
        if let Some(why) = self.stopped.take() {
            return Err(Failures(vec![self.problem(why)]));
        }
        match checked {
            Ok(_) => Ok(()),
            Err(failure) => Err(Failures(failure.into_causes())),
        }
    }

    /// Checks a value against a schema. What it says about parts of the value that no schema has looked at goes to the
    /// caller, if that one wants it.
    fn schema(
        &mut self,
        schema: Schema<'d>,
        value: &Value,
        number: usize,
        wanted: bool,
    ) -> Result<Unevaluated, Failure> {
        let map = match schema.node {
            Value::Bool(true) => return Ok(Unevaluated::of(value, &Map::new(), Draft::Draft2020, wanted)),
            Value::Bool(false) => return Err(self.problem("false schema")),
            Value::Object(map) => map,
            other => {
                let text = format!("got {}, want boolean or object", type_of(other));
                return Err(self.problem(text));
            }
        };
        self.steps += 1;
        if self.stopped.is_none() {
            self.stopped = self.stop.and_then(|stop| stop());
        }
        if let Some(why) = &self.stopped {
            return Err(self.problem(why.as_str()));
        }
        if self.steps > MAX_STEPS || self.scopes.len() > MAX_DEPTH {
            return Err(self.problem("the schema is too large or too deep for this value: make it simpler"));
        }
        let is_known = self
            .scopes
            .iter()
            .rev()
            .take_while(|(_, other)| *other == number)
            .any(|(other, _)| std::ptr::eq(other.node, schema.node));
        if is_known {
            return Err(self.problem("the schema refers to itself without end"));
        }
        self.scopes.push((schema, number));
        let found = self.check(schema, map, value, wanted);
        self.scopes.pop();
        let mut found = found?;
        match found.failures.len() {
            0 => Ok(found.unevaluated),
            1 => Err(found.failures.remove(0)),
            _ => Err(Failure {
                place: self.told_place(),
                kind: Kind::Group,
                causes: found.failures,
            }),
        }
    }

    fn check(
        &mut self,
        schema: Schema<'d>,
        map: &'d Map,
        value: &Value,
        wanted: bool,
    ) -> Result<Findings, Failure> {
        let draft = self.document.resources[schema.resource].draft;
        let mut found = Findings {
            failures: Vec::new(),
            unevaluated: Unevaluated::of(value, map, draft, wanted),
        };
        if map.contains_key("$ref") && draft.has_lone_refs() {
            self.reference(schema, "$ref", value, &mut found);
            return Ok(found);
        }
        self.simple(map, draft, value)?;
        self.reference(schema, "$ref", value, &mut found);
        match value {
            Value::Object(object) => self.object(schema, map, draft, object, value, &mut found),
            Value::Array(items) => self.array(schema, map, draft, items, &mut found),
            Value::Str(text) => self.text(map, text, &mut found),
            Value::Int(_) | Value::Float(_) => self.number(map, value, &mut found),
            _ => {}
        }
        if draft == Draft::Draft2019 {
            self.reference(schema, "$recursiveRef", value, &mut found);
        }
        if draft >= Draft::Draft2020 {
            self.reference(schema, "$dynamicRef", value, &mut found);
        }
        self.combine(schema, map, draft, value, &mut found);
        if draft >= Draft::Draft2019 {
            self.left_over(schema, map, value, &mut found);
        }
        Ok(found)
    }

    /// What ends the check at once: type, `const`, `enum` and `format`.
    fn simple(&self, map: &Map, draft: Draft, value: &Value) -> Result<(), Failure> {
        let types: Vec<&str> = match map.get("type") {
            Some(Value::Str(one)) => vec![one],
            Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let got = type_of(value);
        let fits = |wanted: &&str| *wanted == got || *wanted == "integer" && number::is_whole(value);
        if !types.is_empty() && !types.iter().any(fits) {
            const ORDER: [&str; 7] = [
                "null", "boolean", "number", "integer", "string", "array", "object",
            ];
            let wanted: Vec<&str> = ORDER.into_iter().filter(|kind| types.contains(kind)).collect();
            return Err(self.problem(format!("got {got}, want {}", wanted.join(" or "))));
        }
        if draft >= Draft::Draft6
            && let Some(wanted) = map.get("const")
            && wanted != value
        {
            let text = match wanted {
                Value::Array(_) | Value::Object(_) => "'const' failed".to_owned(),
                wanted => format!("value must be {}", display(wanted)),
            };
            return Err(self.problem(text));
        }
        if let Some(Value::Array(wanted)) = map.get("enum")
            && !wanted.contains(value)
        {
            let are_plain = wanted
                .iter()
                .all(|value| !matches!(value, Value::Array(_) | Value::Object(_)));
            let shown: Vec<String> = wanted.iter().map(display).collect();
            let text = match shown.as_slice() {
                _ if !are_plain => "'enum' failed".to_owned(),
                [one] => format!("value must be {one}"),
                several => format!("value must be one of {}", several.join(", ")),
            };
            return Err(self.problem(text));
        }
        if draft.asserts_formats()
            && let (Some(name), Some(text)) = (map.get("format").and_then(Value::as_str), value.as_str())
            && let Err(problem) = format::check(name, text)
        {
            return Err(self.problem(format!("{} is not valid {name}: {problem}", quote(text))));
        }
        Ok(())
    }

    /// What a reference points to.
    fn reference(&mut self, schema: Schema<'d>, keyword: &'static str, value: &Value, found: &mut Findings) {
        let Some(Target::Schema(mut target)) = self.document.target(schema, keyword) else {
            return;
        };
        match keyword {
            "$recursiveRef" => target = self.recursive(target),
            "$dynamicRef" => target = self.dynamic(schema, target),
            _ => {}
        }
        if let Err(failure) = self.same(target, value, found) {
            found.failures.push(Failure {
                place: self.told_place(),
                kind: Kind::Reference,
                causes: failure.into_causes(),
            });
        }
    }

    /// The outermost schema that says it may stand in for this one.
    fn recursive(&self, target: Schema<'d>) -> Schema<'d> {
        if !self.document.resources[target.resource].is_recursive_anchor {
            return target;
        }
        let outer = self
            .scopes
            .iter()
            .find(|(scope, _)| self.document.resources[scope.resource].is_recursive_anchor);
        outer.map_or(target, |(scope, _)| *scope)
    }

    /// The outermost schema with this dynamic anchor.
    fn dynamic(&self, schema: Schema<'d>, target: Schema<'d>) -> Schema<'d> {
        let reference = schema.node.get("$dynamicRef").and_then(Value::as_str);
        let Some(name) = reference
            .and_then(|reference| reference.split_once('#'))
            .map(|(_, name)| name)
        else {
            return target;
        };
        if target.node.get("$dynamicAnchor").and_then(Value::as_str) != Some(name) {
            return target;
        }
        let outer = self.scopes.iter().find_map(|(scope, _)| {
            let node = self.document.resources[scope.resource]
                .dynamic_anchors
                .get(name)?;
            Some(Schema {
                node,
                resource: scope.resource,
            })
        });
        outer.unwrap_or(target)
    }

    /// Checks the same value against a further schema, and takes over what that one has looked at.
    fn same(&mut self, schema: Schema<'d>, value: &Value, found: &mut Findings) -> Result<(), Failure> {
        let number = self.scopes.last().map_or(0, |(_, number)| *number);
        let wanted = !found.unevaluated.is_empty();
        let rest = self.schema(schema, value, number, wanted)?;
        found.unevaluated.keep(&rest);
        Ok(())
    }

    /// Checks a schema below this one against the same value.
    fn same_below(
        &mut self,
        parent: Schema<'d>,
        node: &'d Value,
        value: &Value,
        found: &mut Findings,
    ) -> Result<(), Failure> {
        let child = self.document.child(parent, node);
        self.same(child, value, found)
    }

    /// Checks a part of the value against a schema below this one.
    fn part(
        &mut self,
        parent: Schema<'d>,
        node: &'d Value,
        value: &Value,
        name: &str,
    ) -> Result<(), Failure> {
        let number = self.scopes.last().map_or(0, |(_, number)| *number) + 1;
        let child = self.document.child(parent, node);
        self.place.push(name.to_owned());
        let done = self.schema(child, value, number, false);
        self.place.pop();
        done.map(drop)
    }

    /// Where in the value we are, for a failure.
    fn told_place(&self) -> Vec<String> {
        let size = self
            .place
            .iter()
            .map(|part| size_of::<String>() + part.len())
            .sum();
        match self.may_tell(size) {
            true => self.place.clone(),
            false => Vec::new(),
        }
    }

    /// Whether so many bytes of a failure are told.
    fn may_tell(&self, bytes: usize) -> bool {
        let told = self.told.get().saturating_add(bytes);
        let may = told <= MAX_TOLD;
        if may {
            self.told.set(told);
        }
        may
    }

    fn problem(&self, text: impl Into<String>) -> Failure {
        let text = text.into();
        let text = match self.may_tell(text.len()) {
            true => text,
            false => "too much is wrong to tell it all".to_owned(),
        };
        Failure {
            place: self.told_place(),
            kind: Kind::Problem(text),
            causes: Vec::new(),
        }
    }

    fn problem_with(&self, text: impl Into<String>, causes: Vec<Failure>) -> Failure {
        Failure {
            causes,
            ..self.problem(text)
        }
    }
}

impl Findings {
    fn note(&mut self, done: Result<(), Failure>) {
        self.failures.extend(done.err());
    }
}

/// What JSON schema calls the type of a value.
fn type_of(value: &Value) -> &'static str {
    match value.type_name() {
        "integer" => "number",
        other => other,
    }
}

/// A value of an enumeration as the library prints it.
fn display(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Str(text) => quote(text),
        Value::Array(_) | Value::Object(_) => "value".to_owned(),
        other => model::json::to_string(other),
    }
}

/// A keyword that is a whole number.
fn count(map: &Map, keyword: &str) -> Option<usize> {
    match map.get(keyword)? {
        Value::Int(number) => usize::try_from(*number).ok(),
        Value::Float(number) if number.fract() == 0.0 && *number >= 0.0 => Some(*number as usize),
        _ => None,
    }
}
