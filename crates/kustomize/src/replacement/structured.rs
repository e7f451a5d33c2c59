//! Replacements inside of texts that are JSON or YAML themselves.

use model::Value;
use yaml::node::Node;

use super::text::{self, Body, Document, Item};
use crate::convert;
use crate::field::{Created, Writes, lookup_mut, select};

/// Sets a field inside of a text as a whole, whatever delimiter the target has; `false` where the path does not lead into
/// one.
pub(super) fn set(object: &mut Node, value: &Node, path: &[String], created: Created) -> bool {
    for split in 1..path.len() {
        let Ok(Some(field)) = lookup_mut(object, &path[..split]) else {
            continue;
        };
        let Node::Scalar(scalar) = field else {
            continue;
        };
        let Ok(document) = text::read(&scalar.text) else {
            continue;
        };
        let changed =
            document.and_then(|document| changed(&scalar.text, document, value, &path[split..], created));
        let Some(text) = changed else {
            return false;
        };
        scalar.set_text(text);
        let mut writes = Writes::default();
        writes.note(scalar);
        writes.spread(object);
        return true;
    }
    false
}

fn changed(
    text: &str,
    mut document: Document,
    value: &Node,
    path: &[String],
    created: Created,
) -> Option<String> {
    let count = select(&mut document.root, path, created, &mut |field: &mut Item| {
        match &mut field.body {
            Body::Scalar(scalar) => value.raw_text().clone_into(&mut scalar.text),
            _ => field.become_value(value),
        }
        Ok(())
    });
    if count.ok()? == 0 {
        return None;
    }
    let written = text::write(&document);
    if !text.trim_start().starts_with(['{', '[']) {
        return Some(written.trim().to_owned());
    }
    let read = yaml::node::read(&written).ok()??;
    let value = convert::to_value(&read.node).ok()?;
    if text.contains('\n') && text.contains("  ") {
        return Some(indented(&value));
    }
    Some(go_json(&value))
}

/// JSON as Go writes it: with `<`, `>` and `&` escaped.
fn go_json(value: &Value) -> String {
    let text = model::json::to_string(value);
    text.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
}

fn indented(value: &Value) -> String {
    let mut out = String::new();
    indent(value, 0, &mut out);
    out
}

fn indent(value: &Value, level: usize, out: &mut String) {
    let line = |level: usize, out: &mut String| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", level));
    };
    match value {
        Value::Array(items) if !items.is_empty() => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                line(level + 1, out);
                indent(item, level + 1, out);
            }
            line(level, out);
            out.push(']');
        }
        Value::Object(map) if !map.is_empty() => {
            out.push('{');
            for (index, (key, value)) in map.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                line(level + 1, out);
                out.push_str(&go_json(&Value::str(key)));
                out.push_str(": ");
                indent(value, level + 1, out);
            }
            line(level, out);
            out.push('}');
        }
        other => out.push_str(&go_json(other)),
    }
}
