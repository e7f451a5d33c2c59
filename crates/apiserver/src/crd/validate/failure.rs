//! Failures of checks, and how they are told.

use std::collections::HashSet;

use model::Value;
use smd::patch::go_text;

use crate::field;

/// What checking a value gave.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) failures: Vec<Failure>,
    /// How many checks were passed.
    pub(super) matches: usize,
}

impl Outcome {
    pub(super) fn passed() -> Self {
        Outcome {
            failures: Vec::new(),
            matches: 1,
        }
    }

    pub(super) fn is_valid(&self) -> bool {
        self.failures.is_empty()
    }

    pub(super) fn merge(&mut self, other: Outcome) {
        self.failures.extend(other.failures);
        self.matches += other.matches;
    }

    pub(super) fn extend(&mut self, failure: Option<Failure>) {
        self.failures.extend(failure);
    }
}

impl From<Failure> for Outcome {
    fn from(failure: Failure) -> Self {
        Outcome {
            failures: vec![failure],
            matches: 0,
        }
    }
}

/// One failed check.
#[derive(Debug)]
pub(super) struct Failure {
    /// What tells equal failures apart.
    text: String,
    /// The path of the value; `None` for failures of alternatives, which are told without one.
    path: Option<String>,
    error: field::Error,
}

impl Failure {
    fn new(path: &str, text: String, error: impl FnOnce(&str) -> field::Error) -> Self {
        let error = error(&text);
        Failure {
            text,
            path: Some(path.to_owned()),
            error,
        }
    }

    /// The value is of the wrong type.
    pub(super) fn wrong_type(path: &str, wanted: &str, found: &str) -> Self {
        let text = format!(
            "{path} in body must be of type {wanted}: {}",
            model::quote::quote(found)
        );
        Failure::new(path, text, |text| {
            field::Error::type_invalid("", &Value::str(found), text)
        })
    }

    /// The text does not have the format.
    pub(super) fn wrong_format(path: &str, format: &str, value: &str) -> Self {
        Failure::wrong_type(path, format, value)
    }

    /// A field is missing.
    pub(super) fn required(path: &str, name: &str) -> Self {
        let path = format!("{path}.{name}");
        Failure::new(&path, format!("{path} in body is required"), |_| {
            field::Error::required("", "")
        })
    }

    /// The value is none of those allowed.
    pub(super) fn not_allowed(path: &str, value: &Value, allowed: &[Value]) -> Self {
        let names: Vec<String> = allowed
            .iter()
            .map(|value| match value {
                Value::Str(text) => text.to_string(),
                other => model::json::to_string(other),
            })
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let text = format!(
            "{path} in body should be one of {}",
            go_text::plain(&allowed.to_vec().into())
        );
        Failure::new(path, text, |_| field::Error::not_supported("", value, &names))
    }

    /// The text is too long.
    pub(super) fn too_long(path: &str, most: i64) -> Self {
        let text = format!("{path} in body should be at most {most} chars long");
        Failure::new(path, text, |_| field::Error::too_long("", most))
    }

    /// There are too many elements or fields (`what`).
    pub(super) fn too_many(path: &str, found: usize, most: i64, what: &str) -> Self {
        let text = format!("{path} in body should have at most {most} {what}");
        Failure::new(path, text, |_| field::Error::too_many("", found as i64, most))
    }

    /// Any other check of one value.
    pub(super) fn invalid(path: &str, value: &Value, problem: &str) -> Self {
        let text = format!("{path} in body {problem}");
        Failure::new(path, text, |text| field::Error::invalid("", value, text))
    }

    /// A check whose text does not start with the path.
    pub(super) fn worded(path: &str, value: &Value, text: String) -> Self {
        Failure::new(path, text, |text| field::Error::invalid("", value, text))
    }

    /// None, or too many, of several alternatives fit.
    pub(super) fn composite(text: String) -> Self {
        let error = field::Error::invalid("", &Value::str(""), text.as_str());
        Failure {
            text,
            path: None,
            error,
        }
    }
}

/// The failures as errors of fields, each once. `at` is the path of the value that was checked.
pub(super) fn report(outcome: Outcome, at: &str) -> Vec<field::Error> {
    let mut seen = HashSet::new();
    let mut errors = Vec::with_capacity(outcome.failures.len());
    for failure in outcome.failures {
        if !seen.insert(failure.text) {
            continue;
        }
        let path = failure.path.unwrap_or_default();
        let path = path.strip_prefix('.').unwrap_or(&path);
        let field = match (at, path) {
            // Go's text for no path at all.
            ("", "") => "<nil>".to_owned(),
            ("", path) => path.to_owned(),
            (at, "") => at.to_owned(),
            (at, path) => format!("{at}.{path}"),
        };
        errors.push(field::Error {
            field,
            ..failure.error
        });
    }
    errors
}
