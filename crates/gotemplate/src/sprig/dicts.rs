//! Maps.

use super::cast::text_of;
use super::{ANY, MAP, STR};
use crate::error::Error;
use crate::function::{Call, Function, Functions};
use crate::value::{ArcStr, List, Map, Type, Value};

/// What comparing two keys counts, in bytes that are gone through.
const KEY: usize = 8;

/// How deep values are copied.
const DEPTH: usize = 500;

pub(super) fn add(functions: &mut Functions) {
    functions
        .insert("dict", Function::variadic(&[], ANY, dict))
        .insert(
            "get",
            Function::new(&[MAP, STR], |call| {
                Ok(call.map(0).get(&call.str(1)).unwrap_or_else(|| Value::str("")))
            }),
        )
        .insert(
            "set",
            Function::new(&[MAP, STR, ANY], |call| {
                call.session
                    .put(&call.map(0), &call.str(1), call.arg(2).clone())?;
                Ok(call.arg(0).clone())
            }),
        )
        .insert(
            "unset",
            Function::new(&[MAP, STR], |call| {
                call.map(0).remove(&call.str(1));
                Ok(call.arg(0).clone())
            }),
        )
        .insert(
            "hasKey",
            Function::new(&[MAP, STR], |call| {
                Ok(Value::Bool(call.map(0).contains(&call.str(1))))
            }),
        )
        .insert(
            "pluck",
            Function::variadic(&[STR], MAP, |call| {
                let key = call.str(0);
                call.session.charge(List::size(call.args().len()))?;
                let found = (1..call.args().len())
                    .filter_map(|index| call.map(index).get(&key))
                    .collect();
                Ok(Value::list(found))
            }),
        )
        .insert(
            "keys",
            Function::variadic(&[], MAP, |call| {
                let count: usize = (0..call.args().len()).map(|index| call.map(index).len()).sum();
                call.session.fits(List::size(count))?;
                let keys: Vec<ArcStr> = (0..call.args().len())
                    .flat_map(|index| call.map(index).keys())
                    .collect();
                call.session.charge(List::size(keys.len()))?;
                Ok(Value::strings(keys))
            }),
        )
        .insert(
            "values",
            Function::new(&[MAP], |call| {
                call.session.charge(List::size(call.map(0).len()))?;
                let values = call.map(0).values();
                Ok(Value::list(values))
            }),
        )
        .insert(
            "pick",
            Function::variadic(&[MAP], STR, |call| {
                let map = call.map(0);
                let keys = &call.args()[1..];
                call.session.charge(Map::size(keys.len()))?;
                let picked = keys
                    .iter()
                    .filter_map(|key| Some((key.as_str()?, map.get(key.as_str()?)?)));
                Ok(Value::Map(picked.collect()))
            }),
        )
        .insert(
            "omit",
            Function::variadic(&[MAP], STR, |call| {
                let keys = &call.args()[1..];
                let count = call.map(0).len();
                call.session.charge(Map::size(count))?;
                // Each key is compared with each that is omitted.
                call.session.work(count.saturating_mul(keys.len() * KEY))?;
                let entries = call.map(0).entries();
                let is_kept = |key: &str| !keys.iter().any(|omitted| omitted.as_str() == Some(key));
                Ok(Value::Map(
                    entries.into_iter().filter(|(key, _)| is_kept(key)).collect(),
                ))
            }),
        )
        .insert("dig", Function::variadic(&[], ANY, dig))
        .insert(
            "deepCopy",
            Function::new(&[ANY], |call| match call.arg(0).is_nothing() {
                true => Err(Error::new("reflect: call of reflect.Value.Type on zero Value")),
                false => deep_copy(call, call.arg(0), 0),
            }),
        );
    functions.alias("mustDeepCopy", "deepCopy");
}

fn dict(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    call.session.charge(Map::size(call.args().len().div_ceil(2)))?;
    let map = Map::new();
    for pair in call.args().chunks(2) {
        let value = pair.get(1).cloned().unwrap_or_else(|| Value::str(""));
        match &pair[0] {
            Value::Str(key) => map.insert(key.clone(), value),
            other => map.insert(text_of(call, other)?, value),
        };
    }
    Ok(Value::Map(map))
}

fn dig(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let [keys @ .., default, value] = call.args() else {
        return Err(Error::new("dig needs at least three arguments"));
    };
    if keys.is_empty() {
        return Err(Error::new("dig needs at least three arguments"));
    }
    let mut map = conversion_to_map(value)?;
    let names: Vec<_> = keys.iter().map(conversion_to_string).collect::<Result<_, _>>()?;
    for (index, name) in names.iter().enumerate() {
        let Some(step) = map.get(name) else {
            return Ok(default.clone());
        };
        if index + 1 == names.len() {
            return Ok(step);
        }
        map = conversion_to_map(&step)?;
    }
    Ok(default.clone())
}

fn conversion(value: &Value, to: &str) -> Error {
    let is = if value.is_nothing() {
        "nil".into()
    } else {
        value.type_name()
    };
    Error::new(format!("interface conversion: interface {{}} is {is}, not {to}"))
}

fn conversion_to_map(value: &Value) -> Result<Map, Error> {
    match value {
        // A named type is another type to Go, even if it is a map.
        Value::Map(map) if map.class().is_none() && map.element() == Type::Any => Ok(map.clone()),
        other => Err(conversion(other, "map[string]interface {}")),
    }
}

fn conversion_to_string(value: &Value) -> Result<&str, Error> {
    value.as_str().ok_or_else(|| conversion(value, "string"))
}

/// A copy that shares no map with the original. Lists are never changed, but hold maps that are.
pub(super) fn deep_copy(call: &mut Call<'_, '_>, value: &Value, depth: usize) -> Result<Value, Error> {
    if depth > DEPTH {
        return Err(Error::limit(format!(
            "a value that is nested more than {DEPTH} levels deep, or contains itself, cannot be copied"
        )));
    }
    Ok(match value {
        Value::List(list) if !list.is_nil() => {
            call.session.charge(List::size(list.len()))?;
            let items: Result<Vec<Value>, Error> = list
                .items()
                .iter()
                .map(|item| deep_copy(call, item, depth + 1))
                .collect();
            Value::List(List::of(list.element(), items?))
        }
        Value::Map(map) if !map.is_nil() => {
            call.session.charge(Map::size(map.len()))?;
            let entries = map.entries();
            let copy = map.empty_like();
            for (key, item) in entries {
                copy.insert(key, deep_copy(call, &item, depth + 1)?);
            }
            Value::Map(copy)
        }
        other => other.clone(),
    })
}
