//! Reading a text with its styles and comments.

use std::collections::HashSet;

use yaml::node::Kind;
use yaml::stream::{Content, Event, Position, events};

use super::comments::Found;
use super::{Body, Document, Item, Scalar, Style};

/// The first document of a text; `None` if there is none.
pub(in crate::replacement) fn read(text: &str) -> Result<Option<Document>, String> {
    let all = events(text).map_err(|error| error.without_values())?;
    let end = all.iter().position(|event| event.content == Content::DocumentEnd);
    let Some(end) = end else {
        return Ok(None);
    };
    let lines: Vec<&str> = text.split('\n').collect();
    let mut reader = Reader {
        found: Found::new(&lines, &all[..end]),
        events: &all[..end],
        at: 1,
        lines: &lines,
        anchors: HashSet::new(),
    };
    let head = reader
        .found
        .document_head(reader.events.get(1).map_or(0, |event| event.start.line));
    let mut root = reader.item()?;
    let foot = reader.found.rest(&mut root);
    Ok(Some(Document { root, head, foot }))
}

struct Reader<'r> {
    found: Found,
    events: &'r [Event],
    at: usize,
    lines: &'r [&'r str],
    anchors: HashSet<String>,
}

impl Reader<'_> {
    fn next(&mut self) -> Result<&Event, String> {
        let event = self.events.get(self.at).ok_or("the text ends early")?;
        self.at += 1;
        Ok(event)
    }

    fn is_at(&self, content: &Content) -> bool {
        self.events
            .get(self.at)
            .is_some_and(|event| event.content == *content)
    }

    /// The letters from a place on.
    fn from(&self, place: Position) -> &str {
        let line = self.lines.get(place.line).copied().unwrap_or_default();
        let at = line
            .char_indices()
            .nth(place.column)
            .map_or(line.len(), |(at, _)| at);
        &line[at..]
    }

    fn item(&mut self) -> Result<Item, String> {
        let event = self.next()?.clone();
        // A map in block style begins where its first key begins, and then the properties there are the key's.
        let is_first = self
            .events
            .get(self.at)
            .is_some_and(|next| next.start == event.start);
        let (tag, sign) = match is_first {
            true => (None, None),
            false => self.properties(event.start),
        };
        let mut item = match event.content {
            Content::Alias(name) => {
                if !self.anchors.contains(&name) {
                    return Err("unknown anchor referenced".to_owned());
                }
                Item::of(Body::Alias(name))
            }
            Content::Scalar { anchor, scalar } => {
                let style = match sign {
                    Some('\'') => Style::SingleQuoted,
                    Some('"') => Style::DoubleQuoted,
                    Some('|') => Style::Literal,
                    Some('>') => Style::Folded,
                    _ => Style::Plain,
                };
                let kind = match scalar.kind {
                    Kind::Tagged | Kind::Quoted => Kind::Quoted,
                    kind => kind,
                };
                let mut item = Item::of(Body::Scalar(Scalar {
                    text: scalar.text.to_string(),
                    style,
                    kind: Some(kind),
                }));
                item.anchor = anchor;
                item
            }
            Content::SequenceStart { anchor } => {
                self.anchors.extend(anchor.clone());
                let mut item = self.list(sign == Some('['))?;
                item.anchor = anchor;
                item
            }
            Content::MappingStart { anchor } => {
                self.anchors.extend(anchor.clone());
                let mut item = self.map(sign == Some('{'))?;
                item.anchor = anchor;
                item
            }
            _ => return Err("the text ends early".to_owned()),
        };
        self.anchors.extend(item.anchor.clone());
        item.tag = tag;
        Ok(item)
    }

    fn list(&mut self, flow: bool) -> Result<Item, String> {
        let mut items: Vec<Item> = Vec::new();
        while !self.is_at(&Content::SequenceEnd) {
            let start = self
                .events
                .get(self.at)
                .map(|event| event.start)
                .unwrap_or_default();
            let comments = match flow {
                true => Default::default(),
                false => self.found.before(start.line),
            };
            let mut item = self.item()?;
            item.comments.head = comments;
            item.comments.line = self.end_of_line(&item, flow);
            item.comments.foot = self.below(flow);
            items.push(item);
        }
        self.at += 1;
        Ok(Item::of(Body::List { items, flow }))
    }

    fn map(&mut self, flow: bool) -> Result<Item, String> {
        let mut pairs: Vec<(Item, Item)> = Vec::new();
        while !self.is_at(&Content::MappingEnd) {
            let start = self
                .events
                .get(self.at)
                .map(|event| event.start)
                .unwrap_or_default();
            let head = match flow {
                true => Vec::new(),
                false => self.found.before(start.line),
            };
            let mut key = self.item()?;
            let key_line = self.events.get(self.at - 1).map_or(0, |event| event.end.line);
            key.comments.head = head;
            if !flow
                && self
                    .events
                    .get(self.at)
                    .is_some_and(|event| event.start.line > key_line)
            {
                key.comments.line = self.found.at_end_of(key_line);
            }
            let mut value = self.item()?;
            value.comments.line = self.end_of_line(&value, flow);
            key.comments.foot = self.below(flow);
            pairs.push((key, value));
        }
        self.at += 1;
        Ok(Item::of(Body::Map { pairs, flow }))
    }

    /// The comments below what was just read that are about it.
    fn below(&mut self, flow: bool) -> Vec<String> {
        let next = self
            .events
            .get(self.at)
            .map_or(usize::MAX, |event| event.start.line);
        match flow {
            true => Vec::new(),
            false => self.found.below(next),
        }
    }

    /// The comment after an item that ends on its line.
    fn end_of_line(&mut self, item: &Item, flow: bool) -> Option<String> {
        let is_leaf = match &item.body {
            Body::Scalar(_) | Body::Alias(_) => true,
            Body::List { flow, items } => *flow || items.is_empty(),
            Body::Map { flow, pairs } => *flow || pairs.is_empty(),
        };
        if flow || !is_leaf {
            return None;
        }
        let event = self.events.get(self.at - 1)?;
        let line = match &item.body {
            Body::Scalar(scalar) if matches!(scalar.style, Style::Literal | Style::Folded) => {
                event.start.line
            }
            _ => event.end.line,
        };
        self.found.at_end_of(line)
    }

    /// The tag that is written at a place, and the sign that follows anchor and tag.
    fn properties(&self, start: Position) -> (Option<String>, Option<char>) {
        let (mut tag, mut place) = (None, start);
        loop {
            let rest = self.from(place);
            let word = rest.split([' ', '\t', ',', '\r']).next().unwrap_or_default();
            let skipped = match rest.chars().next() {
                Some('&') => word.chars().count(),
                Some('!') => {
                    tag = Some(word.to_owned());
                    word.chars().count()
                }
                Some(' ' | '\t') => 1,
                // What has properties may begin on a later line.
                None if place != start && place.line + 1 < self.lines.len() => {
                    place = Position {
                        line: place.line + 1,
                        column: 0,
                    };
                    continue;
                }
                sign => return (tag, sign),
            };
            place.column += skipped;
        }
    }
}
