//! YAML as a tree, and the many ways to write it down.

use model::{Value, json};

use super::dice::Dice;

/// A part of a document.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    /// A string.
    Text(String),
    /// Written as it is, whatever comes of it.
    Raw(String),
    List(Vec<Shape>),
    Map(Vec<(String, Shape)>),
}

impl From<&str> for Shape {
    fn from(text: &str) -> Shape {
        Shape::Text(text.to_owned())
    }
}

impl From<String> for Shape {
    fn from(text: String) -> Shape {
        Shape::Text(text)
    }
}

/// A map of what is given.
pub(super) fn map<const N: usize>(pairs: [(&str, Shape); N]) -> Shape {
    Shape::Map(
        pairs
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect(),
    )
}

/// A map of some of what is given.
pub(super) fn some_of<const N: usize>(dice: &mut Dice, pairs: [(&str, Shape); N]) -> Shape {
    // What stands first is what the others need.
    let pairs = pairs
        .into_iter()
        .enumerate()
        .filter(|(index, _)| *index == 0 && dice.tame || !dice.one_in(3))
        .map(|(_, pair)| pair)
        .map(|(key, value)| (key.to_owned(), value));
    Shape::Map(pairs.collect())
}

pub(super) fn raw(text: &str) -> Shape {
    Shape::Raw(text.to_owned())
}

impl Shape {
    /// Something inside of it becomes something else.
    pub(super) fn disturb(&mut self, dice: &mut Dice) {
        match self {
            Shape::List(items) if !items.is_empty() && !dice.one_in(6) => {
                let at = dice.below(items.len());
                match dice.below(8) {
                    0 => items.truncate(at),
                    1 => items.push(items[at].clone()),
                    _ => items[at].disturb(dice),
                }
            }
            Shape::Map(pairs) if !pairs.is_empty() && !dice.one_in(6) => {
                let at = dice.below(pairs.len());
                match dice.below(10) {
                    0 => drop(pairs.remove(at)),
                    1 => pairs[at].0 = dice.letters(6),
                    2 => pairs.push((dice.letters(3), odd(dice))),
                    _ => pairs[at].1.disturb(dice),
                }
            }
            other => *other = odd(dice),
        }
    }

    /// The document.
    pub(super) fn print(&self, dice: &mut Dice) -> String {
        let mut out = String::new();
        self.block(0, dice, &mut out);
        out.push('\n');
        out
    }

    fn block(&self, indent: usize, dice: &mut Dice, out: &mut String) {
        let flow = dice.one_in(10);
        match self {
            Shape::List(items) if !items.is_empty() && !flow => {
                for item in items {
                    line(indent, out);
                    out.push_str("- ");
                    item.block(indent + 2, dice, out);
                }
            }
            Shape::Map(pairs) if !pairs.is_empty() && !flow => {
                for (key, value) in written(pairs, dice) {
                    line(indent, out);
                    out.push_str(&scalar(key, dice));
                    out.push_str(": ");
                    value.block(indent + 2, dice, out);
                }
            }
            Shape::Text(text) if text.contains('\n') && !text.starts_with([' ', '\n']) && !dice.one_in(4) => {
                out.push_str("|-");
                for part in text.split('\n') {
                    line(indent + 2, out);
                    out.push_str(part);
                }
            }
            other => other.flow(dice, out),
        }
    }

    fn flow(&self, dice: &mut Dice, out: &mut String) {
        match self {
            Shape::Text(text) => out.push_str(&scalar(text, dice)),
            Shape::Raw(text) => out.push_str(text),
            Shape::List(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    out.push_str(if index > 0 { ", " } else { "" });
                    item.flow(dice, out);
                }
                out.push(']');
            }
            Shape::Map(pairs) => {
                out.push('{');
                for (index, (key, value)) in written(pairs, dice).into_iter().enumerate() {
                    out.push_str(if index > 0 { ", " } else { "" });
                    out.push_str(&scalar(key, dice));
                    out.push_str(": ");
                    value.flow(dice, out);
                }
                out.push('}');
            }
        }
    }
}

/// The pairs that are written down: a key that stands twice is a mistake.
fn written<'s>(pairs: &'s [(String, Shape)], dice: &Dice) -> Vec<&'s (String, Shape)> {
    let repeated = |at: usize| pairs[..at].iter().any(|(key, _)| *key == pairs[at].0);
    let kept = (0..pairs.len()).filter(|at| !dice.tame || !repeated(*at));
    kept.map(|at| &pairs[at]).collect()
}

/// A new line, unless the indicator of a list has just begun one of the same depth.
fn line(indent: usize, out: &mut String) {
    let here = out.rsplit('\n').next().unwrap_or_default();
    let begun = here.len() == indent && here.trim_start_matches([' ', '-']).is_empty();
    if !begun {
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', indent));
    }
}

fn scalar(text: &str, dice: &mut Dice) -> String {
    let simple = !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte));
    match dice.below(4) {
        0 | 1 if simple => text.to_owned(),
        2 if !text.contains(char::is_control) => format!("'{}'", text.replace('\'', "''")),
        _ => json::to_string(&Value::from(text)),
    }
}

/// What nobody expects anywhere.
pub(super) fn odd(dice: &mut Dice) -> Shape {
    match dice.below(9) {
        0 => Shape::Text(dice.letters(12)),
        1 => Shape::List(dice.some(3, odd)),
        2 => Shape::Map(dice.some(3, |dice| (dice.letters(4), odd(dice)))),
        3 => Shape::Text(dice.letters(3).repeat(dice.below(400))),
        4 => raw(dice.pick(&[
            "[[[[[[[[[]]]]]]]]]",
            "{a: {b: {c: {d: []}}}}",
            "&x [*x]",
            "*nobody",
            "<<: 1",
        ])),
        _ => raw(dice.pick(&[
            "null",
            "~",
            "",
            "true",
            "no",
            "0",
            "-1",
            "1.5",
            "1e999",
            "-.inf",
            ".nan",
            "0x7fffffffffffffff",
            "07",
            "0b1",
            "9223372036854775808",
            "99999999999999999999999999",
            "2001-01-01",
            "1_000",
            "!!binary aGk=",
            "!!int x",
            "!!str 1",
            "!!float 1",
            "!x y",
            "[]",
            "{}",
            "\"\\ud800\"",
            "'\"'",
            "|",
            ">",
            "? a",
            "\u{feff}",
            "12:30:45",
            "=",
            "<<",
        ])),
    }
}
