//! Values in the words of Go's formatter, because messages of the API server show them so.

use std::fmt::{self, Write};

use model::Value;

/// A string as Go's `%q` prints it.
pub(crate) struct Quoted<'a>(pub(crate) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_char('"')?;
        for char in self.0.chars() {
            match char {
                '"' => out.write_str("\\\"")?,
                '\\' => out.write_str("\\\\")?,
                '\u{7}' => out.write_str("\\a")?,
                '\u{8}' => out.write_str("\\b")?,
                '\u{c}' => out.write_str("\\f")?,
                '\n' => out.write_str("\\n")?,
                '\r' => out.write_str("\\r")?,
                '\t' => out.write_str("\\t")?,
                '\u{b}' => out.write_str("\\v")?,
                ' '..='~' => out.write_char(char)?,
                '\0'..='\u{7f}' => write!(out, "\\x{:02x}", char as u32)?,
                _ if is_printable(char) => out.write_char(char)?,
                '\u{80}'..='\u{ffff}' => write!(out, "\\u{:04x}", char as u32)?,
                _ => write!(out, "\\U{:08x}", char as u32)?,
            }
        }
        out.write_char('"')
    }
}

/// What `{:?}` of Rust does not escape is what Unicode calls printable, but for spaces, which Go escapes as well.
fn is_printable(char: char) -> bool {
    !char.is_whitespace() && char.escape_debug().count() == 1
}

/// A number as Go's `%v` prints a `float64`.
pub(crate) struct Number(pub(crate) f64);

impl fmt::Display for Number {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.0.abs();
        if size == 0.0 || (1e-4..1e21).contains(&size) {
            return write!(out, "{}", self.0);
        }
        let text = format!("{:e}", self.0);
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let exponent: i32 = exponent.parse().unwrap_or_default();
        let sign = if exponent < 0 { '-' } else { '+' };
        write!(out, "{mantissa}e{sign}{:02}", exponent.abs())
    }
}

/// A value as it is shown in a path: `[name="nginx"]`.
pub(crate) struct InPath<'a>(pub(crate) &'a Value);

impl fmt::Display for InPath<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Null => out.write_str("null"),
            Value::Bool(flag) => write!(out, "{flag}"),
            Value::Int(number) => write!(out, "{number}"),
            Value::Float(number) => write!(out, "{}", Number(*number)),
            Value::Str(text) => write!(out, "{}", Quoted(text)),
            Value::Array(items) => {
                out.write_char('[')?;
                separated(out, items.iter(), ",", |out, item| {
                    write!(out, "{}", InPath(item))
                })?;
                out.write_char(']')
            }
            Value::Object(map) => map
                .iter()
                .try_for_each(|(key, value)| write!(out, "{key}={}", InPath(value))),
        }
    }
}

/// A value as Go's `%v` prints what holds it: `&{5}`, `&{map[a:b]}`.
pub(crate) struct Plain<'a>(pub(crate) &'a Value);

impl fmt::Display for Plain<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("&{")?;
        plain(out, self.0)?;
        out.write_char('}')
    }
}

fn plain(out: &mut fmt::Formatter<'_>, value: &Value) -> fmt::Result {
    match value {
        Value::Null => out.write_str("<nil>"),
        Value::Bool(flag) => write!(out, "{flag}"),
        Value::Int(number) => write!(out, "{number}"),
        Value::Float(number) => write!(out, "{}", Number(*number)),
        Value::Str(text) => out.write_str(text),
        Value::Array(items) => {
            out.write_char('[')?;
            separated(out, items.iter(), " ", plain)?;
            out.write_char(']')
        }
        Value::Object(map) => {
            out.write_str("map[")?;
            separated(out, map.iter(), " ", |out, (key, value)| {
                write!(out, "{key}:")?;
                plain(out, value)
            })?;
            out.write_char(']')
        }
    }
}

/// A value as Go's `%#v` prints what holds it: `&value.valueUnstructured{Value:5}`.
pub(crate) struct Syntax<'a>(pub(crate) &'a Value);

impl fmt::Display for Syntax<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("&value.valueUnstructured{Value:")?;
        syntax(out, self.0)?;
        out.write_char('}')
    }
}

fn syntax(out: &mut fmt::Formatter<'_>, value: &Value) -> fmt::Result {
    match value {
        Value::Null => out.write_str("interface {}(nil)"),
        Value::Bool(flag) => write!(out, "{flag}"),
        Value::Int(number) => write!(out, "{number}"),
        Value::Float(number) => write!(out, "{}", Number(*number)),
        Value::Str(text) => write!(out, "{}", Quoted(text)),
        Value::Array(items) => {
            out.write_str("[]interface {}{")?;
            separated(out, items.iter(), ", ", syntax)?;
            out.write_char('}')
        }
        Value::Object(map) => {
            out.write_str("map[string]interface {}{")?;
            separated(out, map.iter(), ", ", |out, (key, value)| {
                write!(out, "{}:", Quoted(key))?;
                syntax(out, value)
            })?;
            out.write_char('}')
        }
    }
}

/// The name of the Go type that holds a value (`%T`).
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int64",
        Value::Float(_) => "float64",
        Value::Str(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

fn separated<T>(
    out: &mut fmt::Formatter<'_>,
    items: impl Iterator<Item = T>,
    separator: &str,
    mut write: impl FnMut(&mut fmt::Formatter<'_>, T) -> fmt::Result,
) -> fmt::Result {
    for (at, item) in items.enumerate() {
        if at > 0 {
            out.write_str(separator)?;
        }
        write(out, item)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::value;

    #[test]
    fn strings_are_quoted_as_go_quotes_them() {
        let quoted = Quoted("a\"b\\\n\u{1}\u{7f}é\u{200b}\u{1f600}\u{a0}").to_string();
        assert_eq!(quoted, r#""a\"b\\\n\x01\x7fé\u200b😀\u00a0""#);
    }

    #[test]
    fn large_and_tiny_numbers_have_an_exponent() {
        let texts: Vec<_> = [1e20, 1e21, 2.5e-7, 0.5, -0.00001]
            .map(|n| Number(n).to_string())
            .into();
        assert_eq!(
            texts,
            ["100000000000000000000", "1e+21", "2.5e-07", "0.5", "-1e-05"]
        );
    }

    #[test]
    fn containers_show_what_they_hold() {
        let value = value!({ "a": [1, "x", null], "b": true });
        assert_eq!(Plain(&value).to_string(), "&{map[a:[1 x <nil>] b:true]}");
        let syntax = r#"&value.valueUnstructured{Value:map[string]interface {}{"a":[]interface {}{1, "x", interface {}(nil)}, "b":true}}"#;
        assert_eq!(Syntax(&value).to_string(), syntax);
        assert_eq!(InPath(&value!(["a", 1])).to_string(), r#"["a",1]"#);
    }
}
