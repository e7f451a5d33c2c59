//! The functions that expressions may call, with the cost of each.
//!
//! Flux offers the standard library of CEL, optional values, and the libraries `strings`, `sets` and `encoders` of cel-go. No other function
//! is registered. A function pays for its arguments, for its work and for the largest result that it can have before it runs.

use std::sync::{Arc, LazyLock};

use kube_cel::KubeCelExt as _;
use kube_cel::cel::common::ast::{CallExpr, Expr, IdedExpr};
use kube_cel::cel::{Context, ExecutionError, FunctionContext, Value};

use super::budget::{Budget, text_weight, weight};

/// Returns the cost of a call in addition to the weight of its arguments. The target of a method is the first argument.
type Cost = fn(name: &str, arguments: &[Value]) -> Result<u64, ExecutionError>;

type Function = Box<dyn Fn(&mut FunctionContext<'_, '_>) -> Result<Value, ExecutionError> + Send + Sync>;

/// The size of a printed value by its weight: escaped bytes, numbers with hundreds of digits, names of types.
const PRINTED: u64 = 24;

const FUNCTIONS: &[(&str, Cost)] = &[
    // The standard library. `dyn`, `bool` and `matches` are implemented elsewhere.
    ("contains", contains),
    ("size", size),
    ("startsWith", scalars),
    ("endsWith", scalars),
    ("string", scalars),
    ("bytes", scalars),
    ("double", scalars),
    ("int", scalars),
    ("uint", scalars),
    ("duration", scalars),
    ("timestamp", scalars),
    ("getFullYear", scalars),
    ("getMonth", scalars),
    ("getDayOfYear", scalars),
    ("getDayOfMonth", scalars),
    ("getDate", scalars),
    ("getDayOfWeek", scalars),
    ("getHours", scalars),
    ("getMinutes", scalars),
    ("getSeconds", scalars),
    ("getMilliseconds", scalars),
    // Optional values.
    ("optional.none", copies),
    ("optional.of", copies),
    ("optional.ofNonZeroValue", copies),
    ("value", optional),
    ("hasValue", optional),
    ("or", optional),
    ("orValue", optional),
    // Strings.
    ("charAt", scalars),
    ("indexOf", index_of),
    ("lastIndexOf", index_of),
    ("lowerAscii", scalars),
    ("upperAscii", scalars),
    ("replace", replace),
    ("split", split),
    ("substring", scalars),
    ("trim", scalars),
    ("join", join),
    ("strings.quote", quote),
    ("format", format),
    ("reverse", copies),
    // Sets.
    ("sets.contains", sets),
    ("sets.equivalent", sets),
    ("sets.intersects", sets),
    // Encoders.
    ("base64.decode", scalars),
    ("base64.encode", scalars),
];

/// Implementations by name. Expressions reach only those that are listed above.
static LIBRARY: LazyLock<Context<'static>> = LazyLock::new(|| Context::default().with_all());

/// Registers the functions. They pay from this budget.
pub(super) fn register(context: &mut Context<'static>, budget: &Arc<Budget>) {
    for &(name, cost) in FUNCTIONS {
        let budget = Arc::clone(budget);
        let function: Function = Box::new(move |call: &mut FunctionContext<'_, '_>| {
            let mut arguments: Vec<Value> = call.this.iter().cloned().collect();
            for argument in call.args {
                arguments.push(Value::resolve(argument, call.ptx)?);
            }
            budget.spend(weights(&arguments))?;
            budget.spend(cost(name, &arguments)?)?;
            run(name, call.this.is_some(), arguments)
        });
        context.add_function::<Function, Function>(name, function);
    }
}

/// Returns whether a function is registered under this name.
pub(super) fn is_registered(name: &str) -> bool {
    FUNCTIONS.iter().any(|(known, _)| *known == name)
}

fn run(name: &str, is_method: bool, values: Vec<Value>) -> Result<Value, ExecutionError> {
    let mut scope = LIBRARY.new_inner_scope();
    let mut arguments = Vec::with_capacity(values.len());
    for (at, value) in values.into_iter().enumerate() {
        let variable = format!("@{at}");
        scope.add_variable_from_value(variable.as_str(), value);
        arguments.push(IdedExpr {
            id: 0,
            expr: Expr::Ident(variable),
        });
    }
    let target = is_method.then(|| Box::new(arguments.remove(0)));
    let call = CallExpr {
        func_name: name.to_owned(),
        target,
        args: arguments,
    };
    scope.resolve(&IdedExpr {
        id: 0,
        expr: Expr::Call(call),
    })
}

fn weights(values: &[Value]) -> u64 {
    values
        .iter()
        .fold(0, |sum: u64, value| sum.saturating_add(weight(value)))
}

/// The cost of a result that is no larger than the arguments.
fn copies(_: &str, values: &[Value]) -> Result<u64, ExecutionError> {
    Ok(weights(values).saturating_mul(2))
}

/// The same for functions of texts, numbers and times. Other values are refused here: the implementations would print them.
fn scalars(name: &str, values: &[Value]) -> Result<u64, ExecutionError> {
    let is_scalar = |value: &Value| !matches!(value, Value::List(_) | Value::Map(_) | Value::Opaque(_));
    if !values.iter().all(is_scalar) {
        return Err(no_overload(name));
    }
    let cost = |value: &Value| match value {
        Value::Bytes(_) => weight(value).saturating_mul(PRINTED),
        value => weight(value).saturating_mul(2),
    };
    Ok(values
        .iter()
        .fold(PRINTED, |sum, value| sum.saturating_add(cost(value))))
}

