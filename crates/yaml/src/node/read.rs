//! Makes a tree of nodes of events, with a stack of its own instead of recursion.

use std::collections::{HashMap, HashSet};

use model::json::MAX_DEPTH;

use super::{Kind, List, Map, Node, Scalar, Text, Texts};
use crate::Error;
use crate::error::Telling;
use crate::events::{self, Content, Events};

/// The first document of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// What it says.
    pub node: Node,
    /// The line its content begins on; the first line is 1.
    pub line: usize,
    /// Whether it is written between brackets.
    pub flow: bool,
}

/// Reads the first document as go-yaml v3 does, with aliases and merge keys put in. `None` for a text without a document.
///
/// Keys must be strings and may stand once in a map: kustomize refuses anything else when it prints.
pub fn read(text: &str) -> Result<Option<Read>, Error> {
    read_with(text, &mut Texts::default())
}

/// As [`read`], for a tree that shares its texts with all that are read with the same ones.
pub fn read_with(text: &str, texts: &mut Texts) -> Result<Option<Read>, Error> {
    let mut events = Events::new(text.as_bytes())?;
    loop {
        match events.next()?.content {
            Content::DocumentStart => break,
            Content::StreamEnd => return Ok(None),
            _ => {}
        }
    }
    let mut reader = Reader::new(texts);
    loop {
        let event = events.next()?;
        if matches!(event.content, Content::DocumentEnd | Content::StreamEnd) {
            return Ok(reader.root);
        }
        reader.event(event)?;
    }
}

/// Aliases may add so many nodes to a document, and so many bytes.
const MAX_COPIED_NODES: usize = 1_000_000;
const MAX_COPIED_BYTES: usize = 64 << 20;

struct Reader<'t> {
    texts: &'t mut Texts,
    frames: Vec<Frame>,
    /// The children of all that is open, the innermost last: a block is taken when it is known how large it must be.
    /// Elements of lists have an empty key.
    children: Vec<(Text, Node)>,
    root: Option<Read>,
    /// Whether what was closed last is written between brackets.
    flow: bool,
    anchors: HashMap<String, Node>,
    copied: Size,
}

#[derive(Clone, Copy, Default)]
struct Size {
    nodes: usize,
    bytes: usize,
    depth: usize,
}

struct Frame {
    open: Open,
    /// Whether it is written in brackets.
    flow: bool,
    /// Where its children begin.
    first: usize,
    anchor: Option<String>,
    line: usize,
}

enum Open {
    List,
    Map {
        /// The keys once there are many.
        seen: HashSet<Text>,
        slot: Slot,
        merged: Option<Node>,
    },
}

enum Slot {
    Key,
    Value(Text),
    Merge,
    /// The value of a key that is left out.
    Left,
}

/// Up to this many keys are searched one by one.
const SCAN_LIMIT: usize = 16;

impl<'t> Reader<'t> {
    fn new(texts: &'t mut Texts) -> Self {
        Reader {
            texts,
            frames: Vec::new(),
            children: Vec::new(),
            root: None,
            flow: false,
            anchors: HashMap::new(),
            copied: Size::default(),
        }
    }

    fn event(&mut self, event: events::Event<'_>) -> Result<(), Error> {
        let line = event.line;
        match event.content {
            Content::Scalar(scalar) => self.scalar(scalar, line),
            Content::Alias(name) => self.alias(&name, line),
            Content::SequenceStart { anchor, flow } => self.open(Open::List, flow, anchor, line),
            Content::MappingStart { anchor, flow } => {
                let map = Open::Map {
                    seen: HashSet::new(),
                    slot: Slot::Key,
                    merged: None,
                };
                self.open(map, flow, anchor, line)
            }
            Content::SequenceEnd | Content::MappingEnd => self.close(),
            _ => Ok(()),
        }
    }

    fn open(
        &mut self,
        open: Open,
        flow: bool,
        anchor: Option<std::borrow::Cow<'_, str>>,
        line: usize,
    ) -> Result<(), Error> {
        if self.frames.len() >= MAX_DEPTH {
            return Err(too_deep(line));
        }
        let anchor = anchor.map(String::from);
        if let Some(name) = &anchor {
            self.anchors.remove(name);
        }
        self.frames.push(Frame {
            open,
            flow,
            first: self.children.len(),
            anchor,
            line,
        });
        Ok(())
    }

    fn scalar(&mut self, source: events::Scalar<'_>, line: usize) -> Result<(), Error> {
        let flow = self.frames.last().is_some_and(|frame| frame.flow);
        let kind = match source.tag.as_deref() {
            Some(tag) => Kind::tagged(tag, &source.text),
            None if source.plain && source.text.is_empty() && flow => Kind::Void,
            None if source.plain => match Kind::of(&source.text) {
                // go-yaml v3 puts it in quotes when it writes it between brackets.
                Kind::Timestamp if flow && source.text.contains(':') => Kind::Plain,
                kind => kind,
            },
            None => Kind::Quoted,
        };
        if let Some(Frame {
            open: Open::Map { slot, merged, .. },
            ..
        }) = self.frames.last_mut()
            && matches!(slot, Slot::Key)
        {
            if source.plain && source.text == "<<" {
                if merged.is_some() {
                    return Err(Error::new(line, "duplicate merge key"));
                }
                *slot = Slot::Merge;
                return Ok(());
            }
            // In quotes it is a key like others to YAML. kyaml takes it away with those that merge, and merges nothing.
            if source.text == "<<" {
                *slot = Slot::Left;
                return Ok(());
            }
            if !kind.is_str() {
                let text = "json: unsupported type: map[interface {}]interface {}".to_owned();
                return Err(Error::unwritable(line, text));
            }
        }
        let scalar = Scalar {
            folded: source.folded,
            tagged: source
                .tag
                .is_some_and(|tag| tag.starts_with("tag:yaml.org,2002:")),
            ..Scalar::new(self.texts.get(&source.text), kind)
        };
        self.complete(Node::Scalar(scalar), source.anchor.map(String::from), line)
    }

