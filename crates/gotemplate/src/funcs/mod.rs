//! The functions that are part of the language.

pub(crate) mod compare;
mod escape;
mod index;

use crate::error::Error;
use crate::function::{Call, Function, Functions, Special};
use crate::print;
use crate::value::{List, Type, Value};

/// Adds them all.
pub(crate) fn add(functions: &mut Functions) {
    const ONE: &[Type] = &[Type::Reflect];
    const TWO: &[Type] = &[Type::Reflect, Type::Reflect];
    functions
        .insert("and", Function::special(Special::And))
        .insert("or", Function::special(Special::Or))
        .insert("call", Function::special(Special::Call))
        .insert(
            "not",
            Function::new(ONE, |call| Ok(Value::Bool(!call.arg(0).truth()))),
        )
        .insert("len", Function::new(ONE, |call| index::length(call.arg(0))))
        .insert(
            "index",
            Function::variadic(ONE, Type::Reflect, |call| {
                let item = index::index(call.args())?;
                // Objects may give copies of what they have.
                if let Value::Object(_) = call.arg(0) {
                    call.session.charge(item.text_size())?;
                }
                Ok(item)
            }),
        )
        .insert(
            "slice",
            Function::variadic(ONE, Type::Reflect, |call| {
                let part = index::slice(call.args())?;
                let size = match &part {
                    Value::List(list) => List::size(list.len()),
                    text => text.text_size(),
                };
                call.session.charge(size)?;
                Ok(part)
            }),
        )
        .insert(
            "eq",
            Function::variadic(ONE, Type::Reflect, |call| compare::equal(call.args())),
        )
        .insert("ne", Function::new(TWO, |call| compare::not_equal(call.args())))
        .insert("lt", Function::new(TWO, |call| compare::less(call.args())))
        .insert(
            "le",
            Function::new(TWO, |call| compare::less_or_equal(call.args())),
        )
        .insert("gt", Function::new(TWO, |call| compare::greater(call.args())))
        .insert(
            "ge",
            Function::new(TWO, |call| compare::greater_or_equal(call.args())),
        )
        .insert(
            "print",
            Function::variadic(&[], Type::Any, printed(print::sprint)),
        )
        .insert(
            "println",
            Function::variadic(&[], Type::Any, printed(print::sprintln)),
        )
        .insert("printf", Function::variadic(&[Type::String], Type::Any, printf))
        .insert("html", Function::variadic(&[], Type::Any, escaped(escape::html)))
        .insert("js", Function::variadic(&[], Type::Any, escaped(escape::js)))
        .insert(
            "urlquery",
            Function::variadic(&[], Type::Any, escaped(escape::url_query)),
        );
}

fn printed(
    print: fn(&[Value], usize) -> Result<Vec<u8>, Error>,
) -> impl Fn(&mut Call<'_, '_>) -> Result<Value, Error> {
    move |call| {
        let text = print(call.args(), call.session.memory_left())?;
        call.session.charge(text.len())?;
        Ok(Value::string_of_vec(text))
    }
}

fn printf(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let text = print::sprintf(call.bytes(0), &call.args()[1..], call.session.memory_left())?;
    call.session.charge(text.len())?;
    Ok(Value::string_of_vec(text))
}

/// Escapes a single string, or what `print` makes of all arguments.
fn escaped(escape: fn(&[u8]) -> Vec<u8>) -> impl Fn(&mut Call<'_, '_>) -> Result<Value, Error> {
    move |call| {
        let text = match call.args() {
            [single @ (Value::Str(_) | Value::Raw(_))] => escape(single.as_bytes().unwrap_or_default()),
            args => {
                let shown = |arg: &Value| match arg.is_nothing() {
                    true => Value::str(arcstr::literal!("<no value>")),
                    false => arg.clone(),
                };
                let args: Vec<Value> = args.iter().map(shown).collect();
                escape(&print::sprint(&args, call.session.memory_left())?)
            }
        };
        call.session.charge(text.len())?;
        Ok(Value::string_of_vec(text))
    }
}
