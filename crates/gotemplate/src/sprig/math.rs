//! Integers and floats.

use super::cast::{to_float64, to_int64};
use super::{ANY, INT, STR, decimal};
use crate::error::Error;
use crate::function::{Call, Function, Functions};
use crate::print;
use crate::strconv;
use crate::value::{List, Type, Value};

pub(super) fn add(functions: &mut Functions) {
    const ONE: &[Type] = &[ANY];
    const TWO: &[Type] = &[ANY, ANY];
    integers(functions);
    functions
        .insert(
            "int",
            Function::new(ONE, |call| Ok(Value::int(to_int64(call.arg(0))))),
        )
        .insert(
            "int64",
            Function::new(ONE, |call| Ok(Value::int64(to_int64(call.arg(0))))),
        )
        .insert(
            "float64",
            Function::new(ONE, |call| Ok(Value::Float(to_float64(call.arg(0))))),
        )
        .insert(
            "atoi",
            Function::new(&[STR], |call| {
                Ok(Value::int(match strconv::parse_int(&call.str(0), 10) {
                    Ok(number) => number,
                    // Go gives the nearest number along with the error, which Sprig drops.
                    Err(strconv::NumError::Range) if call.str(0).starts_with('-') => i64::MIN,
                    Err(strconv::NumError::Range) => i64::MAX,
                    Err(strconv::NumError::Syntax) => 0,
                }))
            }),
        )
        .insert(
            "toDecimal",
            Function::new(ONE, |call| {
                let text = String::from_utf8_lossy(&print::sprint(call.args(), 1 << 20)?).into_owned();
                Ok(Value::int64(strconv::parse_int(&text, 8).unwrap_or(0)))
            }),
        )
        .insert(
            "maxf",
            Function::variadic(ONE, ANY, |call| Ok(fold(call, go_max))),
        )
        .insert(
            "minf",
            Function::variadic(ONE, ANY, |call| Ok(fold(call, go_min))),
        )
        .insert(
            "ceil",
            Function::new(ONE, |call| Ok(Value::Float(to_float64(call.arg(0)).ceil()))),
        )
        .insert(
            "floor",
            Function::new(ONE, |call| Ok(Value::Float(to_float64(call.arg(0)).floor()))),
        )
        .insert("round", Function::variadic(&[ANY, INT], Type::Float, round))
        .insert(
            "add1f",
            Function::new(ONE, |call| {
                decimal::fold(to_float64(call.arg(0)), &[1.0], decimal::Operation::Add)
            }),
        )
        .insert(
            "addf",
            Function::variadic(&[], ANY, |call| {
                decimal::fold(0.0, &floats(call.args()), decimal::Operation::Add)
            }),
        )
        .insert(
            "subf",
            Function::variadic(ONE, ANY, |call| decimals(call, decimal::Operation::Sub)),
        )
        .insert(
            "divf",
            Function::variadic(ONE, ANY, |call| decimals(call, decimal::Operation::Div)),
        )
        .insert(
            "mulf",
            Function::variadic(ONE, ANY, |call| decimals(call, decimal::Operation::Mul)),
        )
        .insert(
            "until",
            Function::new(&[INT], |call| {
                let count = call.int(0);
                let numbers = until_step(call, 0, count, if count < 0 { -1 } else { 1 })?;
                Ok(list_of(numbers))
            }),
        )
        .insert(
            "untilStep",
            Function::new(&[INT, INT, INT], |call| {
                let numbers = until_step(call, call.int(0), call.int(1), call.int(2))?;
                Ok(list_of(numbers))
            }),
        )
        .insert("seq", Function::variadic(&[], INT, seq));
    let _ = TWO;
}

fn integers(functions: &mut Functions) {
    const ONE: &[Type] = &[ANY];
    const TWO: &[Type] = &[ANY, ANY];
    functions
        .insert(
            "add1",
            Function::new(ONE, |call| {
                Ok(Value::int64(to_int64(call.arg(0)).wrapping_add(1)))
            }),
        )
        .insert(
            "add",
            Function::variadic(&[], ANY, |call| {
                Ok(Value::int64(
                    call.args().iter().map(to_int64).fold(0, i64::wrapping_add),
                ))
            }),
        )
        .insert(
            "sub",
            Function::new(TWO, |call| binary(call, |a, b| Some(a.wrapping_sub(b)))),
        )
        .insert("div", Function::new(TWO, |call| binary(call, divide)))
        .insert("mod", Function::new(TWO, |call| binary(call, remainder)))
        .insert(
            "mul",
            Function::variadic(ONE, ANY, |call| {
                Ok(Value::int64(
                    call.args().iter().map(to_int64).fold(1, i64::wrapping_mul),
                ))
            }),
        )
        .insert(
            "max",
            Function::variadic(ONE, ANY, |call| {
                Ok(Value::int64(call.args().iter().map(to_int64).max().unwrap_or(0)))
            }),
        )
        .insert(
            "min",
            Function::variadic(ONE, ANY, |call| {
                Ok(Value::int64(call.args().iter().map(to_int64).min().unwrap_or(0)))
            }),
        );
    functions.alias("biggest", "max");
}

