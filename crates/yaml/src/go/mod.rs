//! Writing YAML with the very bytes of Go's `sigs.k8s.io/yaml`: the emitter of go-yaml v2 fed with what JSON can hold.
//!
//! Maps are sorted as go-yaml sorts them, lists stand at the indentation of their key, long lines are folded at 80
//! columns, and strings are quoted where a reader of YAML 1.1 could take them for something else.

mod key_order;
mod number;
pub(crate) mod scalar;
pub(crate) mod style;

pub use crate::number::format_float32;
pub use number::{shortest as float, unsupported};
pub use scalar::escape;
pub use style::{Analysis, Tabs, is_base60, is_break, is_printable};

use std::cmp::Ordering;

use crate::node::{Map, Node, Text};

/// Appends the document that Go would write. The error says what JSON has no form for, in Go's words.
pub fn write(node: &Node, out: &mut String) -> Result<(), String> {
    write_with(node, out, Layout::Canonical)
}

/// Appends the document with the keys in the order they are in and without folding long lines, as go-yaml v3 writes a
/// tree that it has read.
pub fn write_in_order(node: &Node, out: &mut String) -> Result<(), String> {
    write_with(node, out, Layout::AsRead)
}

/// Appends the document with the keys in the order they are in and long lines folded, as go-yaml v2 writes a `MapSlice`.
pub fn write_map_slice(node: &Node, out: &mut String) -> Result<(), String> {
    write_with(node, out, Layout::MapSlice)
}

/// Appends the document that go-yaml v3's encoder writes of a plain Go value with an indentation of two: sorted keys, lists
/// indented below their keys, no folding, and floats as Go's `%g` has them.
pub fn write_pretty(node: &Node, out: &mut String) -> Result<(), String> {
    write_with(node, out, Layout::Pretty)
}

fn write_with(node: &Node, out: &mut String, layout: Layout) -> Result<(), String> {
    let line_start = out.len();
    let mut writer = Writer {
        out,
        line_start,
        layout,
    };
    match node {
        Node::Map(map) if !map.is_empty() => writer.map(map, 0)?,
        Node::List(items) if !items.is_empty() => writer.list(items, 0)?,
        other => {
            writer.leaf(other, 2)?;
            writer.end_line();
        }
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// Sorted and folded.
    Canonical,
    /// Neither.
    AsRead,
    /// Folded, but not sorted.
    MapSlice,
    /// Sorted, with lists further in than their keys.
    Pretty,
}

impl Layout {
    fn folds(self) -> bool {
        matches!(self, Layout::Canonical | Layout::MapSlice)
    }
}

/// Everything is written in block style; only what is empty stands in brackets. The writer is always at the place where
/// the next node begins: whoever writes a node has written the indentation or the space before it.
struct Writer<'o> {
    out: &'o mut String,
    /// Where the line began that is being written.
    line_start: usize,
    layout: Layout,
}

/// A key of up to this many bytes stands before its colon; a longer one gets a line of its own.
const MAX_SIMPLE_KEY: usize = 128;

impl Writer<'_> {
    fn map(&mut self, map: &Map, indent: usize) -> Result<(), String> {
        let entries = map.entries();
        if matches!(self.layout, Layout::AsRead | Layout::MapSlice)
            || entries.is_sorted_by(|(a, _), (b, _)| key_order::compare(a, b) != Ordering::Greater)
        {
            return self.pairs(entries.iter(), indent);
        }
        let mut sorted: Vec<&(Text, Node)> = entries.iter().collect();
        sorted.sort_by(|(a, _), (b, _)| key_order::compare(a, b));
        self.pairs(sorted.into_iter(), indent)
    }

    fn pairs<'n>(
        &mut self,
        pairs: impl Iterator<Item = &'n (Text, Node)>,
        indent: usize,
    ) -> Result<(), String> {
        for (index, (key, value)) in pairs.enumerate() {
            if index > 0 {
                self.pad(indent);
            }
            if key.len() <= MAX_SIMPLE_KEY && !style::has_break(key) {
                self.key(key, indent + 2);
                self.out.push(':');
                self.value(value, indent)?;
            } else {
                self.out.push_str("? ");
                self.string(key, indent + 2);
                self.end_line();
                self.pad(indent);
                self.out.push_str(": ");
                self.nested(value, indent + 2)?;
            }
        }
        Ok(())
    }

    /// What follows the colon of a key on the same line.
    fn value(&mut self, value: &Node, indent: usize) -> Result<(), String> {
        match value {
            Node::Map(map) if !map.is_empty() => {
                self.end_line();
                self.pad(indent + 2);
                self.map(map, indent + 2)
            }
            Node::List(items) if !items.is_empty() => {
                let indent = match self.layout {
                    Layout::Pretty => indent + 2,
                    _ => indent,
                };
                self.end_line();
                self.pad(indent);
                self.list(items, indent)
            }
            other => {
                self.out.push(' ');
                self.leaf(other, indent + 2)?;
                self.end_line();
                Ok(())
            }
        }
    }

    fn list(&mut self, items: &[Node], indent: usize) -> Result<(), String> {
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.pad(indent);
            }
            self.out.push_str("- ");
            self.nested(item, indent + 2)?;
        }
        Ok(())
    }

    /// A node whose first line has begun with an indicator.
    fn nested(&mut self, node: &Node, indent: usize) -> Result<(), String> {
        match node {
            Node::Map(map) if !map.is_empty() => self.map(map, indent),
            Node::List(items) if !items.is_empty() => self.list(items, indent),
            other => {
                self.leaf(other, indent)?;
                self.end_line();
                Ok(())
            }
        }
    }

    fn pad(&mut self, indent: usize) {
        const SPACES: &str = "                                                                ";
        let mut left = indent;
        while left > 0 {
            let some = left.min(SPACES.len());
            self.out.push_str(&SPACES[..some]);
            left -= some;
        }
    }

    /// Ends the line, unless a block of text has ended it already.
    fn end_line(&mut self) {
        if self.out.len() > self.line_start {
            self.break_line();
        }
    }

    fn break_line(&mut self) {
        self.out.push('\n');
        self.line_start = self.out.len();
    }

    fn column(&self) -> usize {
        let line = &self.out[self.line_start..];
        if line.is_ascii() {
            line.len()
        } else {
            line.chars().count()
        }
    }
}
