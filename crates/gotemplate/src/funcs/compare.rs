//! `eq` and its kin, with Go's rules on which types can be compared.

use crate::error::Error;
use crate::print::sprint_value;
use crate::value::{Kind, Value};

/// What can be compared with what.
#[derive(Clone, Copy, PartialEq)]
enum Basic {
    None,
    Bool(bool),
    Complex(f64, f64),
    Int(i64),
    Uint(u64),
    Float(f64),
    String,
}

fn basic(value: &Value) -> Basic {
    match value {
        Value::Bool(bool) => Basic::Bool(*bool),
        Value::Int(int, number) if int.is_signed() => Basic::Int(*number),
        Value::Int(_, number) => Basic::Uint(number.cast_unsigned()),
        Value::Float(number) => Basic::Float(*number),
        Value::Complex(real, imaginary) => Basic::Complex(*real, *imaginary),
        Value::Str(_) | Value::Raw(_) => Basic::String,
        Value::Object(object) => match object.scalar() {
            Some(Value::Str(_) | Value::Raw(_)) | None => Basic::None,
            Some(scalar) => basic(&scalar),
        },
        _ => Basic::None,
    }
}

fn same_kind(one: Basic, other: Basic) -> bool {
    std::mem::discriminant(&one) == std::mem::discriminant(&other)
}

fn bytes(value: &Value) -> &[u8] {
    value.as_bytes().unwrap_or_default()
}

fn incompatible(one: &Value, other: &Value) -> Error {
    Error::new(format!(
        "incompatible types for comparison: {} and {}",
        one.type_name(),
        other.type_name()
    ))
}

pub(super) fn equal(args: &[Value]) -> Result<Value, Error> {
    let (one, others) = args.split_first().ok_or_else(missing)?;
    if others.is_empty() {
        return Err(missing());
    }
    for other in others {
        if equals(one, other)? {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

fn missing() -> Error {
    Error::new("missing argument for comparison")
}

fn equals(one: &Value, other: &Value) -> Result<bool, Error> {
    Ok(match (basic(one), basic(other)) {
        (Basic::Int(a), Basic::Uint(b)) => u64::try_from(a) == Ok(b),
        (Basic::Uint(a), Basic::Int(b)) => u64::try_from(b) == Ok(a),
        (Basic::String, Basic::String) => bytes(one) == bytes(other),
        (Basic::None, Basic::None) => return equal_others(one, other),
        (a, b) if same_kind(a, b) => a == b,
        _ if one.is_nothing() || other.is_nothing() => false,
        _ => return Err(incompatible(one, other)),
    })
}

/// Neither is a number, a string or a bool.
fn equal_others(one: &Value, other: &Value) -> Result<bool, Error> {
    let kind = |value: &Value| {
        if value.is_nothing() {
            Kind::Invalid
        } else {
            value.kind()
        }
    };
    if kind(one) != kind(other) && !one.is_nothing() && !other.is_nothing() {
        return Err(Error::new(format!(
            "non-comparable types {}: {}, {}: {}",
            as_string(one),
            one.type_name(),
            other.type_name(),
            sprint_value(other)
        )));
    }
    if is_nil(one) || is_nil(other) {
        return Ok(is_nil(one) == is_nil(other));
    }
    match (one, other) {
        (Value::Object(a), Value::Object(b)) if !matches!(b.kind(), Kind::Map | Kind::Slice) => {
            Ok(a.type_name() == b.type_name() && a.equals(b.as_ref()))
        }
        _ => Err(Error::new(format!(
            "non-comparable type {}: {}",
            as_string(other),
            other.type_name()
        ))),
    }
}

/// A value as `%s` prints it, complaints and all.
fn as_string(value: &Value) -> String {
    let text = crate::print::sprintf(b"%s", std::slice::from_ref(value), 1 << 20).unwrap_or_default();
    String::from_utf8_lossy(&text).into_owned()
}

fn is_nil(value: &Value) -> bool {
    match value {
        Value::None | Value::Nil => true,
        Value::List(list) => list.is_nil(),
        Value::Map(map) => map.is_nil(),
        _ => false,
    }
}

pub(super) fn not_equal(args: &[Value]) -> Result<Value, Error> {
    match equal(args)? {
        Value::Bool(equal) => Ok(Value::Bool(!equal)),
        other => Ok(other),
    }
}

fn is_less(args: &[Value]) -> Result<bool, Error> {
    let [one, other] = args else {
        return Err(missing());
    };
    let bad = || Error::new("invalid type for comparison");
    Ok(match (basic(one), basic(other)) {
        (Basic::None, _) | (_, Basic::None) => return Err(bad()),
        (Basic::Int(a), Basic::Uint(b)) => u64::try_from(a).map_or(true, |a| a < b),
        (Basic::Uint(a), Basic::Int(b)) => u64::try_from(b).is_ok_and(|b| a < b),
        (Basic::Int(a), Basic::Int(b)) => a < b,
        (Basic::Uint(a), Basic::Uint(b)) => a < b,
        (Basic::Float(a), Basic::Float(b)) => a < b,
        (Basic::String, Basic::String) => bytes(one) < bytes(other),
        (a, b) if same_kind(a, b) => return Err(bad()),
        _ => return Err(incompatible(one, other)),
    })
}

fn is_less_or_equal(args: &[Value]) -> Result<bool, Error> {
    Ok(is_less(args)? || equals(&args[0], &args[1])?)
}

pub(super) fn less(args: &[Value]) -> Result<Value, Error> {
    is_less(args).map(Value::Bool)
}

pub(super) fn less_or_equal(args: &[Value]) -> Result<Value, Error> {
    is_less_or_equal(args).map(Value::Bool)
}

pub(super) fn greater(args: &[Value]) -> Result<Value, Error> {
    is_less_or_equal(args).map(|less| Value::Bool(!less))
}

pub(super) fn greater_or_equal(args: &[Value]) -> Result<Value, Error> {
    is_less(args).map(|less| Value::Bool(!less))
}
