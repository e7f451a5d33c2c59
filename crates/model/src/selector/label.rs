use std::fmt;

use super::Error;
use crate::quote::quote;
use crate::{Value, label};

/// A label selector: `app=web,tier in (front,back),!canary`. All of its requirements must hold.
///
/// Read one from text with [`str::parse`] and from `matchLabels` and `matchExpressions` with
/// [`LabelSelector::from_value`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelSelector {
    /// Sorted by key; `None` selects nothing.
    requirements: Option<Vec<Requirement>>,
}

/// What one label must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    key: String,
    operator: Operator,
    values: Vec<String>,
}

/// How a label relates to the values of a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// It is one of them.
    In,
    /// It is none of them, or missing.
    NotIn,
    /// It is the only one, written `=`.
    Equals,
    /// The same, written `==`.
    DoubleEquals,
    /// It is another one, or missing.
    NotEquals,
    /// It is there.
    Exists,
    /// It is missing.
    DoesNotExist,
    /// It is a whole number greater than the only one.
    Gt,
    /// It is a whole number less than the only one.
    Lt,
}

impl LabelSelector {
    /// Selects everything.
    pub fn everything() -> Self {
        LabelSelector {
            requirements: Some(Vec::new()),
        }
    }

    /// Selects nothing.
    pub fn nothing() -> Self {
        LabelSelector { requirements: None }
    }

    /// Selects what fulfils all of `requirements`.
    pub fn new(mut requirements: Vec<Requirement>) -> Self {
        requirements.sort_by(|a, b| a.key.cmp(&b.key));
        LabelSelector {
            requirements: Some(requirements),
        }
    }

    /// Whether this selects everything.
    pub fn is_everything(&self) -> bool {
        self.requirements.as_ref().is_some_and(Vec::is_empty)
    }

    /// The requirements, sorted by key; `None` if nothing is selected.
    pub fn requirements(&self) -> Option<&[Requirement]> {
        self.requirements.as_deref()
    }

    /// Whether labels are selected; `get` tells the value of one.
    pub fn matches<'a>(&self, get: impl Fn(&str) -> Option<&'a str>) -> bool {
        let Some(requirements) = &self.requirements else {
            return false;
        };
        requirements.iter().all(|requirement| requirement.matches(&get))
    }

    /// Whether the labels of an object are selected.
    pub fn matches_object(&self, object: &Value) -> bool {
        let labels = object.at(&["metadata", "labels"]);
        self.matches(|key| labels?.get(key)?.as_str())
    }
}

impl Requirement {
    /// A requirement; the error tells all that is wrong with it.
    pub fn new(key: impl Into<String>, operator: Operator, values: Vec<String>) -> Result<Self, Error> {
        let requirement = Requirement {
            key: key.into(),
            operator,
            values,
        };
        match requirement.problems().as_slice() {
            [] => Ok(requirement),
            [one] => Err(Error(one.clone())),
            several => Err(Error(format!("[{}]", several.join(", ")))),
        }
    }

    fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let invalid =
            |field: &str, value: String, detail: &str| format!("{field}: Invalid value: {value}: {detail}");
        let key_problems = label::key_problems(&self.key);
        if !key_problems.is_empty() {
            problems.push(invalid("key", quote(&self.key), &key_problems.join("; ")));
        }
        let count = self.values.len();
        let miscounted = match self.operator {
            Operator::In | Operator::NotIn if count == 0 => {
                "for 'in', 'notin' operators, values set can't be empty"
            }
            Operator::Equals | Operator::DoubleEquals | Operator::NotEquals if count != 1 => {
                "exact-match compatibility requires one single value"
            }
            Operator::Exists | Operator::DoesNotExist if count != 0 => {
                "values set must be empty for exists and does not exist"
            }
            Operator::Gt | Operator::Lt if count != 1 => {
                "for 'Gt', 'Lt' operators, exactly one value is required"
            }
            _ => "",
        };
        if !miscounted.is_empty() {
            let values: Vec<String> = self.values.iter().map(|value| quote(value)).collect();
            let values = if values.is_empty() {
                "null".to_owned()
            } else {
                format!("[{}]", values.join(","))
            };
            problems.push(invalid("values", values, miscounted));
        }
        if let Operator::Gt | Operator::Lt = self.operator {
            for (nth, value) in self
                .values
                .iter()
                .enumerate()
                .filter(|(_, value)| value.parse::<i64>().is_err())
            {
                let detail = "for 'Gt', 'Lt' operators, the value must be an integer";
                problems.push(invalid(&format!("values[{nth}]"), quote(value), detail));
            }
        }
        for (nth, value) in self.values.iter().enumerate() {
            let value_problems = label::value_problems(value);
            if !value_problems.is_empty() {
                let field = format!("values[{nth}][{}]", self.key);
                problems.push(invalid(&field, quote(value), &value_problems.join("; ")));
            }
        }
        problems
    }

    /// The key of the label.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// How it relates to the values.
    pub fn operator(&self) -> Operator {
        self.operator
    }

    /// The values.
    pub fn values(&self) -> &[String] {
        &self.values
    }

    fn matches<'a>(&self, get: &impl Fn(&str) -> Option<&'a str>) -> bool {
        let label = get(&self.key);
        let listed = |label: &str| self.values.iter().any(|value| value == label);
        let compared = |compare: fn(&i64, &i64) -> bool| {
            let numbers = label
                .and_then(|label| label.parse().ok())
                .zip(self.values.first()?.parse().ok());
            numbers.map(|(label, value)| compare(&label, &value))
        };
        match self.operator {
            Operator::In | Operator::Equals | Operator::DoubleEquals => label.is_some_and(listed),
            Operator::NotIn | Operator::NotEquals => !label.is_some_and(listed),
            Operator::Exists => label.is_some(),
            Operator::DoesNotExist => label.is_none(),
            Operator::Gt => compared(i64::gt).unwrap_or(false),
            Operator::Lt => compared(i64::lt).unwrap_or(false),
        }
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = &self.key;
        let mut values: Vec<&str> = self.values.iter().map(String::as_str).collect();
        values.sort_unstable();
        let values = values.join(",");
        match self.operator {
            Operator::In => write!(f, "{key} in ({values})"),
            Operator::NotIn => write!(f, "{key} notin ({values})"),
            Operator::Equals => write!(f, "{key}={values}"),
            Operator::DoubleEquals => write!(f, "{key}=={values}"),
            Operator::NotEquals => write!(f, "{key}!={values}"),
            Operator::Exists => write!(f, "{key}"),
            Operator::DoesNotExist => write!(f, "!{key}"),
            Operator::Gt => write!(f, "{key}>{values}"),
            Operator::Lt => write!(f, "{key}<{values}"),
        }
    }
}

/// As it is read: what is printed selects the same (but for a selector of nothing, which has no text and prints as one
/// of everything, as it does in Go).
impl fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, requirement) in self.requirements.iter().flatten().enumerate() {
            write!(f, "{}{requirement}", if nth > 0 { "," } else { "" })?;
        }
        Ok(())
    }
}
