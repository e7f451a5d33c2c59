//! Writing TOML: keys with plain values first, then tables, each level indented by two spaces.

use gotemplate::{ArcStr, Kind, Value};

use super::super::yaml::Unwritten;

const MAX_DEPTH: usize = 200;
const NIL_ELEMENT: &str = "toml: cannot encode array with nil element";
const NO_KEY: &str = "toml: top-level values must be Go maps or structs";

/// Writes a document, of at most `room` bytes.
pub(super) fn document(value: &Value, room: usize, text: &mut String) -> Result<(), Unwritten> {
    let mut out = Out { text, room };
    match entries(value) {
        Some(entries) => table(&entries, &mut Vec::new(), &mut out)?,
        None if is_table_list(value)? => return Err(NO_KEY.to_owned().into()),
        None if value.is_nothing() => {}
        None => element(value, 0, &mut out)?,
    }
    Ok(())
}

/// What is written, and how long it may get.
struct Out<'t> {
    text: &'t mut String,
    room: usize,
}

impl Out<'_> {
    /// Checks that there is room for so many more bytes of text, which may get longer in quotes.
    fn fits(&self, more: usize) -> Result<(), Unwritten> {
        match self.text.len().saturating_add(more.saturating_mul(QUOTED)) > self.room {
            true => Err(Unwritten::TooMuch),
            false => Ok(()),
        }
    }
}

/// What a byte of a text becomes in quotes at most.
const QUOTED: usize = 6;

/// The entries of what TOML has as a table.
fn entries(value: &Value) -> Option<Vec<(ArcStr, Value)>> {
    match value {
        Value::Map(map) if !map.is_nil() => Some(map.entries()),
        Value::Object(object) if matches!(object.kind(), Kind::Map | Kind::Struct | Kind::Pointer) => {
            Some(object.fields())
        }
        _ => None,
    }
}

fn is_nil(value: &Value) -> bool {
    match value {
        Value::Map(map) => map.is_nil(),
        Value::List(list) => list.is_nil(),
        other => other.is_nothing(),
    }
}

/// Whether a value is a list of tables only, which is written as several tables.
fn is_table_list(value: &Value) -> Result<bool, String> {
    let Some(items) = value.items() else {
        return Ok(false);
    };
    if items.iter().any(is_nil) {
        return Err(NIL_ELEMENT.to_owned());
    }
    Ok(!items.is_empty() && items.iter().all(|item| entries(item).is_some()))
}

fn table(map: &[(ArcStr, Value)], path: &mut Vec<ArcStr>, out: &mut Out<'_>) -> Result<(), Unwritten> {
    if path.len() > MAX_DEPTH {
        return Err("toml: tables are nested too deep".to_owned().into());
    }
    let mut below = Vec::new();
    for (key, value) in map {
        if is_nil(value) {
            continue;
        }
        if entries(value).is_some() || is_table_list(value)? {
            below.push((key, value));
            continue;
        }
        out.fits(path.len() + key.len())?;
        indent(path.len(), out);
        out.text.push_str(&quoted_key(key));
        out.text.push_str(" = ");
        element(value, 0, out)?;
        out.text.push('\n');
    }
    for (key, value) in below {
        path.push(key.clone());
        // The names of all tables around it are written with it.
        let names: usize = path.iter().map(|key| key.len() + 3).sum();
        out.fits(names)?;
        let name: Vec<String> = path.iter().map(|key| quoted_key(key)).collect();
        let name = name.join(".");
        if let Some(entries) = entries(value) {
            if path.len() == 1 {
                line(out);
            }
            indent(path.len() - 1, out);
            out.text.push_str(&format!("[{name}]\n"));
            table(&entries, path, out)?;
        } else {
            for item in value.items().unwrap_or_default().iter() {
                out.fits(names)?;
                line(out);
                indent(path.len() - 1, out);
                out.text.push_str(&format!("[[{name}]]\n"));
                table(&entries(item).unwrap_or_default(), path, out)?;
            }
        }
        path.pop();
    }
    Ok(())
}

/// An empty line, but not at the beginning.
fn line(out: &mut Out<'_>) {
    if !out.text.is_empty() {
        out.text.push('\n');
    }
}

fn indent(depth: usize, out: &mut Out<'_>) {
    for _ in 0..depth {
        out.text.push_str("  ");
    }
}

fn element(value: &Value, depth: usize, out: &mut Out<'_>) -> Result<(), Unwritten> {
    if depth > MAX_DEPTH {
        return Err("toml: values are nested too deep".to_owned().into());
    }
    out.fits(value.as_bytes().map_or(8, <[u8]>::len))?;
    match value {
        Value::Bool(flag) => out.text.push_str(if *flag { "true" } else { "false" }),
        Value::Int(_, number) => out.text.push_str(&number.to_string()),
        Value::Float(number) => out.text.push_str(&float(*number)),
        Value::Str(text) => quoted(text, out.text),
        Value::Raw(bytes) => quoted(&String::from_utf8_lossy(bytes), out.text),
        other => {
            if let Some(items) = other.items() {
                out.text.push('[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.text.push_str(", ");
                    }
                    element(item, depth + 1, out)?;
                }
                out.text.push(']');
            } else if let Some(entries) = entries(other) {
                inline(&entries, depth, out)?;
            } else {
                return Err(format!("unexpected type: {}", other.type_name()).into());
            }
        }
    }
    Ok(())
}

/// `{a = 1, b = 2}`, again with plain values first.
fn inline(map: &[(ArcStr, Value)], depth: usize, out: &mut Out<'_>) -> Result<(), Unwritten> {
    out.text.push('{');
    let mut sorted: Vec<(bool, &ArcStr, &Value)> = Vec::new();
    for (key, value) in map.iter().filter(|(_, value)| !is_nil(value)) {
        let is_below = entries(value).is_some() || is_table_list(value)?;
        sorted.push((is_below, key, value));
    }
    sorted.sort_by_key(|(is_below, _, _)| *is_below);
    for (at, (_, key, value)) in sorted.into_iter().enumerate() {
        if at > 0 {
            out.text.push_str(", ");
        }
        out.fits(key.len())?;
        out.text.push_str(&quoted_key(key));
        out.text.push_str(" = ");
        element(value, depth + 1, out)?;
    }
    out.text.push('}');
    Ok(())
}

fn float(number: f64) -> String {
    if number.is_nan() {
        return "nan".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let text = yaml::go::float(number);
    if text.contains(['e', '.']) {
        text
    } else {
        text + ".0"
    }
}

fn quoted_key(key: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !key.is_empty() && key.chars().all(is_bare) {
        return key.to_owned();
    }
    let mut out = String::new();
    quoted(key, &mut out);
    out
}

fn quoted(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            '\0'..='\u{1f}' | '\u{7f}' => out.push_str(&format!("\\u{:04x}", u32::from(character))),
            other => out.push(other),
        }
    }
    out.push('"');
}
