//! Trees that keep texts, and plain values.

use model::{Map, Value};
use yaml::go::{Analysis, Tabs, is_base60};
use yaml::node::{self, Kind, Meaning, Node, Scalar};

/// The value that a tree means.
pub fn to_value(node: &Node) -> Result<Value, String> {
    Ok(match node {
        Node::Scalar(scalar) => match scalar.meaning()? {
            Meaning::Null => Value::Null,
            Meaning::Bool(flag) => Value::Bool(flag),
            Meaning::Int(number) => Value::Int(number),
            Meaning::Uint(number) => Value::Float(number as f64),
            Meaning::Float(number) => Value::Float(number),
            Meaning::Str(text) => Value::Str(text),
            Meaning::Text => Value::Str((&scalar.text).into()),
        },
        Node::List(items) => items.iter().map(to_value).collect::<Result<Vec<_>, _>>()?.into(),
        Node::Map(map) => {
            let pairs = map.iter().map(|(key, value)| Ok((key.into(), to_value(value)?)));
            let pairs: Vec<_> = pairs.collect::<Result<_, String>>()?;
            Value::Object(Map::from_pairs(pairs.into_iter()))
        }
    })
}

/// A tree that means a value.
pub fn from_value(value: &Value) -> Node {
    let scalar = |text: &str, kind| Node::Scalar(Scalar::new(text, kind));
    match value {
        Value::Null => Node::null(),
        Value::Bool(flag) => scalar(if *flag { "true" } else { "false" }, Kind::Bool),
        Value::Int(number) => scalar(&number.to_string(), Kind::Int),
        Value::Float(number) => scalar(&float(*number), Kind::Float),
        Value::Str(text) => {
            // What needs no quotes has none: it may be written over by something else.
            let kind = if is_plain(text) { Kind::Plain } else { Kind::Quoted };
            scalar(text, kind)
        }
        Value::Array(items) => Node::List(items.iter().map(from_value).collect()),
        Value::Object(map) => {
            let entries = map.iter().map(|(key, value)| (key.into(), from_value(value)));
            Node::Map(node::Map::from_entries(entries.collect::<Vec<_>>().into_iter()))
        }
    }
}

/// The text of a float. One that could be taken for a whole number of 64 bits without sign, which go-yaml makes no float of,
/// has an exponent.
fn float(number: f64) -> String {
    let text = model::json::to_string(&Value::Float(number));
    match Scalar::new(text.as_str(), Kind::Float).meaning() {
        Ok(_) => text,
        Err(_) => yaml::go::float(number),
    }
}

/// Whether go-yaml v3 writes a string without quotes.
fn is_plain(text: &str) -> bool {
    let set = Node::set(text);
    set.as_scalar().is_some_and(|scalar| scalar.kind == Kind::Plain)
        && Kind::of(text) == Kind::Plain
        && !text.contains('\n')
        && !is_base60(text)
        && Analysis::of(text, Tabs::InBlocks).plain_allowed
}
