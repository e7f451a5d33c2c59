//! `required` and `fail`.

use gotemplate::{Call, Error, Function, Functions, Type, Value};

use super::Host;

/// The signs around messages that go to the user without the way they came.
pub(in crate::render) const BEGIN: &str = "HELM_ERR_START";
/// Where such a message ends.
pub(in crate::render) const END: &str = "HELM_ERR_END";

pub(super) fn add(functions: &mut Functions) {
    functions.insert("required", Function::new(&[Type::String, Type::Any], required));
    functions.insert("fail", Function::new(&[Type::String], fail));
}

fn required(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let value = call.arg(1);
    let is_missing = value.is_nothing() || matches!(value, Value::Str(text) if text.is_empty());
    if !is_missing {
        return Ok(value.clone());
    }
    let text = call.str(0).into_owned();
    remark_or_fail(call, "missing required value", &text)
}

fn fail(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let text = call.str(0).into_owned();
    remark_or_fail(call, "fail", &text)
}

fn remark_or_fail(call: &mut Call<'_, '_>, what: &str, text: &str) -> Result<Value, Error> {
    match call.session.host::<Host>() {
        Some(host) if host.lint => {
            host.remarks.borrow_mut().push(format!("{what}: {text}"));
            Ok(Value::str(""))
        }
        _ => Err(format!("{BEGIN}{text}{END}").into()),
    }
}
