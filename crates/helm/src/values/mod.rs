//! Values: what a user gives, merged over what charts have by default.
//!
//! ```text
//!   -f files, --set…  ──▶ given ─┐
//!   values.yaml of each chart ───┴─▶ coalesce ──▶ what templates see as .Values
//! ```
//!
//! Numbers of files are floats, as Go's JSON makes them, and those of `--set` are whole: templates print them differently.

pub mod coalesce;
mod given;
pub mod path;
pub mod references;
pub mod set;

pub use given::{Given, GivenError};
use model::Value;

pub use crate::chart::values::{Error, merge, read, read_all};

/// Makes floats of all numbers, as Go reads JSON.
pub fn floats(value: &mut Value) {
    match value {
        Value::Int(number) => {
            #[allow(clippy::cast_precision_loss, reason = "Go loses the same digits")]
            let float = *number as f64;
            *value = Value::Float(float);
        }
        Value::Array(items) => items.iter_mut().for_each(floats),
        Value::Object(map) => map.iter_mut().for_each(|(_, value)| floats(value)),
        _ => {}
    }
}

/// What Go calls the type of a value.
pub(crate) fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "nil",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int64",
        Value::Float(_) => "float64",
        Value::Str(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}
