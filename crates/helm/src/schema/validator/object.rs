//! Keywords about maps.

use model::{Map, Value};

use super::super::draft::Draft;
use super::super::failure::{Failure, quote, quoted};
use super::super::number::grouped;
use super::{Findings, Schema, Validator, count};

impl<'d> Validator<'d> {
    pub(super) fn object(
        &mut self,
        schema: Schema<'d>,
        map: &'d Map,
        draft: Draft,
        object: &Map,
        value: &Value,
        found: &mut Findings,
    ) {
        self.sizes(map, object, found);
        self.dependencies(schema, map, object, value, found);
        self.properties(schema, map, object, found);
        if draft == Draft::Draft4 {
            return;
        }
        if let Some(names) = map.get("propertyNames") {
            for name in object.keys() {
                self.property_name(schema, names, name, found);
            }
        }
        if draft < Draft::Draft2019 {
            return;
        }
        for (name, below) in entries(map, "dependentSchemas") {
            if object.contains_key(name) {
                let done = self.same_below(schema, below, value, found);
                found.note(done);
            }
        }
        for (name, wanted) in entries(map, "dependentRequired") {
            self.required_with(name, wanted, object, found);
        }
    }

    fn sizes(&self, map: &Map, object: &Map, found: &mut Findings) {
        let got = grouped(object.len());
        if let Some(least) = count(map, "minProperties").filter(|least| object.len() < *least) {
            let text = format!("minProperties: got {got}, want {}", grouped(least));
            found.failures.push(self.problem(text));
        }
        if let Some(most) = count(map, "maxProperties").filter(|most| object.len() > *most) {
            let text = format!("maxProperties: got {got}, want {}", grouped(most));
            found.failures.push(self.problem(text));
        }
        let missing = map.get("required").map(|names| missing(names, object));
        match missing.as_deref() {
            None | Some([]) => {}
            Some([one]) => found
                .failures
                .push(self.problem(format!("missing property {}", quote(one)))),
            Some(several) => {
                let names = quoted(several.iter().copied());
                found
                    .failures
                    .push(self.problem(format!("missing properties {names}")));
            }
        }
    }

    fn dependencies(
        &mut self,
        schema: Schema<'d>,
        map: &'d Map,
        object: &Map,
        value: &Value,
        found: &mut Findings,
    ) {
        for (name, wanted) in entries(map, "dependencies") {
            if !object.contains_key(name) {
                continue;
            }
            if let Value::Array(_) = wanted {
                self.required_with(name, wanted, object, found);
            } else {
                let done = self.same_below(schema, wanted, value, found);
                found.note(done);
            }
        }
    }

    fn required_with(&self, name: &str, wanted: &Value, object: &Map, found: &mut Findings) {
        let missing = missing(wanted, object);
        if object.contains_key(name) && !missing.is_empty() {
            let names = quoted(missing);
            let text = format!("properties {names} required, if {} exists", quote(name));
            found.failures.push(self.problem(text));
        }
    }

    fn properties(&mut self, schema: Schema<'d>, map: &'d Map, object: &Map, found: &mut Findings) {
        let properties = map.get("properties").and_then(Value::as_object);
        let mut not_allowed = Vec::new();
        for (name, part) in object.iter() {
            let mut is_evaluated = false;
            if let Some(below) = properties.and_then(|properties| properties.get(name)) {
                is_evaluated = true;
                let done = self.part(schema, below, part, name);
                found.note(done);
            }
            for (pattern, below) in entries(map, "patternProperties") {
                let expression = self.document.expression(pattern);
                if expression.is_some_and(|expression| expression.is_match(name)) {
                    is_evaluated = true;
                    let done = self.part(schema, below, part, name);
                    found.note(done);
                }
            }
            if !is_evaluated && let Some(others) = map.get("additionalProperties") {
                is_evaluated = true;
                match others {
                    Value::Bool(true) => {}
                    Value::Bool(false) => not_allowed.push(name),
                    below => {
                        let done = self.part(schema, below, part, name);
                        found.note(done);
                    }
                }
            }
            if is_evaluated {
                found.unevaluated.properties.remove(name);
            }
        }
        if !not_allowed.is_empty() {
            let names = quoted(not_allowed);
            let text = format!("additional properties {names} not allowed");
            found.failures.push(self.problem(text));
        }
    }

    /// Names are checked as values of their own: what is wrong with one has no place.
    fn property_name(&mut self, schema: Schema<'d>, node: &'d Value, name: &str, found: &mut Findings) {
        let place = std::mem::take(&mut self.place);
        let child = self.document.child(schema, node);
        let number = usize::MAX - self.scopes.len();
        let done = self.schema(child, &Value::str(name), number, false);
        self.place = place;
        if let Err(failure) = done {
            let text = format!("invalid propertyName {}", quote(name));
            found.failures.push(Failure {
                place: Vec::new(),
                ..self.problem_with(text, failure.into_causes())
            });
        }
    }
}

/// The entries of a keyword that is a map.
fn entries<'d>(map: &'d Map, keyword: &str) -> impl Iterator<Item = (&'d str, &'d Value)> {
    let entries = map.get(keyword).and_then(Value::as_object);
    entries.into_iter().flat_map(Map::iter)
}

fn missing<'n>(names: &'n Value, object: &Map) -> Vec<&'n str> {
    let names = names.as_array().into_iter().flatten();
    names
        .filter_map(Value::as_str)
        .filter(|name| !object.contains_key(name))
        .collect()
}
