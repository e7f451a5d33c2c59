//! Reading YAML.
//!
//! go-yaml attaches every comment to a node, as its head, its line or its foot, and SOPS makes an entry of its own of each.
//! What counts in the end is only in which map or list a comment is, and before which entry. For what SOPS writes, that
//! follows from the column that the comment stands in.

use std::collections::{HashMap, HashSet};

use yaml::node::{Kind, Meaning, Scalar};
use yaml::stream::{self, Content, Event, Position};

use super::comments::{Comments, Found};
use crate::limits::MAX_DEPTH;
use crate::tree::{Branch, Comment, Item, Tree, Value};

/// How many values aliases may add.
const MAX_COPIED: usize = 100_000;

pub(crate) fn read(data: &[u8]) -> Result<Tree, String> {
    let text = std::str::from_utf8(data).map_err(|_| "it is no UTF-8".to_owned())?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let events = stream::events(text).map_err(|error| format!("invalid YAML: {error}"))?;
    let mut comments = Comments::new(text);
    let mut reader = Reader::default();
    for event in &events {
        let found = comments.before(event);
        reader.comments(found, event);
        reader
            .event(event)
            .map_err(|reason| format!("line {}: {reason}", event.start.line + 1))?;
    }
    Ok(Tree {
        branches: reader.documents,
    })
}

#[derive(Default)]
struct Reader {
    documents: Vec<Branch>,
    frames: Vec<Frame>,
    anchors: HashMap<String, Value>,
    copied: usize,
    /// Comments that belong into the list or map that begins next.
    heads: Vec<Comment>,
    /// Where the last scalar ended.
    last_end: Option<Position>,
}

struct Frame {
    open: Open,
    anchor: Option<String>,
    /// The column its entries stand in. Comments to the left of it belong elsewhere.
    column: usize,
    /// Comments that follow the entry that is being read.
    after: Vec<Comment>,
}

enum Open {
    List(Vec<Value>),
    Map {
        branch: Branch,
        keys: HashSet<String>,
        /// The key whose value comes next, and the comments that go before it.
        key: Option<String>,
    },
}

impl Frame {
    /// Appends a comment behind the last entry, or behind the one that is being read.
    fn push(&mut self, comment: Comment) {
        match &mut self.open {
            Open::List(items) => items.push(Value::Comment(comment)),
            Open::Map { branch, .. } => branch.push(Item::Comment(comment)),
        }
    }

    /// Puts a comment that stands behind a value before it: that is the order SOPS keeps.
    fn push_before_last(&mut self, comment: Comment) {
        match &mut self.open {
            Open::List(items) => items.insert(items.len().saturating_sub(1), Value::Comment(comment)),
            Open::Map { branch, .. } => branch.insert(branch.len().saturating_sub(1), Item::Comment(comment)),
        }
    }

    fn has_key(&self) -> bool {
        matches!(&self.open, Open::Map { key: Some(_), .. })
    }
}

impl Reader {
    /// Puts the comments that stand before an event where they belong.
    fn comments(&mut self, found: Vec<Found>, event: &Event) {
        let begins = matches!(
            event.content,
            Content::DocumentStart | Content::SequenceStart { .. } | Content::MappingStart { .. }
        );
        let ends = matches!(
            event.content,
            Content::DocumentEnd | Content::SequenceEnd | Content::MappingEnd
        );
        let misplaced = if ends { self.misplaced(&found, event) } else { 0 };
        for (index, one) in found.into_iter().enumerate() {
            let Found { text, column, behind } = one;
            let is_line = behind && self.last_end.take().is_some();
            let comment = Comment {
                text: text.into_bytes(),
                inline: false,
            };
            let Some(frame) = self.frames.last_mut() else {
                self.heads.push(comment);
                continue;
            };
            if is_line && !frame.has_key() {
                frame.push_before_last(Comment {
                    inline: true,
                    ..comment
                });
            } else if is_line {
                frame.push(comment);
            } else if begins {
                let outside = matches!(frame.open, Open::List(_)) && column <= frame.column && !behind;
                if outside {
                    frame.push(comment);
                } else {
                    self.heads.push(comment);
                }
            } else if ends && index >= misplaced {
                self.push_at(column, comment);
            } else {
                frame.push(comment);
            }
        }
    }

    /// How many comments go-yaml takes for the foot of what is right before them, although they stand to the left of it:
    /// those that come first, where what follows them stands in yet another column to the left.
    fn misplaced(&self, found: &[Found], event: &Event) -> usize {
        let (Some(first), Some(inner)) = (found.iter().find(|one| !one.behind), self.frames.last()) else {
            return 0;
        };
        let start = found.iter().take_while(|one| one.behind).count();
        let run = found[start..]
            .iter()
            .take_while(|one| one.column == first.column)
            .count();
        let next = found
            .get(start + run)
            .map_or(event.start.column, |one| one.column);
        if first.column < inner.column && next < inner.column && next != first.column {
            start + run
        } else {
            0
        }
    }

    /// Puts a comment behind the last entry of the innermost list or map that its column is in.
    fn push_at(&mut self, column: usize, comment: Comment) {
        let count = self.frames.len();
        let inside = self
            .frames
            .iter()
            .rposition(|frame| frame.column <= column)
            .unwrap_or(0);
        if inside + 1 == count {
            self.frames[inside].push(comment);
        } else {
            self.frames[inside].after.push(comment);
        }
    }

