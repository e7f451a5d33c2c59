//! `fromJson` and `fromJsonArray`, which put what is wrong into what they give.

use gotemplate::{Call, Error, Function, Functions, Map, Type, Value};
use model::Value as Tree;

pub(super) fn add(functions: &mut Functions) {
    functions.insert("fromJson", Function::new(&[Type::String], from_json));
    functions.insert("fromJsonArray", Function::new(&[Type::String], from_json_array));
}

fn from_json(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let text = read(call)?;
    let read = model::json::parse(text.as_bytes()).map_err(|error| error.to_string());
    map(call, read.and_then(|tree| expect_map(tree, "")))
}

fn from_json_array(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let text = read(call)?;
    let read = model::json::parse(text.as_bytes()).map_err(|error| error.to_string());
    list(call, read.and_then(|tree| expect_list(tree, "")))
}

/// The text to read.
pub(super) fn read(call: &mut Call<'_, '_>) -> Result<String, Error> {
    let text = call.str(0).into_owned();
    call.session.reads(text.len())?;
    Ok(text)
}

/// The map, or one that says what is wrong.
pub(super) fn map(call: &mut Call<'_, '_>, read: Result<Tree, String>) -> Result<Value, Error> {
    match read {
        Ok(Tree::Null) => Ok(Value::Map(Map::nil(Type::Any))),
        Ok(tree) => Value::from_tree(&tree, call.session),
        Err(problem) => Ok(Value::Map(Map::from_iter([("Error", Value::str(problem))]))),
    }
}

/// The list, or one that says what is wrong.
pub(super) fn list(call: &mut Call<'_, '_>, read: Result<Tree, String>) -> Result<Value, Error> {
    match read {
        Ok(Tree::Null) => Ok(Value::List(gotemplate::List::nil(Type::Any))),
        Ok(tree) => Value::from_tree(&tree, call.session),
        Err(problem) => Ok(Value::list(vec![Value::str(problem)])),
    }
}

pub(super) fn expect_map(tree: Tree, before: &str) -> Result<Tree, String> {
    match tree {
        Tree::Object(_) | Tree::Null => Ok(tree),
        other => Err(mistyped(&other, before, "map[string]interface {}")),
    }
}

pub(super) fn expect_list(tree: Tree, before: &str) -> Result<Tree, String> {
    match tree {
        Tree::Array(_) | Tree::Null => Ok(tree),
        other => Err(mistyped(&other, before, "[]interface {}")),
    }
}

fn mistyped(found: &Tree, before: &str, wanted: &str) -> String {
    let found = match found {
        Tree::Array(_) => "array",
        Tree::Object(_) => "object",
        Tree::Str(_) => "string",
        Tree::Bool(_) => "bool",
        _ => "number",
    };
    format!("{before}json: cannot unmarshal {found} into Go value of type {wanted}")
}
