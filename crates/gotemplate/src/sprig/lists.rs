//! Lists.

use super::cast::{is_empty, to_int64};
use super::{ANY, INT};
use crate::error::Error;
use crate::function::{Call, Function, Functions};
use crate::value::{Kind, List, Type, Value};

type Items<'v> = std::borrow::Cow<'v, [Value]>;

pub(super) fn add(functions: &mut Functions) {
    const ONE: &[Type] = &[ANY];
    const TWO: &[Type] = &[ANY, ANY];
    functions
        .insert(
            "list",
            Function::variadic(&[], ANY, |call| new_list(call, call.args().to_vec())),
        )
        .insert(
            "first",
            Function::new(ONE, |call| {
                Ok(items(call.arg(0), "find first on")?
                    .first()
                    .cloned()
                    .unwrap_or(Value::Nil))
            }),
        )
        .insert(
            "last",
            Function::new(ONE, |call| {
                Ok(items(call.arg(0), "find last on")?
                    .last()
                    .cloned()
                    .unwrap_or(Value::Nil))
            }),
        )
        .insert(
            "rest",
            Function::new(ONE, |call| {
                let items = items(call.arg(0), "find rest on")?;
                part(call, items.get(1..))
            }),
        )
        .insert(
            "initial",
            Function::new(ONE, |call| {
                let items = items(call.arg(0), "find initial on")?;
                part(call, items.split_last().map(|(_, before)| before))
            }),
        )
        .insert(
            "append",
            Function::new(TWO, |call| {
                let mut items = items(call.arg(0), "push on")?.into_owned();
                items.push(call.arg(1).clone());
                new_list(call, items)
            }),
        )
        .insert(
            "prepend",
            Function::new(TWO, |call| {
                let mut items = items(call.arg(0), "prepend on")?.into_owned();
                items.insert(0, call.arg(1).clone());
                new_list(call, items)
            }),
        )
        .insert(
            "reverse",
            Function::new(ONE, |call| {
                let mut items = items(call.arg(0), "find reverse on")?.into_owned();
                items.reverse();
                new_list(call, items)
            }),
        )
        .insert(
            "compact",
            Function::new(ONE, |call| {
                let items = items(call.arg(0), "compact on")?;
                call.session.work(items.len() * ITEM)?;
                let kept = items.iter().filter(|item| !is_empty(item)).cloned().collect();
                new_list(call, kept)
            }),
        )
        .insert("uniq", Function::new(ONE, uniq))
        .insert("without", Function::variadic(ONE, ANY, without))
        .insert("has", Function::new(TWO, has))
        .insert("chunk", Function::new(&[INT, ANY], chunk))
        .insert("slice", Function::variadic(ONE, ANY, slice))
        .insert("concat", Function::variadic(&[], ANY, concat));
    for (must, name) in [
        ("mustFirst", "first"),
        ("mustLast", "last"),
        ("mustRest", "rest"),
        ("mustInitial", "initial"),
        ("mustAppend", "append"),
        ("push", "append"),
        ("mustPush", "append"),
        ("mustPrepend", "prepend"),
        ("mustReverse", "reverse"),
        ("mustCompact", "compact"),
        ("mustUniq", "uniq"),
        ("mustWithout", "without"),
        ("mustHas", "has"),
        ("mustChunk", "chunk"),
        ("mustSlice", "slice"),
        ("tuple", "list"),
    ] {
        functions.alias(must, name);
    }
}

/// What Go says where `reflect` is asked for the type of nil.
pub(super) fn nil_dereference() -> Error {
    Error::new("runtime error: invalid memory address or nil pointer dereference")
}

fn items<'v>(value: &'v Value, what: &str) -> Result<Items<'v>, Error> {
    if value.is_nothing() {
        return Err(nil_dereference());
    }
    value
        .items()
        .ok_or_else(|| Error::new(format!("Cannot {what} type {}", value.kind().name())))
}

