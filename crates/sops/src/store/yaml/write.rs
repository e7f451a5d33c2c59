//! Writing YAML: everything in block style, four spaces deep, comments where SOPS puts them.

use super::layout::{INDENT, Output};
use super::scalar::{self, Style, Written};
use crate::tree::{Branch, Comment, Item, Tree, Value};

/// A longer key is written on a line of its own, behind a question mark.
const MAX_SIMPLE_KEY: usize = 128;

pub(crate) fn write(tree: &Tree) -> Result<Vec<u8>, String> {
    let mut writer = Writer { out: Output::new() };
    for (index, branch) in tree.branches.iter().enumerate() {
        if index > 0 {
            writer.out.indent(0);
            writer.out.sign("---", true, false);
            writer.out.indent(0);
        }
        writer.document(branch);
    }
    Ok(writer.out.text)
}

/// Where a node stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Root,
    InList,
    InMap,
}

struct Writer {
    out: Output,
}

/// The comments of a list or map, sorted out to its entries.
struct Sorted<'a, T> {
    /// What stands before the first entry.
    head: Vec<u8>,
    entries: Vec<Entry<'a, T>>,
    /// What stands behind the last entry.
    foot: Vec<u8>,
}

struct Entry<'a, T> {
    head: Vec<u8>,
    line: Vec<u8>,
    item: &'a T,
}

fn sort<'a, T>(items: &'a [T], comment: impl Fn(&T) -> Option<&Comment>) -> Sorted<'a, T> {
    let mut sorted = Sorted {
        head: Vec::new(),
        entries: Vec::new(),
        foot: Vec::new(),
    };
    let (mut heads, mut lines) = (Vec::new(), Vec::new());
    for item in items {
        if let Some(comment) = comment(item) {
            let list = if comment.inline { &mut lines } else { &mut heads };
            list.push(comment.text.as_slice());
            continue;
        }
        if sorted.entries.is_empty() {
            sorted.head = join(&mut heads);
        }
        sorted.entries.push(Entry {
            head: join(&mut heads),
            line: join(&mut lines),
            item,
        });
    }
    heads.append(&mut lines);
    let rest = join(&mut heads);
    if sorted.entries.is_empty() {
        sorted.head = rest;
    } else {
        sorted.foot = rest;
    }
    sorted
}

fn join(comments: &mut Vec<&[u8]>) -> Vec<u8> {
    let mut text = Vec::new();
    for (index, comment) in comments.drain(..).enumerate() {
        text.extend_from_slice(if index > 0 { b"\n#" } else { b"#" });
        text.extend_from_slice(comment);
    }
    text
}

fn set(slot: &mut Vec<u8>, comment: Vec<u8>) {
    if !comment.is_empty() {
        *slot = comment;
    }
}

impl Writer {
    fn document(&mut self, branch: &Branch) {
        let sorted = sort_map(branch);
        set(&mut self.out.waiting.head, sorted.head.clone());
        self.out.head_comment(0);
        self.map(sorted, None, Place::Root, Vec::new());
        self.out.line_comment(0, false);
        self.out.foot_comment(0);
        self.out.end_document();
    }

    /// Writes a map. Its head comment is waiting already; `foot` comes from the list that it is the last element of.
    fn map(&mut self, sorted: Sorted<'_, Item>, indent: Option<usize>, place: Place, foot: Vec<u8>) {
        if sorted.entries.is_empty() {
            self.brackets("{}", indent.unwrap_or(0), foot);
            return;
        }
        let inner = deeper(indent, place);
        for entry in sorted.entries {
            let Item::Entry(key, value) = entry.item else {
                continue;
            };
            set(&mut self.out.waiting.head, entry.head);
            self.out.head_comment(inner);
            self.out.indent(inner);
            self.key(key, inner);
            self.entry(value, entry.line, inner);
        }
        set(&mut self.out.waiting.tail, sorted.foot);
        set(&mut self.out.waiting.foot, foot);
        self.out.head_comment(inner);
    }

    fn key(&mut self, key: &str, indent: usize) {
        let written = scalar::text(key.as_bytes());
        let simple = !key.chars().any(scalar::is_break) && key.len() <= MAX_SIMPLE_KEY;
        if simple {
            let style = match written.style {
                Style::Plain if key.is_empty() => Style::SingleQuoted,
                Style::Literal => Style::DoubleQuoted,
                style => style,
            };
            self.scalar(&Written { style, ..written }, indent);
            self.out.sign(":", false, false);
        } else {
            self.out.sign("?", true, true);
            self.scalar(&written, deeper(Some(indent), Place::InMap));
            self.out.indent(indent);
            self.out.sign(":", true, true);
        }
    }

