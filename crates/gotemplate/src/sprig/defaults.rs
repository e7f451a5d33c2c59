//! Defaults and choices.

use super::ANY;
use super::cast::is_empty;
use crate::error::Error;
use crate::function::{Function, Functions};
use crate::value::{Type, Value};

pub(super) fn add(functions: &mut Functions) {
    functions
        .insert(
            "default",
            Function::variadic(&[ANY], ANY, |call| {
                Ok(call
                    .args()
                    .get(1)
                    .filter(|given| !is_empty(given))
                    .unwrap_or(call.arg(0))
                    .clone())
            }),
        )
        .insert(
            "empty",
            Function::new(&[ANY], |call| Ok(Value::Bool(is_empty(call.arg(0))))),
        )
        .insert(
            "coalesce",
            Function::variadic(&[], ANY, |call| {
                Ok(call
                    .args()
                    .iter()
                    .find(|value| !is_empty(value))
                    .cloned()
                    .unwrap_or(Value::Nil))
            }),
        )
        .insert(
            "all",
            Function::variadic(&[], ANY, |call| {
                Ok(Value::Bool(!call.args().iter().any(is_empty)))
            }),
        )
        .insert(
            "any",
            Function::variadic(&[], ANY, |call| {
                Ok(Value::Bool(!call.args().iter().all(is_empty)))
            }),
        )
        .insert(
            "ternary",
            Function::new(&[ANY, ANY, Type::Bool], |call| {
                Ok(call.arg(usize::from(!call.bool(2))).clone())
            }),
        )
        .insert(
            "fail",
            Function::new(&[Type::String], |call| Err(Error::new(call.str(0)))),
        );
}