/// The bytes of an item of a list.
const ITEM: usize = size_of::<Value>();

fn new_list(call: &mut Call<'_, '_>, items: Vec<Value>) -> Result<Value, Error> {
    call.session.charge(List::size(items.len()))?;
    Ok(Value::list(items))
}

fn part(call: &mut Call<'_, '_>, items: Option<&[Value]>) -> Result<Value, Error> {
    match items {
        Some(items) => new_list(call, items.to_vec()),
        None => Ok(Value::List(List::nil(Type::Any))),
    }
}

fn contains(call: &mut Call<'_, '_>, items: &[Value], value: &Value) -> Result<bool, Error> {
    for item in items {
        if item.deep_equals(value, call.session)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn uniq(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let items = items(call.arg(0), "find uniq on")?;
    let mut kept: Vec<Value> = Vec::new();
    for item in items.iter() {
        if !contains(call, &kept, item)? {
            kept.push(item.clone());
        }
    }
    new_list(call, kept)
}

fn without(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let items = items(call.arg(0), "find without on")?;
    let omitted = &call.args()[1..];
    let mut kept = Vec::new();
    for item in items.iter() {
        // Without anything to compare there is work, too.
        call.session.work(ITEM)?;
        if !contains(call, omitted, item)? {
            kept.push(item.clone());
        }
    }
    new_list(call, kept)
}

fn has(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    if call.arg(1).is_nothing() {
        return Ok(Value::Bool(false));
    }
    let items = items(call.arg(1), "find has on")?;
    Ok(Value::Bool(contains(call, &items, call.arg(0))?))
}

fn chunk(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let items = items(call.arg(1), "chunk")?;
    let size = call.int(0);
    if size < 1 {
        // Go divides by it or makes a list of negative length; the words are those of the latter.
        return Err(match items.is_empty() && size < 0 {
            true => Error::new("runtime error: index out of range [0] with length 0"),
            false => Error::new("runtime error: makeslice: len out of range"),
        });
    }
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    let chunks = items.len().div_ceil(size);
    call.session
        .charge(chunks * List::size(0) + (items.len() + chunks) * ITEM)?;
    let chunks = items
        .chunks(size)
        .map(|items| Value::list(items.to_vec()))
        .collect();
    Ok(Value::List(List::of(Type::LIST, chunks)))
}

fn slice(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let list = call.arg(0);
    if list.is_nothing() {
        return Err(nil_dereference());
    }
    if list.kind() != Kind::Slice {
        let kind = list.kind().name();
        return Err(Error::new(format!(
            "list should be type of slice or array but {kind}"
        )));
    }
    let items = list.items().unwrap_or_default();
    if items.is_empty() {
        return Ok(Value::Nil);
    }
    let start = call.args().get(1).map_or(0, to_int64);
    let end = call.args().get(2).map_or(items.len() as i64, to_int64);
    let bounds = usize::try_from(start).ok().zip(usize::try_from(end).ok());
    let part = bounds.and_then(|(start, end)| items.get(start..end));
    let Some(part) = part else {
        return Err(Error::new("reflect.Value.Slice: slice index out of bounds"));
    };
    call.session.charge(List::size(part.len()))?;
    Ok(match list {
        Value::Bytes(bytes) => Value::Bytes(bytes[start as usize..end as usize].into()),
        Value::List(list) => Value::List(List::of(list.element(), part.to_vec())),
        _ => Value::list(part.to_vec()),
    })
}

fn concat(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let mut all = Vec::new();
    for list in call.args() {
        if list.is_nothing() {
            return Err(nil_dereference());
        }
        let kind = list.kind().name();
        let items = list
            .items()
            .ok_or_else(|| format!("Cannot concat type {kind} as list"))?;
        all.extend_from_slice(&items);
    }
    if all.is_empty() {
        return Ok(Value::List(List::nil(Type::Any)));
    }
    new_list(call, all)
}
