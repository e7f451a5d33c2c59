//! Keywords that combine schemas.

use model::{Map, Value};

use super::super::draft::Draft;
use super::super::number::grouped;
use super::{Findings, Schema, Validator};

impl<'d> Validator<'d> {
    pub(super) fn combine(
        &mut self,
        schema: Schema<'d>,
        map: &'d Map,
        draft: Draft,
        value: &Value,
        found: &mut Findings,
    ) {
        if let Some(below) = map.get("not")
            && self.same_below(schema, below, value, found).is_ok()
        {
            found.failures.push(self.problem("'not' failed"));
        }
        self.all_of(schema, map, value, found);
        self.any_of(schema, map, value, found);
        self.one_of(schema, map, value, found);
        if draft >= Draft::Draft7
            && let Some(condition) = map.get("if")
        {
            let is_true = self.same_below(schema, condition, value, found).is_ok();
            let branch = if is_true { "then" } else { "else" };
            if let Some(below) = map.get(branch) {
                let done = self.same_below(schema, below, value, found);
                found.note(done);
            }
        }
    }

    fn all_of(&mut self, schema: Schema<'d>, map: &'d Map, value: &Value, found: &mut Findings) {
        let mut failures = Vec::new();
        for below in list(map, "allOf") {
            failures.extend(self.same_below(schema, below, value, found).err());
        }
        if !failures.is_empty() {
            found.failures.push(self.problem_with("'allOf' failed", failures));
        }
    }

    fn any_of(&mut self, schema: Schema<'d>, map: &'d Map, value: &Value, found: &mut Findings) {
        let mut failures = Vec::new();
        let mut is_matched = list(map, "anyOf").is_empty();
        for below in list(map, "anyOf") {
            match self.same_below(schema, below, value, found) {
                Err(failure) => failures.push(failure),
                Ok(()) => {
                    is_matched = true;
                    // What is not looked at yet may be looked at by the others.
                    if found.unevaluated.is_empty() {
                        break;
                    }
                }
            }
        }
        if !is_matched {
            found.failures.push(self.problem_with("'anyOf' failed", failures));
        }
    }

    fn one_of(&mut self, schema: Schema<'d>, map: &'d Map, value: &Value, found: &mut Findings) {
        let schemas = list(map, "oneOf");
        let mut failures = Vec::new();
        let mut matched = None;
        for (at, below) in schemas.iter().enumerate() {
            match (self.same_below(schema, below, value, found), matched) {
                (Err(failure), None) => failures.push(failure),
                (Err(_), Some(_)) => {}
                (Ok(()), None) => matched = Some(at),
                (Ok(()), Some(first)) => {
                    let text = format!(
                        "'oneOf' failed, subschemas {}, {} matched",
                        grouped(first),
                        grouped(at)
                    );
                    found.failures.push(self.problem(text));
                    break;
                }
            }
        }
        if matched.is_none() && !schemas.is_empty() {
            let text = "'oneOf' failed, none matched";
            found.failures.push(self.problem_with(text, failures));
        }
    }
}

fn list<'d>(map: &'d Map, keyword: &str) -> &'d [Value] {
    map.get(keyword)
        .and_then(Value::as_array)
        .map_or(&[], |list| list)
}
