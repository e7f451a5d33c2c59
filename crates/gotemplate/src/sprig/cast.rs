//! Values as numbers and strings, as the library `cast` and Sprig's own helpers make them.

use std::borrow::Cow;

use crate::error::Error;
use crate::function::Call;
use crate::print;
use crate::strconv;
use crate::value::{IntType, Value};

/// `int64(float)` as Go's compiler has it on 64-bit machines: what does not fit is the smallest number.
pub(super) fn float_to_int(number: f64) -> i64 {
    if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&number) {
        number as i64
    } else {
        i64::MIN
    }
}

/// `cast.ToInt64`: 0 for what is no number.
pub(super) fn to_int64(value: &Value) -> i64 {
    match value {
        Value::Bool(bool) => i64::from(*bool),
        Value::Int(_, number) => *number,
        Value::Float(number) => float_to_int(*number),
        Value::Str(text) => strconv::parse_int(trim_zero_decimal(text), 0).unwrap_or(0),
        _ => 0,
    }
}

/// `cast.ToFloat64`: 0 for what is no number.
pub(super) fn to_float64(value: &Value) -> f64 {
    match value {
        Value::Bool(bool) => f64::from(u8::from(*bool)),
        Value::Int(IntType::Uint | IntType::Uint64, bits) => bits.cast_unsigned() as f64,
        Value::Int(_, number) => *number as f64,
        Value::Float(number) => *number,
        Value::Str(text) => strconv::parse_float(text).unwrap_or(0.0),
        _ => 0.0,
    }
}

/// `10.00` is the integer 10.
fn trim_zero_decimal(text: &str) -> &str {
    let trimmed = text.trim_end_matches('0');
    match trimmed.strip_suffix('.') {
        Some(whole) if trimmed.len() < text.len() => whole,
        _ => text,
    }
}

/// Sprig's `strval`: a string as it is, bytes as a string, all else as `%v` prints it.
pub(super) fn string_of<'v>(call: &Call<'_, '_>, value: &'v Value) -> Result<Cow<'v, [u8]>, Error> {
    if let Some(bytes) = value.as_bytes() {
        return Ok(Cow::Borrowed(bytes));
    }
    let mut out = Vec::new();
    print::print_value(&mut out, value, call.session.memory_left())?;
    Ok(Cow::Owned(out))
}

/// The same as text.
pub(super) fn text_of(call: &Call<'_, '_>, value: &Value) -> Result<String, Error> {
    Ok(String::from_utf8_lossy(&string_of(call, value)?).into_owned())
}

/// Sprig's `empty`.
pub(super) fn is_empty(value: &Value) -> bool {
    !value.truth()
}
