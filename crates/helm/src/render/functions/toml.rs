//! `toToml` and `fromToml`, in the layout of `BurntSushi/toml`.

mod read;
mod write;

use gotemplate::{Call, Error, Function, Functions, Map, Type, Value};

use super::json;

pub(super) fn add(functions: &mut Functions) {
    functions.insert("toToml", Function::new(&[Type::Any], to_toml));
    functions.insert("mustToToml", Function::new(&[Type::Any], must_to_toml));
    functions.insert("fromToml", Function::new(&[Type::String], from_toml));
}

/// What goes wrong is what the function gives.
fn to_toml(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let text = write::document(call.arg(0)).unwrap_or_else(|problem| problem);
    call.session.charge(text.len())?;
    Ok(Value::str(text))
}

fn must_to_toml(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let text = write::document(call.arg(0))?;
    call.session.charge(text.len())?;
    Ok(Value::str(text))
}

fn from_toml(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let text = json::read(call)?;
    Ok(Value::Map(match read::document(&text) {
        Ok(map) => map,
        Err(problem) => Map::from_iter([("Error", Value::str(problem))]),
    }))
}