fn binary(call: &Call<'_, '_>, with: fn(i64, i64) -> Option<i64>) -> Result<Value, Error> {
    match with(to_int64(call.arg(0)), to_int64(call.arg(1))) {
        Some(number) => Ok(Value::int64(number)),
        None => Err(Error::new("runtime error: integer divide by zero")),
    }
}

fn divide(one: i64, other: i64) -> Option<i64> {
    (other != 0).then(|| one.wrapping_div(other))
}

fn remainder(one: i64, other: i64) -> Option<i64> {
    (other != 0).then(|| one.wrapping_rem(other))
}

fn fold(call: &Call<'_, '_>, with: fn(f64, f64) -> f64) -> Value {
    let numbers = floats(call.args());
    Value::Float(numbers.iter().copied().reduce(with).unwrap_or(0.0))
}

/// Unlike Rust's, Go's greater of a number and none is none.
fn go_max(one: f64, other: f64) -> f64 {
    if one.is_nan() || other.is_nan() {
        f64::NAN
    } else {
        one.max(other)
    }
}

fn go_min(one: f64, other: f64) -> f64 {
    if one.is_nan() || other.is_nan() {
        f64::NAN
    } else {
        one.min(other)
    }
}

fn floats(args: &[Value]) -> Vec<f64> {
    args.iter().map(to_float64).collect()
}

fn decimals(call: &Call<'_, '_>, operation: decimal::Operation) -> Result<Value, Error> {
    decimal::fold(to_float64(call.arg(0)), &floats(&call.args()[1..]), operation)
}

fn round(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let limit = if call.args().len() > 2 { call.float(2) } else { 0.5 };
    let power = pow10(call.int(1));
    let digit = power * to_float64(call.arg(0));
    let rounded = if digit - digit.trunc() >= limit {
        digit.ceil()
    } else {
        digit.floor()
    };
    Ok(Value::Float(rounded / power))
}

/// A power of ten, as exact as a table has it.
fn pow10(places: i64) -> f64 {
    match i32::try_from(places) {
        Ok(places) => format!("1e{places}").parse().unwrap_or(f64::INFINITY),
        Err(_) if places < 0 => 0.0,
        Err(_) => f64::INFINITY,
    }
}

fn until_step(call: &mut Call<'_, '_>, start: i64, stop: i64, step: i64) -> Result<Vec<i64>, Error> {
    let mut numbers = Vec::new();
    if (stop < start) != (step < 0) || step == 0 || start == stop {
        return Ok(numbers);
    }
    let count = start.abs_diff(stop).div_ceil(step.unsigned_abs());
    let bytes = usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(24);
    call.session.charge(bytes)?;
    let mut number = start;
    for _ in 0..count {
        numbers.push(number);
        number = number.wrapping_add(step);
    }
    Ok(numbers)
}

fn list_of(numbers: Vec<i64>) -> Value {
    Value::List(List::of(Type::INT, numbers.into_iter().map(Value::int).collect()))
}

fn seq(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let (start, end, step, past) = match call.args().len() {
        1 => {
            let end = call.int(0);
            let step = if end < 1 { -1 } else { 1 };
            (1, end, step, step)
        }
        2 => {
            let (start, end) = (call.int(0), call.int(1));
            let step = if end < start { -1 } else { 1 };
            (start, end, step, step)
        }
        3 => {
            let (start, step, end) = (call.int(0), call.int(1), call.int(2));
            if end < start && step > 0 {
                return Ok(Value::str(""));
            }
            (start, end, step, if end < start { -1 } else { 1 })
        }
        _ => return Ok(Value::str("")),
    };
    let numbers = until_step(call, start, end.wrapping_add(past), step)?;
    let texts: Vec<String> = numbers.iter().map(i64::to_string).collect();
    super::made(call, texts.join(" ").into_bytes())
}
