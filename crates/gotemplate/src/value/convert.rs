//! Values made of plain Rust ones and of the object trees of `model`.

use arcstr::ArcStr;

use super::{List, Map, Value};

impl From<bool> for Value {
    fn from(bool: bool) -> Value {
        Value::Bool(bool)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Value {
        Value::Float(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Str(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Str(text.into())
    }
}

impl From<ArcStr> for Value {
    fn from(text: ArcStr) -> Value {
        Value::Str(text)
    }
}

impl From<Map> for Value {
    fn from(map: Map) -> Value {
        Value::Map(map)
    }
}

impl From<List> for Value {
    fn from(list: List) -> Value {
        Value::List(list)
    }
}

/// As Go's `encoding/json` reads a document into an `interface {}`: every number is a `float64`, `null` is nil.
impl From<&model::Value> for Value {
    fn from(value: &model::Value) -> Value {
        match value {
            model::Value::Null => Value::Nil,
            model::Value::Bool(bool) => Value::Bool(*bool),
            model::Value::Int(number) => Value::Float(*number as f64),
            model::Value::Float(number) => Value::Float(*number),
            model::Value::Str(text) => Value::Str(text.as_str().into()),
            model::Value::Array(items) => items.iter().map(Value::from).collect::<List>().into(),
            model::Value::Object(map) => map
                .iter()
                .map(|(key, value)| (key, Value::from(value)))
                .collect::<Map>()
                .into(),
        }
    }
}
