//! Objects as values of Lua.

use mlua::{Lua, Value as LuaValue};
use model::Value;

/// A part of an object. Nothing and `null` are the same in Lua; numbers are floats.
pub(super) fn lua(state: &Lua, value: &Value) -> mlua::Result<LuaValue> {
    Ok(match value {
        Value::Null => LuaValue::Nil,
        Value::Bool(flag) => LuaValue::Boolean(*flag),
        Value::Int(number) => LuaValue::Number(*number as f64),
        Value::Float(number) => LuaValue::Number(*number),
        Value::Str(text) => LuaValue::String(state.create_string(text.as_bytes())?),
        Value::Array(items) => {
            let table = state.create_table_with_capacity(items.len(), 0)?;
            for (at, item) in items.iter().enumerate() {
                table.raw_set(at + 1, lua(state, item)?)?;
            }
            LuaValue::Table(table)
        }
        Value::Object(map) => {
            let table = state.create_table_with_capacity(0, map.len())?;
            for (name, value) in map.iter() {
                table.raw_set(name, lua(state, value)?)?;
            }
            LuaValue::Table(table)
        }
    })
}
