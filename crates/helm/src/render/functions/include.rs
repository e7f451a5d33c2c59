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
    call.session.charge(text.len() + size_when_parsed(&text))?;
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

/// What a byte of an action takes once it is parsed, outside of texts in quotes.
const PARSED: usize = 32;

/// An upper bound of the bytes that the actions of a text take once they are parsed.
pub(in crate::render) fn size_when_parsed(text: &str) -> usize {
    let mut size = 0;
    let mut rest = text;
    while let Some((_, action)) = rest.split_once("{{") {
        let (of_action, after) = size_of_action(action);
        size += of_action;
        rest = after;
    }
    size
}

/// The same of the action at the beginning of a text, and what follows it.
fn size_of_action(text: &str) -> (usize, &str) {
    let bytes = text.as_bytes();
    let (mut size, mut at) = (PARSED * 4, 0);
    while at < bytes.len() && !bytes[at..].starts_with(b"}}") {
        let quoted = match bytes[at] {
            quote @ (b'"' | b'\'' | b'`') => length_of_quoted(&bytes[at..], quote),
            b'/' if bytes[at..].starts_with(b"/*") => text[at..].find("*/").unwrap_or(bytes.len() - at),
            _ => 0,
        };
        size += PARSED + quoted;
        at += quoted.max(1);
    }
    (size, text.get(at..).unwrap_or_default())
}

/// The length of a text in quotes, with the quotes.
fn length_of_quoted(bytes: &[u8], quote: u8) -> usize {
    let mut is_escaped = false;
    for (at, byte) in bytes.iter().enumerate().skip(1) {
        if is_escaped {
            is_escaped = false;
        } else if *byte == b'\\' && quote != b'`' {
            is_escaped = true;
        } else if *byte == quote {
            return at + 1;
        }
    }
    bytes.len()
}

/// Helm takes out what Go prints for missing values.
pub(in crate::render) fn without_no_value(text: &str) -> String {
    text.replace(NO_VALUE, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_in_quotes_count_as_what_they_are_and_actions_as_more() {
        assert_eq!(size_when_parsed(&"x".repeat(100_000)), 0);
        let quoted = format!("{{{{ `{}` }}}}", "}} ".repeat(1_000));
        assert!((3_000..4_000).contains(&size_when_parsed(&quoted)));
        let escaped = format!("{{{{ \"{}\" }}}}", "\\\"}}".repeat(1_000));
        assert!((4_000..5_000).contains(&size_when_parsed(&escaped)));
        assert!(size_when_parsed(&"{{ . }}".repeat(1_000)) > 200_000);
        assert!(size_when_parsed(&format!("{{{{ list{} }}}}", " 1".repeat(1_000))) > 60_000);
        for unfinished in ["{{", "{{ \"é", "{{ `", "{{/* é", "{{ 'é\\"] {
            assert!(size_when_parsed(unfinished) > 0, "{unfinished}");
        }
    }
}
