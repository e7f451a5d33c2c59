//! `toToml` and `fromToml`, in the layout of `BurntSushi/toml`.

mod read;
mod write;

use gotemplate::{Call, Error, Function, Functions, Map, Type, Value};

use super::json;
use super::yaml::{Unwritten, too_much};

pub(super) fn add(functions: &mut Functions) {
    functions.insert("toToml", Function::new(&[Type::Any], to_toml));
    functions.insert("mustToToml", Function::new(&[Type::Any], must_to_toml));
    functions.insert("fromToml", Function::new(&[Type::String], from_toml));
}

/// What goes wrong is what the function gives.
fn to_toml(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let text = written(call)?.unwrap_or_else(|problem| problem);
    call.session.charge(text.len())?;
    Ok(Value::str(text))
}

fn must_to_toml(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let text = written(call)??;
    call.session.charge(text.len())?;
    Ok(Value::str(text))
}

/// A value as TOML, or what is wrong with it. What was written until then counts in any case.
fn written(call: &mut Call<'_, '_>) -> Result<Result<String, String>, Error> {
    let mut text = String::new();
    let done = write::document(call.arg(0), call.session.memory_left(), &mut text);
    call.session.work(text.len())?;
    match done {
        Ok(()) => Ok(Ok(text)),
        Err(Unwritten::Unsupported(problem)) => Ok(Err(problem)),
        Err(Unwritten::TooMuch) => Err(too_much(call)),
    }
}

/// The bytes that values take at most for each byte of the document that they are read from.
const VALUES: usize = 48;

fn from_toml(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let text = json::read(call)?;
    call.session.charge(text.len().saturating_mul(VALUES))?;
    Ok(Value::Map(match read::document(&text) {
        Ok(map) => map,
        Err(problem) => Map::from_iter([("Error", Value::str(problem))]),
    }))
}
