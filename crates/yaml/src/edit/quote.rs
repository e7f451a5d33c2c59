//! Writing a value in place of another one.

use super::{Refused, Scalar, Style};
use crate::go::{scalar::escape, style};
use crate::node::Kind;

/// What is written instead of a scalar.
pub(super) fn written(text: &str, scalar: &Scalar<'_>, value: &str) -> Result<String, Refused> {
    let line = scalar.line;
    Ok(match scalar.style {
        Style::Block => return Err(Refused::Block { line }),
        Style::Tagged => return Err(Refused::Tagged { line }),
        Style::Plain => plain(scalar, value),
        Style::SingleQuoted if fits_single_quotes(value) => format!("'{}'", value.replace('\'', "''")),
        Style::SingleQuoted | Style::DoubleQuoted => double_quoted(value),
        Style::Empty => {
            let before = &text[..scalar.range.start];
            let written = plain(scalar, value);
            // Where there is nothing, a value may follow a colon, a dash or an anchor, with a blank between.
            match before.bytes().next_back() {
                Some(b' ' | b'\t' | b'\n' | b'\r') => written,
                _ => format!(" {written}"),
            }
        }
    })
}

fn plain(scalar: &Scalar<'_>, value: &str) -> String {
    let fits = style::of_value(value) == style::Style::Plain
        && Kind::of(value) == Kind::Plain
        && !(scalar.flow && value.contains([',', '[', ']', '{', '}', '?']));
    if fits {
        value.to_owned()
    } else {
        double_quoted(value)
    }
}

fn fits_single_quotes(value: &str) -> bool {
    value
        .chars()
        .all(|letter| style::is_printable(letter) && !style::is_break(letter))
}

fn double_quoted(value: &str) -> String {
    let mut out = String::with_capacity(value.len() + 2);
    out.push('"');
    for letter in value.chars() {
        if style::is_printable(letter) && !style::is_break(letter) && !matches!(letter, '"' | '\\') {
            out.push(letter);
        } else {
            escape(letter, &mut out);
        }
    }
    out.push('"');
    out
}
