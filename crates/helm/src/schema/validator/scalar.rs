//! Keywords about strings and numbers.

use model::{Map, Value};

use super::super::failure::quote;
use super::super::number::{grouped, is_multiple, shown};
use super::{Findings, Validator, count};

impl Validator<'_> {
    pub(super) fn text(&self, map: &Map, text: &str, found: &mut Findings) {
        let length = || text.chars().count();
        if let Some(least) = count(map, "minLength").filter(|least| length() < *least) {
            let problem = format!("minLength: got {}, want {}", grouped(length()), grouped(least));
            found.failures.push(self.problem(problem));
        }
        if let Some(most) = count(map, "maxLength").filter(|most| length() > *most) {
            let problem = format!("maxLength: got {}, want {}", grouped(length()), grouped(most));
            found.failures.push(self.problem(problem));
        }
        if let Some(pattern) = map.get("pattern").and_then(Value::as_str) {
            let expression = self.document.expression(pattern);
            if !expression.is_some_and(|expression| expression.is_match(text)) {
                let problem = format!("{} does not match pattern {}", quote(text), quote(pattern));
                found.failures.push(self.problem(problem));
            }
        }
    }

    pub(super) fn number(&self, map: &Map, value: &Value, found: &mut Findings) {
        let Some(got) = value.as_f64() else {
            return;
        };
        let limit = |keyword: &str| map.get(keyword).and_then(Value::as_f64);
        let mut fail = |keyword: &str, wanted: f64| {
            let problem = format!("{keyword}: got {}, want {}", shown(got), shown(wanted));
            found.failures.push(self.problem(problem));
        };
        // In draft 4 `exclusiveMinimum` says how `minimum` is meant; later it is a limit itself.
        let is_exclusive = |keyword: &str| map.get(keyword) == Some(&Value::Bool(true));
        let (minimum, above) = match is_exclusive("exclusiveMinimum") {
            true => (None, limit("minimum")),
            false => (limit("minimum"), limit("exclusiveMinimum")),
        };
        let (maximum, below) = match is_exclusive("exclusiveMaximum") {
            true => (None, limit("maximum")),
            false => (limit("maximum"), limit("exclusiveMaximum")),
        };
        if let Some(minimum) = minimum.filter(|minimum| got < *minimum) {
            fail("minimum", minimum);
        }
        if let Some(maximum) = maximum.filter(|maximum| got > *maximum) {
            fail("maximum", maximum);
        }
        if let Some(above) = above.filter(|above| got <= *above) {
            fail("exclusiveMinimum", above);
        }
        if let Some(below) = below.filter(|below| got >= *below) {
            fail("exclusiveMaximum", below);
        }
        if let Some(of) = limit("multipleOf").filter(|of| *of != 0.0 && !is_multiple(got, *of)) {
            fail("multipleOf", of);
        }
    }
}
