//! Checking values against a schema, with the messages of the real server.
//!
//! The real server's validator counts the checks that pass, and of several alternatives (`anyOf`, `oneOf`) reports the
//! failures of the one that passed most. The counts here are the same, so that the same failures are reported.

mod correlate;
mod failure;
mod format;
mod number;
mod object;

use correlate::Old;
pub(crate) use correlate::{Elements, unchanged};
use failure::{Failure, Outcome, report};
pub(crate) use format::Format;
use model::Value;

use super::schema::{Checks, Kind, Node};
use crate::field;

/// All that is wrong with a new `value`. `at` is the path of the value; empty for a whole object.
pub(crate) fn create(value: &Value, schema: &Node, at: &str) -> Vec<field::Error> {
    let mut validation = Validation {
        path: String::new(),
        is_default: false,
    };
    report(validation.node(value, schema, Old::None), at)
}

/// All that is wrong with a default. Where a whole number or a text is allowed, the real server takes any default.
pub(crate) fn default(value: &Value, schema: &Node, at: &str) -> Vec<field::Error> {
    let mut validation = Validation {
        path: String::new(),
        is_default: true,
    };
    report(validation.node(value, schema, Old::None), at)
}

/// All that is wrong with `value` that was not wrong with `old` in the same way: parts that did not change are not
/// held against it, so that objects stay usable when a schema gets stricter.
pub(crate) fn update(value: &Value, old: &Value, schema: &Node, at: &str) -> Vec<field::Error> {
    let mut validation = Validation {
        path: String::new(),
        is_default: false,
    };
    report(validation.correlated(value, schema, Old::Same(old)), at)
}

/// A run over one value.
struct Validation {
    /// Where we are, as the messages write it.
    path: String,
    /// The value is a default.
    is_default: bool,
}

impl Validation {
    /// Checks a value whose old one may be known: where both are equal, nothing is reported.
    fn correlated(&mut self, value: &Value, schema: &Node, old: Old<'_>) -> Outcome {
        let mut outcome = self.node(value, schema, old);
        if !outcome.failures.is_empty() && old.is(value, schema) {
            outcome.failures.clear();
        }
        outcome
    }

    /// Checks a value against one node and what is below it.
    fn node(&mut self, value: &Value, schema: &Node, old: Old<'_>) -> Outcome {
        let checks = schema.checks.as_deref();
        let mut outcome = Outcome::default();
        if value.is_null() {
            outcome.merge(self.kind(value, schema));
            outcome.extend(checks.and_then(|checks| self.one_of_values(value, checks)));
            return outcome;
        }
        let int_or_string = schema.int_or_string && !self.is_default;
        if schema.kind != Kind::Any || int_or_string || self.format_name(checks).is_some() {
            outcome.merge(self.kind(value, schema));
            outcome.matches += 1;
        }
        outcome.merge(self.alternatives(value, checks, old));
        outcome.matches += 1;
        match value {
            Value::Str(text) => {
                outcome.extend(checks.and_then(|checks| self.text(text, checks)));
                outcome.matches += 1;
                if let Some(checks) = checks.filter(|checks| checks.format.is_some()) {
                    outcome.extend(self.format(text, checks));
                    outcome.matches += 1;
                }
            }
            Value::Int(_) | Value::Float(_) => {
                outcome.failures.extend(
                    checks
                        .map(|checks| self.number(value, checks))
                        .unwrap_or_default(),
                );
                outcome.matches += 2;
            }
            Value::Array(items) => {
                outcome.merge(self.list(items, schema, old));
                outcome.matches += 2;
            }
            _ => {}
        }
        outcome.extend(checks.and_then(|checks| self.one_of_values(value, checks)));
        outcome.matches += 1;
        if let Value::Object(map) = value {
            outcome.merge(self.object(map, schema, old));
            outcome.matches += 1;
        }
        outcome.matches += 1;
        outcome
    }

