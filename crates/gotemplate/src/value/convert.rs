//! Values made of plain Rust ones and of the object trees of `model`.

use arcstr::ArcStr;

use super::{List, Map, Value};
use crate::error::Error;
use crate::session::Session;

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

impl Value {
    /// As Go's `encoding/json` reads a document into an `interface {}`, within what a session may make.
    ///
    /// # Errors
    /// The values take more than the limits allow.
    pub fn from_tree(tree: &model::Value, session: &mut Session<'_>) -> Result<Value, Error> {
        session.charge(size(tree))?;
        Ok(Value::from(tree))
    }
}

/// The bytes that a tree takes as a value.
fn size(tree: &model::Value) -> usize {
    match tree {
        model::Value::Str(text) => text.as_str().len() + 32,
        model::Value::Array(items) => List::size(items.len()) + items.iter().map(size).sum::<usize>(),
        model::Value::Object(map) => {
            let entries = map.iter().map(|(key, value)| key.len() + 32 + size(value));
            Map::size(map.len()) + entries.sum::<usize>()
        }
        _ => 0,
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
