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

/// What goes wrong is not told in a template: there is nothing then. Limits are.
fn to_yaml(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let text = written(call, call.arg(0))?.map(without_last_break);
    made(call, text.unwrap_or_default())
}

fn must_to_yaml(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let text = written(call, call.arg(0))?.map(without_last_break)?;
    made(call, text)
}

fn to_yaml_pretty(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let mut text = String::new();
    if let Ok(node) = counted(call, call.arg(0))? {
        let _ = yaml::go::write_pretty(&node, &mut text);
    }
    made(call, without_last_break(text))
}

/// A value as YAML, or what is wrong with it.
pub(in crate::render) fn written(
    call: &mut Call<'_, '_>,
    value: &Value,
) -> Result<Result<String, String>, Error> {
    Ok(counted(call, value)?.and_then(|node| {
        let mut text = String::new();
        yaml::go::write(&node, &mut text)?;
        Ok(text)
    }))
}

/// The tree of a value, or what is wrong with it, if there is room for it as a document. What was gone through counts in any case.
fn counted(call: &mut Call<'_, '_>, value: &Value) -> Result<Result<Node, String>, Error> {
    let left = call.session.memory_left();
    let mut room = left;
    let node = node(value, 0, &mut room);
    call.session.work(left - room)?;
    match node {
        Ok(node) => Ok(Ok(node)),
        Err(Unwritten::Unsupported(problem)) => Ok(Err(problem)),
        Err(Unwritten::TooMuch) => Err(too_much(call)),
    }
}

pub(in crate::render) fn made(call: &mut Call<'_, '_>, text: String) -> Result<Value, Error> {
    call.session.charge(text.len())?;
    Ok(Value::str(text))
}

/// Why a value was not written.
pub(super) enum Unwritten {
    /// It has a part that YAML has not, in the words of Go.
    Unsupported(String),
    /// There is no room for it.
    TooMuch,
}

impl From<String> for Unwritten {
    fn from(problem: String) -> Unwritten {
        Unwritten::Unsupported(problem)
    }
}

/// The error of a value for which there is no room.
pub(super) fn too_much(call: &Call<'_, '_>) -> Error {
    Error::limit(format!(
        "the value takes more as a document than the {} bytes that functions may still make: write less of it",
        call.session.memory_left()
    ))
}

fn from_yaml(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let text = json::read(call)?;
    let read = tree(&text).and_then(|tree| json::expect_map(tree, DECODING));
    // Nothing leaves the map that Helm begins with as it is.
    let filled = |tree: model::Value| {
        if tree.is_null() {
            model::Value::object()
        } else {
            tree
        }
    };
    json::map(call, read.map(filled))
}

fn from_yaml_array(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let text = json::read(call)?;
    let read = tree(&text).and_then(|tree| json::expect_list(tree, DECODING));
    let empty = || model::Value::Array(model::value::List::new());
    json::list(call, read.map(|tree| if tree.is_null() { empty() } else { tree }))
}

const DECODING: &str = "error unmarshaling JSON: while decoding JSON: ";

fn tree(text: &str) -> Result<model::Value, String> {
    yaml::parse(text.as_bytes()).map_err(|error| format!("error converting YAML to JSON: {error}"))
}

pub(in crate::render) fn without_last_break(mut text: String) -> String {
    if text.ends_with('\n') {
        text.pop();
    }
    text
}

/// What a text may become in quotes, for each of its bytes.
const QUOTED: usize = 8;

/// Takes what a value makes out of the room, where it is written as deep as that: its node, the indentation of its lines, and its text.
fn take(value: &Value, depth: usize, room: &mut usize) -> Result<(), Unwritten> {
    let text = value.as_bytes().unwrap_or_default();
    let lines = text.iter().filter(|byte| **byte == b'\n').count();
    let quoted = match text.len() {
        0..LONG => text.len(),
        length => length.saturating_mul(QUOTED),
    };
    let needed = size_of::<Node>() + quoted + (lines + 1).saturating_mul(depth * 2);
    *room = room.checked_sub(needed).ok_or(Unwritten::TooMuch)?;
    Ok(())
}

/// From this length on, a text counts as if all of it became longer in quotes.
const LONG: usize = 1 << 20;

/// The tree that Go's JSON makes of a value, for which there is so much room.
fn node(value: &Value, depth: usize, room: &mut usize) -> Result<Node, Unwritten> {
    if depth > MAX_DEPTH {
        return Err("json: unsupported value: encountered a cycle".to_owned().into());
    }
    take(value, depth, room)?;
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
            return Err(format!("json: unsupported value: {shown}").into());
        }
        Value::Complex(..) => return Err("json: unsupported type: complex128".to_owned().into()),
        Value::Str(text) => Node::str(Text::from(text.clone())),
        Value::Raw(bytes) => Node::str(String::from_utf8_lossy(bytes).into_owned()),
        Value::Bytes(bytes) => Node::str(STANDARD.encode(bytes)),
        Value::List(list) if list.is_nil() => Node::null(),
        Value::List(list) => items(list.items(), depth, room)?,
        Value::Map(map) if map.is_nil() => Node::null(),
        Value::Map(map) => pairs(map.entries(), depth, room)?,
        Value::Object(object) => {
            if let Some(json) = object.json() {
                return node(&json, depth + 1, room);
            }
            match object.kind() {
                GoKind::Slice => items(&object.items(), depth, room)?,
                GoKind::Struct | GoKind::Pointer | GoKind::Map => pairs(object.fields(), depth, room)?,
                _ => match object.scalar() {
                    Some(scalar) => node(&scalar, depth + 1, room)?,
                    None => Node::null(),
                },
            }
        }
    })
}

fn items(items: &[Value], depth: usize, room: &mut usize) -> Result<Node, Unwritten> {
    let nodes: Result<List, Unwritten> = items.iter().map(|item| node(item, depth + 1, room)).collect();
    Ok(Node::List(nodes?))
}

fn pairs(pairs: Vec<(gotemplate::ArcStr, Value)>, depth: usize, room: &mut usize) -> Result<Node, Unwritten> {
    let mut entries = Vec::with_capacity(pairs.len());
    for (key, value) in pairs {
        *room = room.checked_sub(key.len()).ok_or(Unwritten::TooMuch)?;
        entries.push((Text::from(key), node(&value, depth + 1, room)?));
    }
    Ok(Node::Map(Map::from_entries(entries.into_iter())))
}
