//! Values as Go prints them with `%#v`, for the errors that show one.

use std::fmt::Write;

use model::Value;
use model::quote::quote;

/// `map[interface {}]interface {}{"a":1}`: what a template that was not rendered makes people see.
pub(crate) fn show(value: &Value) -> String {
    let mut out = String::new();
    append(value, &mut out);
    out
}

fn append(value: &Value, out: &mut String) {
    let written = match value {
        Value::Null => out.write_str("interface {}(nil)"),
        Value::Bool(flag) => write!(out, "{flag}"),
        Value::Int(number) => write!(out, "{number}"),
        Value::Float(number) => write!(out, "{number}"),
        Value::Str(text) => out.write_str(&quote(text)),
        Value::Array(items) => {
            out.push_str("[]interface {}{");
            for (nth, item) in items.iter().enumerate() {
                out.push_str(if nth > 0 { ", " } else { "" });
                append(item, out);
            }
            out.write_str("}")
        }
        Value::Object(map) => {
            out.push_str("map[interface {}]interface {}{");
            for (nth, (key, value)) in map.iter().enumerate() {
                out.push_str(if nth > 0 { ", " } else { "" });
                out.push_str(&quote(key));
                out.push(':');
                append(value, out);
            }
            out.write_str("}")
        }
    };
    written.expect("a String takes all");
}
