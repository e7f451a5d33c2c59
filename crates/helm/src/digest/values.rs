//! The digest of values, `configDigest`.

use model::digest::Algorithm;
use model::{Digest, Map, Value};
use yaml::node::{Kind, List, Map as NodeMap, Node, Scalar, Text};

use super::of_bytes;

/// The digest of values. Without any it is that of nothing.
pub fn of_values(algorithm: Algorithm, values: &Map) -> Digest {
    of_bytes(algorithm, encode_values(values).as_bytes())
}

/// Whether values have this digest, whatever its algorithm. What is no digest is that of nothing at all.
pub fn values_match(digest: &str, values: &Map) -> bool {
    digest
        .parse::<Digest>()
        .is_ok_and(|digest| of_values(digest.algorithm(), values) == digest)
}

/// The text the digest is made of: YAML with sorted keys, as go-yaml v2 writes it, and nothing for no values.
pub fn encode_values(values: &Map) -> String {
    let mut text = String::new();
    if !values.is_empty() {
        yaml::go::write_map_slice(&map(values), &mut text).expect("values of YAML have a form in YAML");
    }
    text
}

fn map(map: &Map) -> Node {
    let mut pairs: Vec<(&str, &Value)> = map.iter().collect();
    // By bytes: the order in which go-yaml would sort them by itself is another.
    pairs.sort_unstable_by_key(|(key, _)| *key);
    let entries = pairs
        .into_iter()
        .map(|(key, value)| (Text::from(key), node(value)));
    Node::Map(NodeMap::from_entries(entries))
}

fn node(value: &Value) -> Node {
    let scalar = |text: String, kind| Node::Scalar(Scalar::new(text, kind));
    match value {
        Value::Null => Node::null(),
        Value::Bool(flag) => scalar(flag.to_string(), Kind::Bool),
        Value::Int(number) => scalar(number.to_string(), Kind::Int),
        Value::Float(number) => float(*number),
        Value::Str(text) => Node::str(text.as_str()),
        Value::Array(items) => Node::List(items.iter().map(node).collect::<List>()),
        Value::Object(object) => map(object),
    }
}

/// Floats without a fraction are whole numbers with all their digits, where 64 bits hold them.
fn float(number: f64) -> Node {
    const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;
    const TWO_TO_64: f64 = 18_446_744_073_709_551_616.0;
    let is_whole = number.fract() == 0.0 && (-TWO_TO_63..TWO_TO_64).contains(&number);
    let (text, kind) = if number == 0.0 {
        ("0".to_owned(), Kind::Int)
    } else if is_whole {
        (format!("{number:.0}"), Kind::Int)
    } else {
        (format!("{number:e}"), Kind::Float)
    };
    Node::Scalar(Scalar::new(text, kind))
}