    /// The format that takes part in the check of types. For defaults that is any, for other values a known one.
    fn format_name<'c>(&self, checks: Option<&'c Checks>) -> Option<&'c str> {
        let checks = checks.filter(|checks| checks.format.is_some() || self.is_default)?;
        Some(checks.format_name.as_str()).filter(|name| !name.is_empty())
    }

    /// Whether the value has the type the schema asks for.
    fn kind(&self, value: &Value, schema: &Node) -> Outcome {
        let wrong = |wanted: &str, found: &str| Outcome::from(Failure::wrong_type(&self.path, wanted, found));
        let int_or_string = schema.int_or_string && !self.is_default;
        let types = if int_or_string {
            "integer,string"
        } else {
            schema.kind.name()
        };
        if value.is_null() {
            return match types.is_empty() || schema.nullable {
                true => Outcome::passed(),
                false => wrong(types, "null"),
            };
        }
        let found = value.type_name();
        let takes =
            |kind: Kind| schema.kind == kind || int_or_string && matches!(kind, Kind::Integer | Kind::String);
        let fits = match value {
            Value::Int(_) => takes(Kind::Integer) || takes(Kind::Number),
            Value::Float(number) => takes(Kind::Number) || takes(Kind::Integer) && is_whole(*number),
            _ => types.split(',').any(|name| name == found),
        };
        let format = self.format_name(schema.checks.as_deref());
        if let Some(format) = format {
            let is_text_or_list = matches!(value, Value::Str(_) | Value::Array(_));
            if !is_text_or_list && !fits {
                return wrong(format, number_format(value));
            }
            if is_text_or_list && !takes(Kind::Number) && !takes(Kind::Integer) {
                return Outcome::passed();
            }
        }
        if fits {
            Outcome::passed()
        } else {
            wrong(types, found)
        }
    }

    /// `allOf`, `anyOf`, `oneOf` and `not`.
    fn alternatives(&mut self, value: &Value, checks: Option<&Checks>, old: Old<'_>) -> Outcome {
        let mut outcome = Outcome::default();
        if let Some(checks) = checks {
            if !checks.any_of.is_empty() {
                outcome.merge(self.any_of(value, &checks.any_of, old));
            }
            if !checks.one_of.is_empty() {
                outcome.merge(self.one_of(value, &checks.one_of, old));
            }
            if !checks.all_of.is_empty() {
                outcome.merge(self.all_of(value, &checks.all_of, old));
            }
            if let Some(not) = &checks.not
                && self.node(value, not, old).is_valid()
            {
                outcome.extend(Some(Failure::composite(format!(
                    "{:?} must not validate the schema (not)",
                    self.path
                ))));
            }
        }
        outcome.matches += 1;
        outcome
    }

    fn any_of(&mut self, value: &Value, nodes: &[Node], old: Old<'_>) -> Outcome {
        let mut best: Option<Outcome> = None;
        for node in nodes {
            let outcome = self.node(value, node, old);
            if outcome.is_valid() {
                return outcome;
            }
            if best.as_ref().is_none_or(|best| outcome.matches > best.matches) {
                best = Some(outcome);
            }
        }
        let text = format!("{:?} must validate at least one schema (anyOf)", self.path);
        let mut outcome = Outcome::default();
        outcome.extend(Some(Failure::composite(text)));
        outcome.merge(best.unwrap_or_default());
        outcome
    }

    fn one_of(&mut self, value: &Value, nodes: &[Node], old: Old<'_>) -> Outcome {
        let mut best: Option<Outcome> = None;
        let mut valid: Vec<Outcome> = Vec::new();
        for node in nodes {
            let outcome = self.node(value, node, old);
            if outcome.is_valid() {
                valid.push(outcome);
                best = None;
            } else if valid.is_empty() && best.as_ref().is_none_or(|best| outcome.matches > best.matches) {
                best = Some(outcome);
            }
        }
        let found = match valid.len() {
            1 => return valid.remove(0),
            0 => "Found none valid".to_owned(),
            many => format!("Found {many} valid alternatives"),
        };
        let text = format!(
            "{:?} must validate one and only one schema (oneOf). {found}",
            self.path
        );
        let mut outcome = Outcome::default();
        outcome.extend(Some(Failure::composite(text)));
        outcome.merge(best.unwrap_or_default());
        outcome
    }

    fn all_of(&mut self, value: &Value, nodes: &[Node], old: Old<'_>) -> Outcome {
        let mut outcome = Outcome::default();
        let mut valid = 0;
        for node in nodes {
            let part = self.node(value, node, old);
            valid += usize::from(part.is_valid());
            outcome.merge(part);
        }
        if valid != nodes.len() {
            let none = if valid == 0 { ". None validated" } else { "" };
            let text = format!("{:?} must validate all the schemas (allOf){none}", self.path);
            outcome.extend(Some(Failure::composite(text)));
        }
        outcome
    }

    /// Whether the value is one of those that are allowed.
    fn one_of_values(&self, value: &Value, checks: &Checks) -> Option<Failure> {
        let allowed = checks.values.iter().any(|allowed| match (value, allowed) {
            (Value::Null, _) => false,
            // The value is turned into the type of the allowed one first, which cuts fractions off.
            (Value::Float(number), Value::Int(allowed)) => *number as i64 == *allowed,
            (value, allowed) => value == allowed,
        });
        match checks.values.is_empty() || allowed {
            true => None,
            false => Some(Failure::not_allowed(&self.path, value, &checks.values)),
        }
    }

    /// Length and pattern; the first that fails is reported.
    fn text(&self, text: &str, checks: &Checks) -> Option<Failure> {
        let length = || text.chars().count() as i64;
        if let Some(most) = checks.max_length.filter(|most| length() > *most) {
            return Some(Failure::too_long(&self.path, most));
        }
        let problem = if let Some(least) = checks.min_length.filter(|least| length() < *least) {
            format!("should be at least {least} chars long")
        } else if let Some(pattern) = checks.pattern.as_ref().filter(|pattern| !pattern.is_match(text)) {
            format!("should match '{}'", pattern.as_str())
        } else {
            return None;
        };
        Some(Failure::invalid(&self.path, &Value::str(text), &problem))
    }

    fn format(&self, text: &str, checks: &Checks) -> Option<Failure> {
        match checks.format.is_none_or(|format| format.accepts(text)) {
            true => None,
            false => Some(Failure::wrong_format(&self.path, &checks.format_name, text)),
        }
    }
}

/// Whether a number has no fraction, up to the rounding errors that are forgiven.
fn is_whole(number: f64) -> bool {
    const LARGEST: f64 = 9_007_199_254_740_991.0;
    if !number.is_finite() || number.abs() > LARGEST {
        return false;
    }
    let whole = number.trunc();
    let difference = (number - whole).abs();
    number == whole || whole != 0.0 && difference / (number.abs() + whole.abs()) < 1e-9
}

/// What the real server takes for the format of a number.
fn number_format(value: &Value) -> &'static str {
    match value {
        Value::Int(_) => "int64",
        Value::Float(_) => "float64",
        _ => "",
    }
}