    /// Writes the value of a key.
    fn entry(&mut self, value: &Value, line: Vec<u8>, indent: usize) {
        let out = &mut self.out;
        match value {
            Value::Map(branch) => {
                let sorted = sort_map(branch);
                set(&mut out.waiting.head, sorted.head.clone());
                set(&mut out.waiting.line, line);
                self.map(sorted, Some(indent), Place::InMap, Vec::new());
            }
            Value::List(items) => {
                let sorted = sort_list(items);
                set(&mut out.waiting.head, sorted.head.clone());
                set(&mut out.waiting.line, line);
                self.list(sorted, indent, Place::InMap, Vec::new());
            }
            Value::Bytes(bytes) => {
                let numbers: Vec<Value> = bytes.iter().map(|byte| Value::Int(i64::from(*byte))).collect();
                self.list(sort_list(&numbers), indent, Place::InMap, Vec::new());
            }
            leaf => {
                set(&mut out.waiting.line, line);
                self.scalar(&scalar::of(leaf), deeper(Some(indent), Place::InMap));
                self.out.line_comment(indent, false);
                self.out.foot_comment(indent);
            }
        }
    }

    fn list(&mut self, sorted: Sorted<'_, Value>, indent: usize, place: Place, foot: Vec<u8>) {
        if sorted.entries.is_empty() {
            self.brackets("[]", indent, foot);
            return;
        }
        let inner = deeper(Some(indent), place);
        let last = sorted.entries.len() - 1;
        let mut last_foot = Some(sorted.foot);
        for (index, entry) in sorted.entries.into_iter().enumerate() {
            let foot = if index == last {
                last_foot.take().unwrap_or_default()
            } else {
                Vec::new()
            };
            self.element(entry, inner, foot);
        }
        set(&mut self.out.waiting.foot, foot);
    }

    fn element(&mut self, entry: Entry<'_, Value>, indent: usize, foot: Vec<u8>) {
        let with = |head: &[u8], own: &[u8]| match (head.is_empty(), own.is_empty()) {
            (false, false) => [head, b"\n", own].concat(),
            (false, true) => head.to_vec(),
            _ => own.to_vec(),
        };
        match entry.item {
            Value::Map(branch) => {
                let sorted = sort_map(branch);
                self.dash(with(&entry.head, &sorted.head), indent);
                set(&mut self.out.waiting.line, entry.line);
                self.map(sorted, Some(indent), Place::InList, foot);
            }
            Value::List(items) => {
                let sorted = sort_list(items);
                self.dash(with(&entry.head, &sorted.head), indent);
                set(&mut self.out.waiting.line, entry.line);
                self.list(sorted, indent, Place::InList, foot);
            }
            leaf => {
                self.dash(entry.head, indent);
                set(&mut self.out.waiting.line, entry.line);
                set(&mut self.out.waiting.foot, foot);
                self.scalar(&scalar::of(leaf), deeper(Some(indent), Place::InList));
                self.out.line_comment(indent, false);
                self.out.foot_comment(indent);
            }
        }
    }

    fn dash(&mut self, head: Vec<u8>, indent: usize) {
        set(&mut self.out.waiting.head, head);
        self.out.head_comment(indent);
        self.out.indent(indent);
        self.out.sign("-", true, true);
    }

    /// Writes what is empty.
    fn brackets(&mut self, brackets: &str, indent: usize, foot: Vec<u8>) {
        self.out.sign(brackets, true, false);
        set(&mut self.out.waiting.foot, foot);
        self.out.line_comment(indent, false);
        self.out.foot_comment(indent);
    }

    /// Writes a scalar whose further lines are indented by `indent`.
    fn scalar(&mut self, written: &Written, indent: usize) {
        let out = &mut self.out;
        if let Some(tag) = written.tag {
            out.sign(tag, true, false);
        }
        match written.style {
            Style::Plain => out.words(written.text.as_bytes()),
            Style::SingleQuoted => out.words(format!("'{}'", written.text.replace('\'', "''")).as_bytes()),
            Style::DoubleQuoted => out.words(format!("\"{}\"", scalar::escaped(&written.text)).as_bytes()),
            Style::Literal => {
                out.sign("|", true, false);
                let text = &written.text;
                if text.starts_with(|first| first == ' ' || scalar::is_break(first)) {
                    out.sign(&INDENT.to_string(), false, false);
                }
                let mut ends = text.chars().rev();
                match (ends.next(), ends.next()) {
                    (Some(last), _) if !scalar::is_break(last) => out.sign("-", false, false),
                    (Some(_), before) if before.is_none_or(scalar::is_break) => out.sign("+", false, false),
                    _ => {}
                }
                out.line_comment(indent, true);
                out.lines(text, indent);
            }
        }
    }
}

fn sort_map(branch: &Branch) -> Sorted<'_, Item> {
    sort(branch, |item| match item {
        Item::Comment(comment) => Some(comment),
        Item::Entry(..) => None,
    })
}

fn sort_list(items: &[Value]) -> Sorted<'_, Value> {
    sort(items, |item| match item {
        Value::Comment(comment) => Some(comment),
        _ => None,
    })
}

/// The indentation inside of what stands at `indent`.
fn deeper(indent: Option<usize>, place: Place) -> usize {
    match (indent, place) {
        (None, _) | (_, Place::Root) => 0,
        (Some(indent), Place::InList) => indent + 2,
        (Some(indent), Place::InMap) => INDENT * ((indent + INDENT) / INDENT),
    }
}
