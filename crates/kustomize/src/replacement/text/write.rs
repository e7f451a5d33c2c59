//! Writing a text as go-yaml v3 does: two spaces for a level, lists not indented, lines as long as they are.

use yaml::go::{Analysis, Tabs, escape, is_break, is_printable};
use yaml::node::Kind;

use super::{Body, Document, Item, Scalar, Style};

/// The text of a document, with a line break at its end.
pub(in crate::replacement) fn write(document: &Document) -> String {
    let mut writer = Writer {
        out: String::new(),
        foot: None,
    };
    if !document.head.is_empty() {
        writer.comment(&document.head, 0);
        writer.out.push_str("\n\n");
    }
    writer.root(&document.root);
    if !document.foot.is_empty() {
        writer.foot = Some(0);
        writer.comment(&document.foot, 0);
    }
    if !writer.out.ends_with('\n') {
        writer.out.push('\n');
    }
    writer.out
}

struct Writer {
    out: String,
    /// The depth of a comment that was just written below something: what follows at the same depth has a blank line before it.
    foot: Option<usize>,
}

/// Where something stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Block,
    Flow,
    Key,
}

impl Writer {
    /// Begins a line.
    fn line(&mut self, indent: usize) {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
        if self.foot.take() == Some(indent) {
            self.out.push('\n');
        }
        self.out.extend(std::iter::repeat_n(' ', indent));
    }

    fn comment(&mut self, lines: &[String], indent: usize) {
        for text in lines {
            if text.is_empty() {
                if !self.out.ends_with('\n') {
                    self.out.push('\n');
                }
                self.out.push('\n');
            } else {
                self.line(indent);
                self.out.push_str(text);
            }
        }
    }

    fn below(&mut self, lines: &[String], indent: usize) {
        if !lines.is_empty() {
            self.comment(lines, indent);
            self.foot = Some(indent);
        }
    }

    fn at_end_of_line(&mut self, comment: Option<&String>) {
        if let Some(comment) = comment {
            if !self.out.ends_with([' ', '\n']) {
                self.out.push(' ');
            }
            self.out.push_str(comment);
        }
    }

    fn root(&mut self, item: &Item) {
        match &item.body {
            Body::Map { pairs, flow: false } if !pairs.is_empty() => {
                self.properties(item);
                self.map(pairs, 0, false);
            }
            Body::List { items, flow: false } if !items.is_empty() => {
                self.properties(item);
                self.list(items, 0, false);
            }
            _ => {
                self.comment(&item.comments.head, 0);
                if !item.comments.head.is_empty() {
                    self.out.push('\n');
                }
                self.leaf(item, 2, Place::Block);
                self.at_end_of_line(item.comments.line.as_ref());
                self.below(&item.comments.foot, 0);
            }
        }
    }

    /// The anchor and the tag, with spaces between them and what stands before.
    fn properties(&mut self, item: &Item) {
        let parts = [
            item.anchor.as_ref().map(|anchor| format!("&{anchor}")),
            item.tag.clone(),
        ];
        for part in parts.into_iter().flatten() {
            self.space();
            self.out.push_str(&part);
        }
    }

    fn space(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with([' ', '\n', '[', '{']) {
            self.out.push(' ');
        }
    }

    fn map(&mut self, pairs: &[(Item, Item)], indent: usize, mut inline: bool) {
        for (key, value) in pairs {
            self.comment(&key.comments.head, indent);
            if !std::mem::take(&mut inline) || !key.comments.head.is_empty() {
                self.line(indent);
            }
            self.leaf(key, indent, Place::Key);
            self.out.push(':');
            match &value.body {
                Body::Map { pairs, flow: false } if !pairs.is_empty() => {
                    self.properties(value);
                    self.at_end_of_line(key.comments.line.as_ref());
                    self.map(pairs, indent + 2, false);
                }
                Body::List { items, flow: false } if !items.is_empty() => {
                    self.properties(value);
                    self.at_end_of_line(key.comments.line.as_ref());
                    self.list(items, indent, false);
                }
                _ => {
                    let line = value.comments.line.as_ref().or(key.comments.line.as_ref());
                    self.value(value, indent + 2, line);
                }
            }
            self.below(&key.comments.foot, indent);
        }
    }

