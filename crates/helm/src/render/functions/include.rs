//! `include` and `tpl`.

use std::sync::Arc;

use gotemplate::{Call, Error, Function, Functions, Templates, Type, Value};
use model::quote::quote;

use super::Host;

/// How often a template may be inside of itself.
const MAX_RECURSION: u32 = 1000;
/// The name of all texts that are given to `tpl`.
const TPL: &str = "gotpl";
/// What Go prints where there is no value.
const NO_VALUE: &str = "<no value>";

pub(super) fn add(functions: &mut Functions) {
    functions.insert("include", Function::new(&[Type::String, Type::Any], include));
    functions.insert("tpl", Function::new(&[Type::String, Type::Any], tpl));
}

fn include(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let name = call.str(0).into_owned();
    let Some(host) = call.session.host::<Host>() else {
        return Err("include: there are no templates".into());
    };
    {
        let mut included = host.included.borrow_mut();
        let depth = included.entry(name.clone()).or_default();
        if *depth > MAX_RECURSION {
            return Err(Error::limit(format!(
                "rendering template has a nested reference name: {name}: unable to execute template"
            )));
        }
        *depth += 1;
    }
    let data = call.arg(1).clone();
    let rendered = call.render(&name, &data);
    if let Some(depth) = host.included.borrow_mut().get_mut(&name) {
        *depth -= 1;
    }
    Ok(Value::string_of_vec(rendered?))
}

fn tpl(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let text = call.str(0);
    let Some(host) = call.session.host::<Host>() else {
        return Err("tpl: there are no templates".into());
    };
    // Most texts are no templates at all.
    if !text.contains("{{") {
        return Ok(match text.contains(NO_VALUE) {
            true => Value::str(without_no_value(&text)),
            false => call.arg(0).clone(),
        });
    }
    let known = call.templates();
    let known = match std::ptr::eq(known, Arc::as_ptr(&host.templates)) {
        true => Arc::clone(&host.templates),
        false => Arc::new(known.clone()),
    };
    let mut templates: Templates = known.child();
    call.session.charge(text.len())?;
    templates
        .parse(TPL, &text)
        .map_err(|error| Error::new(format!("cannot parse template {}: {error}", quote(&text))))?;
    let data = call.arg(1);
    let rendered = templates.execute(TPL, data, call.session).map_err(|error| {
        let message = format!(
            "error during tpl function execution for {}: {error}",
            quote(&text)
        );
        match error.kind() {
            gotemplate::ErrorKind::Limit => Error::limit(message),
            _ => Error::new(message),
        }
    })?;
    Ok(match String::from_utf8(rendered) {
        Ok(text) if text.contains(NO_VALUE) => Value::str(without_no_value(&text)),
        Ok(text) => Value::str(text),
        Err(error) => Value::string_of_vec(error.into_bytes()),
    })
}

/// Helm takes out what Go prints for missing values.
pub(in crate::render) fn without_no_value(text: &str) -> String {
    text.replace(NO_VALUE, "")
}