fn size(name: &str, values: &[Value]) -> Result<u64, ExecutionError> {
    if values.iter().any(|value| matches!(value, Value::Opaque(_))) {
        return Err(no_overload(name));
    }
    copies(name, values)
}

fn optional(_: &str, values: &[Value]) -> Result<u64, ExecutionError> {
    match values {
        [Value::Opaque(_), ..] => copies("", values),
        _ => Err(ExecutionError::NoSuchOverload),
    }
}

fn contains(name: &str, values: &[Value]) -> Result<u64, ExecutionError> {
    match values {
        [Value::List(items), item] => Ok(compared(items, std::slice::from_ref(item))),
        [Value::Bytes(bytes), Value::Bytes(part)] => {
            Ok((bytes.len() as u64).saturating_mul(text_weight(part.len() as u64)))
        }
        [Value::Map(_), key] => scalars(name, std::slice::from_ref(key)),
        _ => scalars(name, values),
    }
}

/// The implementation compares at each position.
fn index_of(name: &str, values: &[Value]) -> Result<u64, ExecutionError> {
    match values {
        [Value::List(items), item, ..] => Ok(compared(items, std::slice::from_ref(item))),
        [Value::String(text), Value::String(part), ..] => {
            let positions = text_weight(text.len() as u64).saturating_mul(4);
            let compared = positions.saturating_mul(text_weight(part.len() as u64));
            Ok(compared.saturating_add(scalars(name, values)?))
        }
        _ => scalars(name, values),
    }
}

fn replace(name: &str, values: &[Value]) -> Result<u64, ExecutionError> {
    let cost = scalars(name, values)?;
    let [
        Value::String(text),
        Value::String(from),
        Value::String(to),
        most @ ..,
    ] = values
    else {
        return Ok(cost);
    };
    let most = match most {
        [Value::Int(most), ..] => usize::try_from(*most).unwrap_or_default(),
        _ => usize::MAX,
    };
    let count = text.matches(from.as_str()).take(most).count() as u64;
    let added = count.saturating_mul(to.len() as u64);
    let result = text_weight(added.saturating_add(text.len() as u64));
    Ok(cost
        .saturating_add(count)
        .saturating_add(result.saturating_mul(2)))
}

fn split(name: &str, values: &[Value]) -> Result<u64, ExecutionError> {
    let cost = scalars(name, values)?;
    let [Value::String(text), Value::String(separator), ..] = values else {
        return Ok(cost);
    };
    let pieces = 1 + text.matches(separator.as_str()).count() as u64;
    Ok(cost.saturating_add(pieces.saturating_mul(4)))
}

/// Only texts are joined: the implementation would print other values.
fn join(_: &str, values: &[Value]) -> Result<u64, ExecutionError> {
    let (items, separator) = match values {
        [Value::List(items)] => (items, 0),
        [Value::List(items), Value::String(separator)] => (items, separator.len() as u64),
        _ => return Err(ExecutionError::NoSuchOverload),
    };
    let mut length = (items.len() as u64).saturating_mul(separator);
    for item in items.iter() {
        let Value::String(text) = item else {
            return Err(ExecutionError::NoSuchOverload);
        };
        length = length.saturating_add(text.len() as u64);
    }
    Ok(text_weight(length).saturating_mul(2))
}

fn quote(name: &str, values: &[Value]) -> Result<u64, ExecutionError> {
    Ok(scalars(name, values)?.saturating_mul(4))
}

/// Each argument is printed once at most. A precision is as many digits.
fn format(_: &str, values: &[Value]) -> Result<u64, ExecutionError> {
    let [Value::String(text), Value::List(arguments)] = values else {
        return Err(ExecutionError::NoSuchOverload);
    };
    let digits = text.split('.').skip(1).map(|part| {
        let digits = part.bytes().take_while(u8::is_ascii_digit);
        digits.fold(0, |number: u64, digit| {
            number.saturating_mul(10).saturating_add(u64::from(digit - b'0'))
        })
    });
    let printed = weights(arguments).saturating_mul(PRINTED);
    Ok(digits.fold(printed, u64::saturating_add))
}

fn sets(_: &str, values: &[Value]) -> Result<u64, ExecutionError> {
    match values {
        [Value::List(a), Value::List(b)] => Ok(compared(a, b).saturating_mul(2)),
        _ => Err(ExecutionError::NoSuchOverload),
    }
}

/// The cost of comparing each value with each other one.
fn compared(a: &[Value], b: &[Value]) -> u64 {
    let one = (a.len() as u64).saturating_mul(weights(b));
    let other = (b.len() as u64).saturating_mul(weights(a));
    one.saturating_add(other)
}

fn no_overload(name: &str) -> ExecutionError {
    ExecutionError::function_error(name, "no such overload")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_function_has_an_implementation() {
        for (name, _) in FUNCTIONS {
            let called = run(name, false, Vec::new());
            let is_missing = matches!(called, Err(ExecutionError::UndeclaredReference(_)));
            assert!(!is_missing, "{name}");
        }
    }
}
