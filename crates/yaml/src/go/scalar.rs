//! Writing scalars.

use std::fmt::Write as _;

use super::style::{self, Style};
use super::{Layout, Writer, number};
use crate::node::{Meaning, Node};

/// Lines are folded at the first space after this column.
const WIDTH: usize = 80;

impl Writer<'_> {
    /// Writes a scalar, or the brackets of a list or map that is empty. Lines that follow are indented by `indent`.
    pub(super) fn leaf(&mut self, node: &Node, indent: usize) -> Result<(), String> {
        let scalar = match node {
            Node::Scalar(scalar) => scalar,
            Node::List(_) => {
                self.out.push_str("[]");
                return Ok(());
            }
            Node::Map(_) => {
                self.out.push_str("{}");
                return Ok(());
            }
        };
        match scalar.meaning()? {
            Meaning::Null => self.out.push_str("null"),
            Meaning::Bool(flag) => self.out.push_str(if flag { "true" } else { "false" }),
            Meaning::Int(number) => {
                let _ = write!(self.out, "{number}");
            }
            Meaning::Uint(number) => {
                let _ = write!(self.out, "{number}");
            }
            Meaning::Float(number) if self.layout == Layout::Pretty => {
                self.out.push_str(&number::shortest(number));
            }
            Meaning::Float(number) => self.out.push_str(&number::float(number)?),
            Meaning::Str(text) => self.string(&text, indent),
            Meaning::Text => self.string(&scalar.text, indent),
        }
        Ok(())
    }

    /// Writes a key that stands before its colon: it is never folded.
    pub(super) fn key(&mut self, text: &str, indent: usize) {
        match style::of_key(text) {
            Style::Plain => self.out.push_str(text),
            Style::SingleQuoted => {
                self.out.push('\'');
                self.out.push_str(&text.replace('\'', "''"));
                self.out.push('\'');
            }
            _ => self.double_quoted(text, indent, Folding::Off),
        }
    }

    pub(super) fn string(&mut self, text: &str, indent: usize) {
        match style::of_value(text) {
            Style::Plain if !self.layout.folds() => self.out.push_str(text),
            Style::Plain => self.folded(text, indent, Quotes::None),
            Style::SingleQuoted => self.folded(text, indent, Quotes::Single),
            Style::DoubleQuoted if !self.layout.folds() => {
                self.double_quoted(text, indent, Folding::Off);
            }
            Style::DoubleQuoted => self.double_quoted(text, indent, Folding::On),
            Style::Literal => self.literal(text, indent),
        }
    }

    /// Writes a text of one line as it is, or in single quotes, with breaks where it becomes too long.
    fn folded(&mut self, text: &str, indent: usize, quotes: Quotes) {
        if quotes == Quotes::None && (self.out.len() - self.line_start) + text.len() <= WIDTH {
            self.out.push_str(text);
            return;
        }
        let inner = match quotes {
            Quotes::None => 0..text.len(),
            Quotes::Single => {
                self.out.push('\'');
                // The first and the last byte are never a fold in quotes.
                1..text.len().saturating_sub(1)
            }
        };
        let mut column = self.column();
        let (mut spaces, mut breaks) = (false, false);
        let mut characters = text.char_indices().peekable();
        while let Some((at, character)) = characters.next() {
            if style::is_break(character) {
                if !breaks && character == '\n' {
                    self.break_line();
                }
                self.copy_break(character);
                column = 0;
                breaks = true;
                continue;
            }
            if breaks {
                self.pad(indent);
                column = indent;
            }
            breaks = false;
            if character == ' ' {
                let next_is_space = characters.peek().is_some_and(|(_, next)| *next == ' ');
                if self.layout.folds() && !spaces && column > WIDTH && inner.contains(&at) && !next_is_space {
                    self.break_line();
                    self.pad(indent);
                    column = indent;
                } else {
                    self.out.push(' ');
                    column += 1;
                }
                spaces = true;
                continue;
            }
            if character == '\'' && quotes == Quotes::Single {
                self.out.push('\'');
                column += 1;
            }
            self.out.push(character);
            column += 1;
            spaces = false;
        }
        if quotes == Quotes::Single {
            self.out.push('\'');
        }
    }

    fn copy_break(&mut self, character: char) {
        self.out.push(character);
        self.line_start = self.out.len();
    }

    fn double_quoted(&mut self, text: &str, indent: usize, folding: Folding) {
        self.out.push('"');
        let mut column = self.column();
        // A byte order mark at the start makes go-yaml take every character for one.
        let marked = text.starts_with('\u{feff}');
        let mut spaces = false;
        let mut characters = text.char_indices().peekable();
        while let Some((at, character)) = characters.next() {
            if character == ' ' && !marked {
                let inside = at > 0 && at < text.len() - 1;
                if folding == Folding::On && !spaces && column > WIDTH && inside {
                    self.break_line();
                    self.pad(indent);
                    column = indent;
                    if characters.peek().is_some_and(|(_, next)| *next == ' ') {
                        self.out.push('\\');
                        column += 1;
                    }
                } else {
                    self.out.push(' ');
                    column += 1;
                }
                spaces = true;
                continue;
            }
            spaces = false;
            let plain = !marked
                && style::is_printable(character)
                && !style::is_break(character)
                && !matches!(character, '"' | '\\');
            let before = self.out.len();
            if plain {
                self.out.push(character);
                column += 1;
            } else {
                escape(character, self.out);
                column += self.out.len() - before;
            }
        }
        self.out.push('"');
    }

    fn literal(&mut self, text: &str, indent: usize) {
        self.out.push('|');
        if text.starts_with(|first| first == ' ' || style::is_break(first)) {
            self.out.push('2');
        }
        let mut ends = text.chars().rev();
        match (ends.next(), ends.next()) {
            (Some(last), _) if !style::is_break(last) => self.out.push('-'),
            (Some(_), before) if before.is_none_or(style::is_break) => self.out.push('+'),
            _ => {}
        }
        self.break_line();
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest
                .char_indices()
                .find(|(_, character)| style::is_break(*character))
                .map_or(rest.len(), |(at, _)| at);
            if end > 0 {
                self.pad(indent);
                self.out.push_str(&rest[..end]);
            }
            let Some(line_break) = rest[end..].chars().next() else {
                return;
            };
            self.copy_break(line_break);
            rest = &rest[end + line_break.len_utf8()..];
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    None,
    Single,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Folding {
    On,
    Off,
}

/// Writes a character as the double quotes of go-yaml have it.
pub fn escape(character: char, out: &mut String) {
    let code = u32::from(character);
    let letter = match code {
        0x00 => '0',
        0x07 => 'a',
        0x08 => 'b',
        0x09 => 't',
        0x0a => 'n',
        0x0b => 'v',
        0x0c => 'f',
        0x0d => 'r',
        0x1b => 'e',
        0x22 => '"',
        0x5c => '\\',
        0x85 => 'N',
        0xa0 => '_',
        0x2028 => 'L',
        0x2029 => 'P',
        _ => {
            let _ = match code {
                0..=0xff => write!(out, "\\x{code:02X}"),
                0x100..=0xffff => write!(out, "\\u{code:04X}"),
                _ => write!(out, "\\U{code:08X}"),
            };
            return;
        }
    };
    out.push('\\');
    out.push(letter);
}
