//! `index`, `slice` and `len`.

use crate::error::Error;
use crate::exec::zero_element;
use crate::value::{IntType, Kind, List, Type, Value};

/// An index that is within the list, its end included.
fn position(index: &Value, length: usize) -> Result<usize, Error> {
    let number = match index {
        Value::Int(_, number) => *number,
        Value::None | Value::Nil => return Err(Error::new("cannot index slice/array with nil")),
        other => {
            return Err(Error::new(format!(
                "cannot index slice/array with type {}",
                other.type_name()
            )));
        }
    };
    usize::try_from(number)
        .ok()
        .filter(|index| *index <= length)
        .ok_or_else(|| Error::new(format!("index out of range: {number}")))
}

pub(super) fn index(args: &[Value]) -> Result<Value, Error> {
    let (first, indexes) = args.split_first().ok_or("index of untyped nil")?;
    if first.is_nothing() {
        return Err(Error::new("index of untyped nil"));
    }
    let mut item = first.clone();
    for index in indexes {
        item = index_once(&item, index)?;
    }
    Ok(item)
}

fn index_once(item: &Value, index: &Value) -> Result<Value, Error> {
    // One past the end is let through by the check and refused by the access, in other words.
    let end = |kind: &str| Error::new(format!("reflect: {kind} index out of range"));
    match item {
        Value::None | Value::Nil => Err(Error::new("index of nil pointer")),
        Value::Map(map) => {
            let key = map_key(index)?;
            Ok(map.get(&key).unwrap_or_else(|| zero_element(map.element())))
        }
        Value::List(list) => {
            let at = position(index, list.len())?;
            list.items().get(at).cloned().ok_or_else(|| end("slice"))
        }
        Value::Str(_) | Value::Raw(_) | Value::Bytes(_) => {
            let bytes = item.as_bytes().unwrap_or_default();
            let at = position(index, bytes.len())?;
            let kind = if matches!(item, Value::Bytes(_)) {
                "slice"
            } else {
                "string"
            };
            let byte = bytes.get(at).ok_or_else(|| end(kind))?;
            Ok(Value::Int(IntType::Uint8, i64::from(*byte)))
        }
        Value::Object(object) if object.kind() == Kind::Map => {
            let key = map_key(index)?;
            Ok(object
                .field(&key)
                .unwrap_or_else(|| zero_element(object.element())))
        }
        Value::Object(object) if object.kind() == Kind::Slice => {
            let items = object.items();
            let at = position(index, items.len())?;
            items.get(at).cloned().ok_or_else(|| end("slice"))
        }
        other => Err(Error::new(format!(
            "can't index item of type {}",
            other.type_name()
        ))),
    }
}

fn map_key(index: &Value) -> Result<std::borrow::Cow<'_, str>, Error> {
    match index {
        Value::Str(text) => Ok(text.as_str().into()),
        Value::Raw(bytes) => Ok(String::from_utf8_lossy(bytes)),
        Value::None | Value::Nil => Err(Error::new("value is nil; should be of type string")),
        other => Err(Error::new(format!(
            "value has type {}; should be string",
            other.type_name()
        ))),
    }
}

pub(super) fn slice(args: &[Value]) -> Result<Value, Error> {
    let (item, indexes) = args.split_first().ok_or("slice of untyped nil")?;
    if item.is_nothing() {
        return Err(Error::new("slice of untyped nil"));
    }
    if indexes.len() > 3 {
        return Err(Error::new(format!("too many slice indexes: {}", indexes.len())));
    }
    let is_string = matches!(item, Value::Str(_) | Value::Raw(_));
    if is_string && indexes.len() == 3 {
        return Err(Error::new("cannot 3-index slice a string"));
    }
    let length = match item.len() {
        Some(length) if matches!(item.kind(), Kind::String | Kind::Slice) => length,
        _ => {
            return Err(Error::new(format!(
                "can't slice item of type {}",
                item.type_name()
            )));
        }
    };
    let mut bounds = [0, length, length];
    for (bound, index) in bounds.iter_mut().zip(indexes) {
        *bound = position(index, length)?;
    }
    let [start, end, capacity] = bounds;
    if start > end {
        return Err(Error::new(format!("invalid slice index: {start} > {end}")));
    }
    if end > capacity {
        return Err(Error::new(format!("invalid slice index: {end} > {capacity}")));
    }
    Ok(match item {
        Value::Str(text) => Value::string_of_bytes(&text.as_bytes()[start..end]),
        Value::Raw(bytes) => Value::string_of_bytes(&bytes[start..end]),
        Value::Bytes(bytes) => Value::Bytes(bytes[start..end].into()),
        other => {
            let element = match other {
                Value::List(list) => list.element(),
                Value::Object(object) => object.element(),
                _ => Type::Any,
            };
            let items = other.items().unwrap_or_default();
            Value::List(List::of(element, items[start..end].to_vec()))
        }
    })
}

pub(super) fn length(item: &Value) -> Result<Value, Error> {
    if matches!(item, Value::Nil) {
        return Err(Error::new("len of nil pointer"));
    }
    if matches!(item, Value::None) {
        // What Go says where `reflect` is asked for the type of nothing.
        return Err(Error::new("reflect: call of reflect.Value.Type on zero Value"));
    }
    match item.len() {
        Some(length) => Ok(Value::int(length as i64)),
        None => Err(Error::new(format!("len of type {}", item.type_name()))),
    }
}