    fn list(&mut self, items: &[Item], indent: usize, mut inline: bool) {
        for item in items {
            self.comment(&item.comments.head, indent);
            if !std::mem::take(&mut inline) || !item.comments.head.is_empty() {
                self.line(indent);
            }
            self.out.push('-');
            let has_properties = item.anchor.is_some() || item.tag.is_some();
            match &item.body {
                Body::Map { pairs, flow: false } if !pairs.is_empty() => {
                    self.properties(item);
                    self.space_unless(has_properties);
                    self.map(pairs, indent + 2, !has_properties);
                }
                Body::List { items, flow: false } if !items.is_empty() => {
                    self.properties(item);
                    self.space_unless(has_properties);
                    self.list(items, indent + 2, !has_properties);
                }
                _ => self.value(item, indent + 2, item.comments.line.as_ref()),
            }
            self.below(&item.comments.foot, indent);
        }
    }

    fn space_unless(&mut self, not: bool) {
        if !not {
            self.out.push(' ');
        }
    }

    /// A value that is written on the line, and the comment after it. Lines after `|` have it after the mark.
    fn value(&mut self, item: &Item, indent: usize, line: Option<&String>) {
        let before = self.out.len();
        self.leaf(item, indent, Place::Block);
        let first_line_end = self.out[before..].find('\n').map(|at| before + at);
        match (first_line_end, line) {
            (Some(at), Some(comment)) => self.out.insert_str(at, &format!(" {comment}")),
            (_, comment) => self.at_end_of_line(comment),
        }
    }

    fn leaf(&mut self, item: &Item, indent: usize, place: Place) {
        if let Body::Scalar(scalar) = &item.body {
            return self.scalar(item, scalar, indent, place);
        }
        self.properties(item);
        match &item.body {
            Body::Alias(name) => {
                self.space();
                self.out.push('*');
                self.out.push_str(name);
                if place == Place::Key {
                    self.out.push(' ');
                }
            }
            Body::List { items, .. } => {
                self.space();
                self.out.push('[');
                for (number, item) in items.iter().enumerate() {
                    self.out.push_str(if number > 0 { ", " } else { "" });
                    self.leaf(item, indent + 2, Place::Flow);
                }
                self.out.push(']');
            }
            Body::Map { pairs, .. } => {
                self.space();
                self.out.push('{');
                for (number, (key, value)) in pairs.iter().enumerate() {
                    self.out.push_str(if number > 0 { ", " } else { "" });
                    self.leaf(key, indent + 2, Place::Flow);
                    self.out.push(':');
                    self.leaf(value, indent + 2, Place::Flow);
                }
                self.out.push('}');
            }
            Body::Scalar(_) => {}
        }
    }

    fn scalar(&mut self, item: &Item, scalar: &Scalar, indent: usize, place: Place) {
        let looks = Kind::of(&scalar.text);
        let quoted = scalar.style != Style::Plain;
        let (mut tag, mut forced) = (item.tag.clone(), false);
        if tag.is_none() && !quoted && scalar.text == "<<" && scalar.kind.is_some() {
            tag = Some("!!merge".to_owned());
        } else if let (None, Some(kind)) = (&tag, scalar.kind) {
            let same = kind.is_str() && (quoted || looks.is_str()) || kind == looks;
            if !same && kind.is_str() {
                forced = true;
            } else if !same {
                tag = Some(kind.tag().to_owned());
            }
        }
        let wanted = match scalar.style {
            Style::Plain if scalar.text.contains('\n') => Style::Literal,
            Style::Plain if forced => Style::DoubleQuoted,
            style => style,
        };
        let properties = Item {
            tag,
            anchor: item.anchor.clone(),
            ..Item::default()
        };
        self.properties(&properties);
        let text = scalar.text.as_str();
        match allowed(wanted, text, place) {
            Style::Plain if text.is_empty() => {}
            Style::Plain => {
                self.space();
                self.out.push_str(text);
            }
            Style::SingleQuoted => {
                self.space();
                self.single_quoted(text, indent);
            }
            Style::DoubleQuoted => {
                self.space();
                self.double_quoted(text);
            }
            Style::Literal => self.block(text, indent, '|'),
            Style::Folded => self.block(text, indent, '>'),
        }
    }