    fn event(&mut self, event: &Event) -> Result<(), String> {
        match &event.content {
            Content::DocumentStart => {
                self.anchors.clear();
                Ok(())
            }
            Content::DocumentEnd => {
                // A document without a map has only comments, or nothing.
                let heads = std::mem::take(&mut self.heads);
                if let Some(last) = self.documents.last_mut() {
                    last.extend(heads.into_iter().map(Item::Comment));
                }
                Ok(())
            }
            Content::Scalar { anchor, scalar } => {
                self.last_end = Some(event.end);
                self.scalar(scalar, anchor.clone())
            }
            Content::Alias(name) => {
                self.last_end = Some(event.end);
                let value = self.anchors.get(name).cloned().ok_or("an alias has no anchor")?;
                self.copied += size(&value);
                if self.copied > MAX_COPIED || self.frames.len() + depth(&value) > MAX_DEPTH {
                    return Err("aliases make it too large".to_owned());
                }
                self.place(value)
            }
            Content::SequenceStart { anchor } => {
                self.open(Open::List(Vec::new()), anchor.clone(), event.start.column)
            }
            Content::MappingStart { anchor } => {
                let open = Open::Map {
                    branch: Branch::new(),
                    keys: HashSet::new(),
                    key: None,
                };
                self.open(open, anchor.clone(), event.start.column)
            }
            Content::SequenceEnd | Content::MappingEnd => self.close(),
        }
    }

    fn open(&mut self, open: Open, anchor: Option<String>, column: usize) -> Result<(), String> {
        if self.frames.len() >= MAX_DEPTH {
            return Err(format!("it is nested more than {MAX_DEPTH} levels deep"));
        }
        if self.frames.is_empty() && matches!(open, Open::List(_)) {
            return Err("YAML documents that are sequences are not supported".to_owned());
        }
        // The dash of a list may stand right below the key it belongs to. What stands there and is no dash is the map's.
        let same = self
            .frames
            .last()
            .is_some_and(|frame| frame.column == column && frame.has_key());
        let mut frame = Frame {
            open,
            anchor,
            column: if same { column + 1 } else { column },
            after: Vec::new(),
        };
        for comment in std::mem::take(&mut self.heads) {
            frame.push(comment);
        }
        self.last_end = None;
        self.frames.push(frame);
        Ok(())
    }

    fn close(&mut self) -> Result<(), String> {
        let Some(frame) = self.frames.pop() else {
            return Err("an end has no beginning".to_owned());
        };
        self.last_end = None;
        let value = match frame.open {
            Open::List(items) => Value::List(items),
            Open::Map { branch, .. } => Value::Map(branch),
        };
        self.complete(value, frame.anchor)
    }

    fn scalar(&mut self, scalar: &Scalar, anchor: Option<String>) -> Result<(), String> {
        if let Some(Frame {
            open: Open::Map { key: slot, keys, .. },
            ..
        }) = self.frames.last_mut()
            && slot.is_none()
        {
            if !scalar.kind.is_str() {
                return Err("a key is no string; only string keys are supported".to_owned());
            }
            let key = scalar.text.to_string();
            if !keys.insert(key.clone()) {
                return Err("a key stands twice in a map".to_owned());
            }
            *slot = Some(key);
            return Ok(());
        }
        let value = value(scalar)?;
        self.complete(value, anchor)
    }

    fn complete(&mut self, value: Value, anchor: Option<String>) -> Result<(), String> {
        if let Some(name) = anchor {
            self.copied += size(&value);
            if self.copied > MAX_COPIED {
                return Err("anchors make it too large".to_owned());
            }
            self.anchors.insert(name, value.clone());
        }
        self.place(value)
    }

    fn place(&mut self, value: Value) -> Result<(), String> {
        let Some(frame) = self.frames.last_mut() else {
            match value {
                Value::Map(branch) => self.documents.push(branch),
                Value::Null => self.documents.push(Branch::new()),
                _ => return Err("YAML documents that are values are not supported".to_owned()),
            }
            return Ok(());
        };
        match &mut frame.open {
            Open::List(items) => items.push(value),
            Open::Map { branch, key, .. } => {
                let key = key
                    .take()
                    .ok_or("a map or list is a key; only string keys are supported")?;
                branch.push(Item::Entry(key, value));
            }
        }
        for comment in std::mem::take(&mut frame.after) {
            frame.push(comment);
        }
        Ok(())
    }
}

fn value(scalar: &Scalar) -> Result<Value, String> {
    // The complaints of the reader may hold the text.
    let meaning = scalar.meaning().map_err(|_| "a value is not what its tag says")?;
    Ok(match meaning {
        Meaning::Null => Value::Null,
        Meaning::Bool(flag) => Value::Bool(flag),
        Meaning::Int(number) => Value::Int(number),
        Meaning::Uint(_) => return Err("a number is too large".to_owned()),
        Meaning::Float(number) => Value::Float(number),
        Meaning::Str(text) if scalar.kind == Kind::Timestamp => Value::Time(text.to_string()),
        Meaning::Str(text) => Value::text(text.as_str()),
        Meaning::Text => Value::text(scalar.text.as_str()),
    })
}

fn size(value: &Value) -> usize {
    match value {
        Value::List(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Map(branch) => {
            let entry = |item: &Item| match item {
                Item::Entry(_, value) => size(value),
                Item::Comment(_) => 1,
            };
            1 + branch.iter().map(entry).sum::<usize>()
        }
        Value::Text(text) => 1 + text.len() / 256,
        _ => 1,
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::List(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Map(branch) => {
            let entry = |item: &Item| match item {
                Item::Entry(_, value) => depth(value),
                Item::Comment(_) => 0,
            };
            1 + branch.iter().map(entry).max().unwrap_or(0)
        }
        _ => 0,
    }
}
