//! The tables of custom resources.

use std::fmt;

use jiff::Timestamp;
use model::{Str, Value, json};

use super::column::{self, NAME};
use super::{cell, duration};

/// Finds the value of a column in an object.
pub type Find = Box<dyn for<'v> Fn(&'v Value) -> Option<&'v Value> + Send + Sync>;

/// A column that a CustomResourceDefinition asks for in `additionalPrinterColumns`.
pub struct CustomColumn {
    /// Its header.
    pub name: Str,
    /// `integer`, `number`, `string`, `boolean` or `date`.
    pub kind: Str,
    /// An OpenAPI format; may be empty.
    pub format: Str,
    /// What it shows; made from the path where empty.
    pub description: Str,
    /// 0 is always shown, more only in wide output.
    pub priority: i64,
    /// The path of the value, as the definition has it.
    pub json_path: Str,
    /// Takes the value that `json_path` points at out of an object: the first where there are several.
    pub find: Find,
}

impl fmt::Debug for CustomColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CustomColumn")
            .field("name", &self.name)
            .field("json_path", &self.json_path)
            .finish()
    }
}

/// The definitions of the name and of `columns`.
pub(super) fn definitions(columns: &[CustomColumn]) -> Value {
    let own = columns.iter().map(CustomColumn::definition);
    std::iter::once(NAME.definition()).chain(own).collect()
}

/// The cells of one object.
pub(super) fn cells(columns: &[CustomColumn], object: &Value, now: Timestamp) -> Vec<Value> {
    let own = columns.iter().map(|column| column.cell(object, now));
    std::iter::once(cell::name(object)).chain(own).collect()
}

/// What a definition without columns shows.
pub(super) fn default_definitions() -> Value {
    [NAME.definition(), column::date("Age").definition()]
        .into_iter()
        .collect()
}

impl CustomColumn {
    fn definition(&self) -> Value {
        let description = match self.description.is_empty() {
            true => format!(
                "Custom resource definition column (in JSONPath format): {}",
                self.json_path
            ),
            false => self.description.to_string(),
        };
        column::definition(&self.name, &self.kind, &self.format, &description, self.priority)
    }

    fn cell(&self, object: &Value, now: Timestamp) -> Value {
        let Some(value) = (self.find)(object) else {
            return Value::Null;
        };
        match (self.kind.as_str(), value) {
            ("string", value) => Value::from(text(value)),
            ("integer", Value::Int(_)) | ("number", Value::Float(_)) | ("boolean", Value::Bool(_)) => {
                value.clone()
            }
            ("integer", Value::Float(number)) => Value::Int(*number as i64),
            ("number", Value::Int(number)) => Value::Float(*number as f64),
            ("date", Value::Str(time)) => Value::from(match time.as_str() {
                "" | "null" => cell::UNKNOWN.to_owned(),
                _ if duration::time(Some(value)).is_none() => "<invalid>".to_owned(),
                _ => duration::since(Some(value), now),
            }),
            _ => Value::Null,
        }
    }
}

/// A value as Go prints it.
fn text(value: &Value) -> String {
    match value {
        Value::Null => "<no value>".to_owned(),
        Value::Str(text) => text.to_string(),
        Value::Float(number) => go_float(*number),
        other => json::to_string(other),
    }
}

/// A number with an exponent where Go uses one: `1e+21`, `1e-07`.
fn go_float(number: f64) -> String {
    let magnitude = number.abs();
    if magnitude == 0.0 || (1e-4..1e21).contains(&magnitude) {
        return format!("{number}");
    }
    let text = format!("{number:e}");
    match text.split_once('e') {
        Some((digits, exponent)) => {
            let (sign, exponent) = match exponent.strip_prefix('-') {
                Some(exponent) => ('-', exponent),
                None => ('+', exponent),
            };
            format!("{digits}e{sign}{exponent:0>2}")
        }
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use model::value;

    use super::*;

    fn show(kind: &str, value: Value) -> Value {
        let column = CustomColumn {
            name: "X".into(),
            kind: kind.into(),
            format: Str::default(),
            description: Str::default(),
            priority: 0,
            json_path: ".x".into(),
            find: Box::new(|object| object.get("x")),
        };
        let now = "2026-01-02T00:00:00Z".parse().unwrap();
        column.cell(&value!({ "x": value }), now)
    }

    #[test]
    fn a_value_of_another_type_leaves_the_cell_empty() {
        assert_eq!(show("integer", Value::str("1")), Value::Null);
        assert_eq!(show("boolean", Value::Int(1)), Value::Null);
        assert_eq!(show("date", Value::Int(1)), Value::Null);
        assert_eq!(show("number", value!(null)), Value::Null);
    }

    #[test]
    fn numbers_become_what_the_column_says() {
        assert_eq!(show("integer", Value::Float(2.7)), Value::Int(2));
        assert!(matches!(show("number", Value::Int(2)), Value::Float(number) if number == 2.0));
    }

    #[test]
    fn text_shows_every_value() {
        assert_eq!(show("string", Value::Int(7)), Value::str("7"));
        assert_eq!(show("string", Value::Bool(true)), Value::str("true"));
        assert_eq!(show("string", Value::Float(1.5)), Value::str("1.5"));
        assert_eq!(show("string", Value::Float(1e21)), Value::str("1e+21"));
        assert_eq!(show("string", Value::Float(2.5e-7)), Value::str("2.5e-07"));
        assert_eq!(
            show("string", value!({ "a": "<b>" })),
            Value::str(r#"{"a":"\u003cb\u003e"}"#)
        );
        assert_eq!(show("string", value!(["p"])), Value::str(r#"["p"]"#));
        assert_eq!(show("string", value!(null)), Value::str("<no value>"));
        assert_eq!(show("string", Value::str("")), Value::str(""));
    }

    #[test]
    fn dates_are_ages() {
        assert_eq!(
            show("date", Value::str("2026-01-01T00:00:00Z")),
            Value::str("24h")
        );
        assert_eq!(show("date", Value::str("soon")), Value::str("<invalid>"));
        assert_eq!(show("date", Value::str("")), Value::str("<unknown>"));
    }
}
