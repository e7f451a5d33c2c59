//! Label selectors as they stand in objects.

use super::{Error, LabelSelector, Operator, Requirement};
use crate::Value;
use crate::quote::quote;

impl LabelSelector {
    /// Reads a selector with `matchLabels` and `matchExpressions`. One that is empty selects everything; none at all
    /// (`null`) selects nothing.
    pub fn from_value(selector: &Value) -> Result<Self, Error> {
        let map = match selector {
            Value::Null => return Ok(LabelSelector::nothing()),
            Value::Object(map) => map,
            other => {
                return Err(Error(format!(
                    "a label selector must be an object, not {}",
                    with_article(other)
                )));
            }
        };
        let mut requirements = Vec::new();
        match map.get("matchLabels") {
            None | Some(Value::Null) => {}
            Some(Value::Object(labels)) => {
                for (key, value) in labels.iter() {
                    let value = string(value, "a value of matchLabels")?;
                    requirements.push(Requirement::new(key, Operator::Equals, vec![value])?);
                }
            }
            Some(other) => {
                return Err(Error(format!(
                    "matchLabels must be an object, not {}",
                    with_article(other)
                )));
            }
        }
        match map.get("matchExpressions") {
            None | Some(Value::Null) => {}
            Some(Value::Array(expressions)) => {
                for expression in expressions {
                    requirements.push(read_expression(expression)?);
                }
            }
            Some(other) => {
                return Err(Error(format!(
                    "matchExpressions must be an array, not {}",
                    with_article(other)
                )));
            }
        }
        Ok(LabelSelector::new(requirements))
    }
}

fn read_expression(expression: &Value) -> Result<Requirement, Error> {
    let text = |field: &str| {
        expression
            .get(field)
            .map_or(Ok(String::new()), |value| string(value, field))
    };
    let key = text("key")?;
    let operator = match text("operator")?.as_str() {
        "In" => Operator::In,
        "NotIn" => Operator::NotIn,
        "Exists" => Operator::Exists,
        "DoesNotExist" => Operator::DoesNotExist,
        other => {
            return Err(Error(format!(
                "{} is not a valid label selector operator",
                quote(other)
            )));
        }
    };
    let values = match expression.get("values") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(values)) => values
            .iter()
            .map(|value| string(value, "an element of values"))
            .collect::<Result<_, _>>()?,
        Some(other) => {
            return Err(Error(format!(
                "values must be an array, not {}",
                with_article(other)
            )));
        }
    };
    Requirement::new(key, operator, values)
}

fn string(value: &Value, what: &str) -> Result<String, Error> {
    match value {
        Value::Str(text) => Ok(text.as_str().to_owned()),
        other => Err(Error(format!(
            "{what} must be a string, not {}",
            with_article(other)
        ))),
    }
}

fn with_article(value: &Value) -> String {
    match value.type_name() {
        "null" => "null".to_owned(),
        name if name.starts_with(['a', 'i', 'o']) => format!("an {name}"),
        name => format!("a {name}"),
    }
}
