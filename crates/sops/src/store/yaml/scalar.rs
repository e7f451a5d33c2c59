//! Which of YAML's ways to write a scalar go-yaml v3 chooses.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
pub(super) use yaml::go::is_break;
use yaml::go::{Analysis, Tabs, escape, is_base60, is_printable};
use yaml::node::Kind;

use crate::number;
use crate::tree::Value;

/// A scalar that is ready to be written.
pub(super) struct Written {
    pub(super) tag: Option<&'static str>,
    pub(super) text: String,
    pub(super) style: Style,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    Literal,
}

/// How a value is written that is neither a list nor a map.
pub(super) fn of(value: &Value) -> Written {
    let plain = |text: String| Written {
        tag: None,
        text,
        style: Style::Plain,
    };
    match value {
        Value::Null | Value::List(_) | Value::Map(_) => plain("null".to_owned()),
        Value::Bool(flag) => plain(flag.to_string()),
        Value::Int(number) => plain(number.to_string()),
        Value::Float(number) if number.is_nan() => plain(".nan".to_owned()),
        Value::Float(number) if number.is_infinite() => {
            plain(if *number > 0.0 { ".inf" } else { "-.inf" }.to_owned())
        }
        Value::Float(float) => plain(number::shortest(*float, 'e')),
        Value::Time(text) => plain(text.clone()),
        Value::Text(bytes) | Value::Bytes(bytes) => text(bytes),
        Value::Comment(comment) => text(&comment.text),
    }
}

/// How a string is written. What is no UTF-8 is written as base64, with a tag. The key that merges maps has its own tag,
/// also where it is no key.
pub(super) fn text(bytes: &[u8]) -> Written {
    match std::str::from_utf8(bytes) {
        Ok(text @ "<<") => Written {
            tag: Some("!!merge"),
            text: text.to_owned(),
            style: Style::Plain,
        },
        Ok(text) => Written {
            tag: None,
            text: text.to_owned(),
            style: style(text),
        },
        Err(_) => binary(bytes),
    }
}

/// go-yaml folds base64 at 70 characters, and ends it with a break once it has more than one line.
fn binary(bytes: &[u8]) -> Written {
    const WIDTH: usize = 70;
    let encoded = STANDARD.encode(bytes);
    let mut text = String::new();
    for (index, character) in encoded.chars().enumerate() {
        if index > 0 && index % WIDTH == 0 {
            text.push('\n');
        }
        text.push(character);
    }
    let folded = encoded.len() > WIDTH;
    if folded {
        text.push('\n');
    }
    Written {
        tag: Some("!!binary"),
        text,
        style: if folded { Style::Literal } else { Style::Plain },
    }
}

fn style(text: &str) -> Style {
    let found = Analysis::of(text, Tabs::InBlocks);
    let wanted = if text.contains('\n') {
        Style::Literal
    } else if Kind::of(text).is_str() && !is_base60(text) && !is_old_bool(text) && !is_odd_number(text) {
        Style::Plain
    } else {
        Style::DoubleQuoted
    };
    match wanted {
        Style::Literal if found.block_allowed => Style::Literal,
        Style::Plain if found.plain_allowed => Style::Plain,
        Style::Plain if found.single_quoted_allowed => Style::SingleQuoted,
        _ => Style::DoubleQuoted,
    }
}

/// What go-yaml takes for something else than a string beside what it takes for a number.
fn is_odd_number(text: &str) -> bool {
    let plain = text.replace('_', "");
    let digits = plain.strip_prefix('-').unwrap_or(&plain);
    let radix = |prefix: &str, radix: u32| {
        digits
            .strip_prefix(prefix)
            .is_some_and(|digits| i64::from_str_radix(digits, radix).is_ok())
    };
    radix("0o", 8) || radix("0b", 2)
}

/// Words that were booleans once.
fn is_old_bool(text: &str) -> bool {
    matches!(
        text,
        "y" | "Y"
            | "yes"
            | "Yes"
            | "YES"
            | "on"
            | "On"
            | "ON"
            | "n"
            | "N"
            | "no"
            | "No"
            | "NO"
            | "off"
            | "Off"
            | "OFF"
    )
}

/// The content of a string in double quotes.
pub(super) fn escaped(text: &str) -> String {
    // A byte order mark at the start makes go-yaml take every character for one.
    let marked = text.starts_with('\u{feff}');
    let mut out = String::new();
    for character in text.chars() {
        let plain =
            !marked && is_printable(character) && !is_break(character) && !matches!(character, '"' | '\\');
        match plain {
            true => out.push(character),
            false => escape(character, &mut out),
        }
    }
    out
}