    fn single_quoted(&mut self, text: &str, indent: usize) {
        self.out.push('\'');
        let mut breaks = false;
        for character in text.chars() {
            if is_break(character) {
                if !breaks {
                    self.out.push('\n');
                }
                self.out.push(character);
                breaks = true;
                continue;
            }
            if std::mem::take(&mut breaks) {
                self.out.extend(std::iter::repeat_n(' ', indent));
            }
            if character == '\'' {
                self.out.push('\'');
            }
            self.out.push(character);
        }
        self.out.push('\'');
    }

    fn double_quoted(&mut self, text: &str) {
        self.out.push('"');
        for character in text.chars() {
            if is_printable(character) && !is_break(character) && !matches!(character, '"' | '\\') {
                self.out.push(character);
            } else {
                escape(character, &mut self.out);
            }
        }
        self.out.push('"');
    }

    /// Lines after `|` or `>`.
    fn block(&mut self, text: &str, indent: usize, mark: char) {
        self.space();
        self.out.push(mark);
        if text.starts_with(|first| first == ' ' || is_break(first)) {
            self.out.push('2');
        }
        let mut ends = text.chars().rev();
        match (ends.next(), ends.next()) {
            (Some(last), _) if !is_break(last) => self.out.push('-'),
            (Some(_), before) if before.is_none_or(is_break) => self.out.push('+'),
            _ => {}
        }
        self.out.push('\n');
        let (mut breaks, mut leading_spaces) = (true, true);
        for (at, character) in text.char_indices() {
            if is_break(character) {
                if mark == '>' && !breaks && !leading_spaces && character == '\n' {
                    let next = text.chars().find(|character| !is_break(*character));
                    if next.is_some_and(|next| !matches!(next, ' ' | '\t')) {
                        self.out.push('\n');
                    }
                }
                self.out.push(character);
                breaks = true;
                continue;
            }
            if std::mem::take(&mut breaks) {
                self.out.extend(std::iter::repeat_n(' ', indent));
                leading_spaces = text[at..].starts_with([' ', '\t']);
            }
            self.out.push(character);
        }
    }
}

/// The style that go-yaml's emitter takes where it cannot take the one that is wanted.
fn allowed(wanted: Style, text: &str, place: Place) -> Style {
    let found = Analysis::of(text, Tabs::InBlocks);
    let mut style = wanted;
    if style == Style::Plain {
        let flow_indicators = place == Place::Flow && text.contains([',', '?', '[', ']', '{', '}', ':']);
        let empty = text.is_empty() && place != Place::Block;
        let multiline = place == Place::Key && text.chars().any(is_break);
        if multiline {
            style = Style::DoubleQuoted;
        } else if !found.plain_allowed || flow_indicators || empty {
            style = Style::SingleQuoted;
        }
    }
    match style {
        Style::SingleQuoted if !found.single_quoted_allowed => Style::DoubleQuoted,
        Style::SingleQuoted if place == Place::Key && text.chars().any(is_break) => Style::DoubleQuoted,
        Style::Literal | Style::Folded if !found.block_allowed || place != Place::Block => {
            Style::DoubleQuoted
        }
        style => style,
    }
}