    fn close(&mut self) -> Result<(), Error> {
        let frame = self.frames.pop().expect("events of ends follow events of starts");
        let node = match frame.open {
            Open::List => {
                let mut items = List::with_capacity(self.children.len() - frame.first);
                items.extend(self.children.drain(frame.first..).map(|(_, item)| item));
                Node::List(items)
            }
            Open::Map { seen, merged, .. } => {
                if let Some(merged) = merged {
                    merge(&mut self.children, frame.first, seen, merged, frame.line)?;
                }
                Node::Map(Map::from_entries(self.children.drain(frame.first..)))
            }
        };
        self.flow = frame.flow;
        self.complete(node, frame.anchor, frame.line)
    }

    fn complete(&mut self, node: Node, anchor: Option<String>, line: usize) -> Result<(), Error> {
        if let Some(name) = anchor {
            self.spend(size(&node), line)?;
            self.anchors.insert(name, node.clone());
        }
        self.place(node, line)
    }

    fn alias(&mut self, name: &str, line: usize) -> Result<(), Error> {
        let Some(node) = self.anchors.get(name) else {
            let inside = self
                .frames
                .iter()
                .any(|frame| frame.anchor.as_deref() == Some(name));
            let problem = match inside {
                true => Telling::endless_anchor(name),
                false => Telling::unknown_anchor(name),
            };
            return Err(Error::telling(line, problem));
        };
        let size = size(node);
        if self.frames.len() + size.depth > MAX_DEPTH {
            return Err(too_deep(line));
        }
        let node = node.clone();
        self.spend(size, line)?;
        self.place(node, line)
    }

    fn spend(&mut self, size: Size, line: usize) -> Result<(), Error> {
        self.copied.nodes += size.nodes;
        self.copied.bytes += size.bytes;
        if self.copied.nodes > MAX_COPIED_NODES || self.copied.bytes > MAX_COPIED_BYTES {
            return Err(Error::new(line, crate::aliases::EXCESSIVE));
        }
        Ok(())
    }

    /// A node goes to its place.
    fn place(&mut self, node: Node, line: usize) -> Result<(), Error> {
        let Some(frame) = self.frames.last_mut() else {
            self.root = Some(Read {
                node,
                line,
                flow: self.flow,
            });
            return Ok(());
        };
        match &mut frame.open {
            Open::List => self.children.push((Text::default(), node)),
            Open::Map { seen, slot, merged } => match std::mem::replace(slot, Slot::Key) {
                Slot::Key => {
                    let Node::Scalar(scalar) = node else {
                        let problem = format_args!("invalid map key at line {line}");
                        return Err(Error::new(line, problem));
                    };
                    *slot = Slot::Value(scalar.text);
                }
                Slot::Value(key) => {
                    if contains(&self.children[frame.first..], seen, &key) {
                        let problem = format!(
                            "unmarshal errors:\n  line {line}: mapping key {} already defined",
                            model::quote::quote(&key)
                        );
                        return Err(Error::new(line, problem));
                    }
                    self.children.push((key, node));
                }
                Slot::Merge => *merged = Some(node),
                Slot::Left => {}
            },
        }
        Ok(())
    }
}

fn contains(entries: &[(Text, Node)], seen: &mut HashSet<Text>, key: &Text) -> bool {
    if entries.len() <= SCAN_LIMIT {
        return entries.iter().any(|(other, _)| other == key);
    }
    if seen.is_empty() {
        seen.extend(entries.iter().map(|(key, _)| key.clone()));
    }
    !seen.insert(key.clone())
}

/// Adds the pairs of one or several maps whose keys are not there yet; of several the first one wins.
fn merge(
    children: &mut Vec<(Text, Node)>,
    first: usize,
    mut seen: HashSet<Text>,
    merged: Node,
    line: usize,
) -> Result<(), Error> {
    let maps = match merged {
        Node::List(items) => items,
        other => List::from([other]),
    };
    for map in maps {
        let Node::Map(map) = map else {
            return Err(Error::new(
                line,
                "map merge requires map or sequence of maps as the value",
            ));
        };
        for (key, value) in map {
            if !contains(&children[first..], &mut seen, &key) {
                children.push((key, value));
            }
        }
    }
    Ok(())
}

fn too_deep(line: usize) -> Error {
    Error::new(
        line,
        format_args!("line {line}: exceeded max depth of {MAX_DEPTH}"),
    )
}

/// How much there is in a node. It is no deeper than a document may be.
fn size(node: &Node) -> Size {
    let mut total = Size {
        nodes: 1,
        ..Size::default()
    };
    let mut add = |child: &Node, key: usize| {
        let inner = size(child);
        total.nodes += inner.nodes;
        total.bytes += inner.bytes + key + std::mem::size_of::<Node>();
        total.depth = total.depth.max(inner.depth + 1);
    };
    match node {
        Node::Scalar(scalar) => total.bytes = scalar.text.len(),
        Node::List(items) => {
            items.iter().for_each(|item| add(item, 0));
            total.depth = total.depth.max(1);
        }
        Node::Map(map) => {
            map.iter().for_each(|(key, value)| add(value, key.len()));
            total.depth = total.depth.max(1);
        }
    }
    total
}
