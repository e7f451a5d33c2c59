//! Equality as Go's `reflect.DeepEqual` has it.

use super::Value;
use crate::error::Error;
use crate::session::Session;

/// How deep values are compared; deeper ones are taken for different.
const DEPTH: usize = 1_000;

/// What one comparison counts, in bytes that are gone through.
const COMPARISON: usize = 32;

impl Value {
    /// What `reflect.DeepEqual` says of two values that functions were given: of one type, and alike in every part. Each part that is
    /// compared is work.
    pub(crate) fn deep_equals(&self, other: &Value, session: &mut Session<'_>) -> Result<bool, Error> {
        deep_equals(self, other, session, DEPTH)
    }
}

fn deep_equals(one: &Value, other: &Value, session: &mut Session<'_>, depth: usize) -> Result<bool, Error> {
    if depth == 0 {
        return Ok(false);
    }
    session.work(COMPARISON)?;
    Ok(match (one, other) {
        (Value::None | Value::Nil, Value::None | Value::Nil) => true,
        (Value::Bool(one), Value::Bool(other)) => one == other,
        (Value::Int(one_type, one), Value::Int(other_type, other)) => one_type == other_type && one == other,
        (Value::Float(one), Value::Float(other)) => one == other,
        (Value::Complex(a, b), Value::Complex(c, d)) => a == c && b == d,
        (Value::Str(one), Value::Str(other)) => bytes_equal(one.as_bytes(), other.as_bytes(), session)?,
        (Value::Raw(one), Value::Raw(other)) | (Value::Bytes(one), Value::Bytes(other)) => {
            bytes_equal(one, other, session)?
        }
        (Value::List(one), Value::List(other)) => {
            if one.element() != other.element() || one.is_nil() != other.is_nil() || one.len() != other.len()
            {
                return Ok(false);
            }
            if one.same(other) {
                return Ok(true);
            }
            for (a, b) in one.items().iter().zip(other.items()) {
                if !deep_equals(a, b, session, depth - 1)? {
                    return Ok(false);
                }
            }
            true
        }
        (Value::Map(one), Value::Map(other)) => {
            if one.same(other) {
                return Ok(true);
            }
            let is_alike = one.element() == other.element()
                && one.is_nil() == other.is_nil()
                && one.class().map(super::Class::type_name) == other.class().map(super::Class::type_name)
                && one.len() == other.len();
            if !is_alike {
                return Ok(false);
            }
            session.work(one.len().saturating_mul(COMPARISON))?;
            for (key, a) in one.entries() {
                let Some(b) = other.get(&key) else {
                    return Ok(false);
                };
                if !deep_equals(&a, &b, session, depth - 1)? {
                    return Ok(false);
                }
            }
            true
        }
        (Value::Object(one), Value::Object(other)) => {
            one.type_name() == other.type_name() && one.equals(other.as_ref())
        }
        _ => false,
    })
}

fn bytes_equal(one: &[u8], other: &[u8], session: &mut Session<'_>) -> Result<bool, Error> {
    if one.len() != other.len() {
        return Ok(false);
    }
    session.work(one.len())?;
    Ok(one == other)
}
