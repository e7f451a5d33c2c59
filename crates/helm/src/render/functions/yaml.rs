//! `toYaml`, `fromYaml` and their relatives.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gotemplate::{Call, Error, Function, Functions, Kind as GoKind, Type, Value};
use yaml::node::{Kind, List, Map, Node, Scalar, Text};

use super::json;

/// How deep values are written. Go refuses those that contain themselves in other words.
const MAX_DEPTH: usize = 500;

pub(super) fn add(functions: &mut Functions) {
    functions.insert("toYaml", Function::new(&[Type::Any], to_yaml));
    functions.insert("mustToYaml", Function::new(&[Type::Any], must_to_yaml));
    functions.insert("toYamlPretty", Function::new(&[Type::Any], to_yaml_pretty));
    functions.insert("fromYaml", Function::new(&[Type::String], from_yaml));
    functions.insert("fromYamlArray", Function::new(&[Type::String], from_yaml_array));
}

/// What goes wrong is not told in a template: there is nothing then.
fn to_yaml(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let text = write(call.arg(0)).unwrap_or_default();
    call.session.charge(text.len())?;
    Ok(Value::str(text))
}

fn must_to_yaml(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let text = write(call.arg(0))?;
    call.session.charge(text.len())?;
    Ok(Value::str(text))
}

fn to_yaml_pretty(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let mut text = String::new();
    if let Ok(node) = node(call.arg(0), 0) {
        let _ = yaml::go::write_pretty(&node, &mut text);
    }
    call.session.charge(text.len())?;
    without_last_break(&mut text);
    Ok(Value::str(text))
}

fn from_yaml(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let text = json::read(call)?;
    let read = tree(&text).and_then(|tree| json::expect_map(tree, DECODING));
    // Nothing leaves the map that Helm begins with as it is.
    Ok(json::map(read.map(|tree| {
        if tree.is_null() {
            model::Value::object()
        } else {
            tree
        }
    })))
}

fn from_yaml_array(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let text = json::read(call)?;
    let read = tree(&text).and_then(|tree| json::expect_list(tree, DECODING));
    let empty = || model::Value::Array(model::value::List::new());
    Ok(json::list(
        read.map(|tree| if tree.is_null() { empty() } else { tree }),
    ))
}

const DECODING: &str = "error unmarshaling JSON: while decoding JSON: ";

fn tree(text: &str) -> Result<model::Value, String> {
    yaml::parse(text.as_bytes()).map_err(|error| format!("error converting YAML to JSON: {error}"))
}

/// A value as YAML, without the last line break.
pub(in crate::render) fn write(value: &Value) -> Result<String, String> {
    let mut text = write_line(value)?;
    without_last_break(&mut text);
    Ok(text)
}

/// A value as YAML.
pub(in crate::render) fn write_line(value: &Value) -> Result<String, String> {
    let mut text = String::new();
    yaml::go::write(&node(value, 0)?, &mut text)?;
    Ok(text)
}

fn without_last_break(text: &mut String) {
    if text.ends_with('\n') {
        text.pop();
    }
}

/// The tree that Go's JSON makes of a value.
fn node(value: &Value, depth: usize) -> Result<Node, String> {
    if depth > MAX_DEPTH {
        return Err("json: unsupported value: encountered a cycle".to_owned());
    }
    let scalar = |text: String, kind| Node::Scalar(Scalar::new(text, kind));
    Ok(match value {
        Value::None | Value::Nil => Node::null(),
        Value::Bool(true) => scalar("true".to_owned(), Kind::Bool),
        Value::Bool(false) => scalar("false".to_owned(), Kind::Bool),
        Value::Int(kind, number) if !kind.is_signed() => {
            #[allow(clippy::cast_sign_loss, reason = "unsigned numbers are kept by their bits")]
            let number = *number as u64;
            scalar(number.to_string(), Kind::Int)
        }
        Value::Int(_, number) => scalar(number.to_string(), Kind::Int),
        Value::Float(number) if number.is_finite() => scalar(format!("{number:e}"), Kind::Float),
        Value::Float(number) => {
            let shown = if number.is_nan() {
                "NaN"
            } else if *number > 0.0 {
                "+Inf"
            } else {
                "-Inf"
            };
            return Err(format!("json: unsupported value: {shown}"));
        }
        Value::Complex(..) => return Err("json: unsupported type: complex128".to_owned()),
        Value::Str(text) => Node::str(Text::from(text.clone())),
        Value::Raw(bytes) => Node::str(String::from_utf8_lossy(bytes).into_owned()),
        Value::Bytes(bytes) => Node::str(STANDARD.encode(bytes)),
        Value::List(list) if list.is_nil() => Node::null(),
        Value::List(list) => items(list.items(), depth)?,
        Value::Map(map) if map.is_nil() => Node::null(),
        Value::Map(map) => pairs(map.entries(), depth)?,
        Value::Object(object) => {
            if let Some(json) = object.json() {
                return node(&json, depth + 1);
            }
            match object.kind() {
                GoKind::Slice => items(&object.items(), depth)?,
                GoKind::Struct | GoKind::Pointer | GoKind::Map => pairs(object.fields(), depth)?,
                _ => match object.scalar() {
                    Some(scalar) => node(&scalar, depth + 1)?,
                    None => Node::null(),
                },
            }
        }
    })
}

fn items(items: &[Value], depth: usize) -> Result<Node, String> {
    let nodes: Result<List, String> = items.iter().map(|item| node(item, depth + 1)).collect();
    Ok(Node::List(nodes?))
}

fn pairs(pairs: Vec<(gotemplate::ArcStr, Value)>, depth: usize) -> Result<Node, String> {
    let mut entries = Vec::with_capacity(pairs.len());
    for (key, value) in pairs {
        entries.push((Text::from(key), node(&value, depth + 1)?));
    }
    Ok(Node::Map(Map::from_entries(entries.into_iter())))
}
