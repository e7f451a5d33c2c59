//! Types and kinds.

use super::{ANY, STR};
use crate::function::{Function, Functions};
use crate::value::Value;

pub(super) fn add(functions: &mut Functions) {
    functions
        .insert(
            "typeOf",
            Function::new(&[ANY], |call| Ok(Value::str(type_of(call.arg(0))))),
        )
        .insert(
            "typeIs",
            Function::new(&[STR, ANY], |call| {
                Ok(Value::Bool(call.str(0) == type_of(call.arg(1))))
            }),
        )
        .insert(
            "typeIsLike",
            Function::new(&[STR, ANY], |call| {
                let is = type_of(call.arg(1));
                Ok(Value::Bool(
                    call.str(0) == is || is.strip_prefix('*') == Some(&call.str(0)),
                ))
            }),
        )
        .insert(
            "kindOf",
            Function::new(&[ANY], |call| Ok(Value::str(kind_of(call.arg(0))))),
        )
        .insert(
            "kindIs",
            Function::new(&[STR, ANY], |call| {
                Ok(Value::Bool(call.str(0) == kind_of(call.arg(1))))
            }),
        )
        .insert(
            "deepEqual",
            Function::new(&[ANY, ANY], |call| {
                let is_equal = call.arg(0).deep_equals(call.arg(1), call.session)?;
                Ok(Value::Bool(is_equal))
            }),
        );
}

fn type_of(value: &Value) -> String {
    match value.is_nothing() {
        true => "<nil>".to_owned(),
        false => value.type_name().into_owned(),
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value.is_nothing() {
        true => "invalid",
        false => value.kind().name(),
    }
}
