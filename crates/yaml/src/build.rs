//! Makes one document of events, with a stack of its own instead of recursion.

use model::json::MAX_DEPTH;
use model::quote::quote;
use model::{Map, Value};

use crate::aliases::{Aliases, Spent};
use crate::error::Telling;
use crate::events::{self, Events};
use crate::pairs::Pairs;
use crate::resolve::{Scalar, is_merge, resolve};
use crate::show::show;
use crate::{Document, Error, Options};

/// Why there is no document.
pub(crate) enum Failure {
    /// The text is no YAML, or is not read to its end.
    Syntax(Error),
    /// The document means nothing that can be an object; the stream is at the end of the document.
    Content(Error),
}

/// Reads the document whose start was just read.
pub(crate) fn document(events: &mut Events<'_>, options: Options) -> Result<Document, Failure> {
    let mut builder = Builder::new(options);
    let mut failed = None;
    loop {
        let event = events.next().map_err(Failure::Syntax)?;
        if matches!(
            event.content,
            events::Content::DocumentEnd | events::Content::StreamEnd
        ) {
            return failed
                .map_or_else(|| builder.finish(), Err)
                .map_err(Failure::Content);
        }
        // After a mistake in the content go on reading: go-yaml would first find mistakes in the syntax.
        if failed.is_none() {
            match builder.event(event) {
                Ok(()) => {}
                Err(Stop::AtEnd(error)) => failed = Some(error),
                Err(Stop::AtOnce(error)) => return Err(Failure::Syntax(error)),
            }
        }
    }
}

enum Stop {
    /// What go-yaml finds after it has read all of the document.
    AtEnd(Error),
    /// What it finds before it reads on.
    AtOnce(Error),
}

fn at_end(line: usize, problem: impl std::fmt::Display) -> Stop {
    Stop::AtEnd(Error::new(line, problem))
}

/// The same about something that may be a secret.
fn telling_at_end(line: usize, problem: Telling) -> Stop {
    Stop::AtEnd(Error::telling(line, problem))
}

/// A node that is complete.
struct Node {
    content: Content,
    line: usize,
    /// How deeply it is nested inside.
    height: usize,
    is_alias: bool,
}

/// What a node holds. Scalars are kept as they are as long as they may yet become keys.
#[derive(Clone)]
pub(crate) enum Content {
    Scalar(Scalar),
    Tree(Value),
}

/// A list or map that is open.
struct Frame {
    container: Container,
    anchor: Option<String>,
    line: usize,
    height: usize,
    /// What had been spent when it began.
    before: Spent,
}

enum Container {
    List { items: Vec<Value>, mergeable: bool },
    Map { pairs: Pairs, slot: Slot },
}

/// What the next node in a map is.
enum Slot {
    Key,
    Value(Scalar),
    Merge,
}

struct Builder {
    options: Options,
    frames: Vec<Frame>,
    root: Option<(Value, usize)>,
    aliases: Aliases,
    duplicates: Vec<String>,
    first_duplicate: usize,
    /// The first thing that JSON has no form for. Go finds it when all else is right.
    unwritable: Option<Error>,
}

impl Builder {
    fn new(options: Options) -> Self {
        let mut aliases = Aliases::default();
        // go-yaml counts the document as a node of its own.
        aliases.spend(0);
        Builder {
            options,
            frames: Vec::new(),
            root: None,
            aliases,
            duplicates: Vec::new(),
            first_duplicate: 0,
            unwritable: None,
        }
    }

    fn finish(self) -> Result<Document, Error> {
        if !self.duplicates.is_empty() {
            let all = self.duplicates.join("\n  ");
            return Err(Error::new(
                self.first_duplicate,
                format_args!("unmarshal errors:\n  {all}"),
            ));
        }
        let (value, line) = self.root.unwrap_or((Value::Null, 1));
        self.unwritable.map_or(Ok(Document { value, line }), Err)
    }

    fn event(&mut self, event: events::Event<'_>) -> Result<(), Stop> {
        use events::Content::{
            Alias, DocumentEnd, DocumentStart, MappingEnd, MappingStart, Scalar, SequenceEnd, SequenceStart,
            StreamEnd, StreamStart,
        };
        let line = event.line;
        match event.content {
            Scalar(scalar) => self.scalar(scalar, line),
            Alias(name) => self.alias(&name, line),
            SequenceStart { anchor, .. } => {
                let mergeable = matches!(self.slot(), Some(Slot::Merge));
                self.open(
                    Container::List {
                        items: Vec::new(),
                        mergeable,
                    },
                    anchor.map(String::from),
                    line,
                )
            }
            MappingStart { anchor, .. } => {
                let pairs = Pairs::new(self.options);
                self.open(
                    Container::Map {
                        pairs,
                        slot: Slot::Key,
                    },
                    anchor.map(String::from),
                    line,
                )
            }
            SequenceEnd | MappingEnd => self.close(),
            StreamStart | StreamEnd | DocumentStart | DocumentEnd => Ok(()),
        }
    }

    fn slot(&mut self) -> Option<&mut Slot> {
        match &mut self.frames.last_mut()?.container {
            Container::Map { slot, .. } => Some(slot),
            Container::List { .. } => None,
        }
    }

    fn scalar(&mut self, source: events::Scalar<'_>, line: usize) -> Result<(), Stop> {
        if is_merge(&source)
            && let Some(slot @ Slot::Key) = self.slot()
        {
            *slot = Slot::Merge;
            return Ok(());
        }
        let before = self.aliases.spend(source.text.len());
        let content = Content::Scalar(resolve(&source).map_err(|problem| telling_at_end(line, problem))?);
        let anchor = source.anchor.map(String::from);
        self.complete(
            Node {
                content,
                line,
                height: 0,
                is_alias: false,
            },
            anchor,
            before,
        )
    }

    fn open(&mut self, container: Container, anchor: Option<String>, line: usize) -> Result<(), Stop> {
        self.check_depth(1, line)?;
        let before = self.aliases.spend(0);
        if let Some(name) = &anchor {
            self.aliases.forget(name);
        }
        self.frames.push(Frame {
            container,
            anchor,
            line,
            height: 0,
            before,
        });
        Ok(())
    }

    fn close(&mut self) -> Result<(), Stop> {
        let frame = self.frames.pop().expect("events of ends follow events of starts");
        let content = Content::Tree(match frame.container {
            Container::List { items, .. } => Value::from(items),
            Container::Map { pairs, .. } => Value::Object(pairs.finish()),
        });
        let node = Node {
            content,
            line: frame.line,
            height: frame.height + 1,
            is_alias: false,
        };
        self.complete(node, frame.anchor, frame.before)
    }

    fn complete(&mut self, node: Node, anchor: Option<String>, before: Spent) -> Result<(), Stop> {
        if let Some(name) = anchor {
            let kept = self.aliases.remember(name, &node.content, node.height, before);
            kept.map_err(|problem| at_end(node.line, problem))?;
        }
        self.place(node)
    }

    fn alias(&mut self, name: &str, line: usize) -> Result<(), Stop> {
        if self
            .frames
            .iter()
            .any(|frame| frame.anchor.as_deref() == Some(name))
            && self.aliases.height(name).is_none()
        {
            return Err(telling_at_end(line, Telling::endless_anchor(name)));
        }
        let height = self.aliases.height(name).unwrap_or(0);
        self.check_depth(height, line)?;
        match self.aliases.expand(name) {
            Some(Ok(content)) => self.place(Node {
                content,
                line,
                height,
                is_alias: true,
            }),
            Some(Err(problem)) => Err(at_end(line, problem)),
            None => {
                let problem = Telling::unknown_anchor(name);
                Err(Stop::AtOnce(Error::telling(line, problem)))
            }
        }
    }

    fn check_depth(&self, more: usize, line: usize) -> Result<(), Stop> {
        if self.frames.len() + more <= MAX_DEPTH {
            return Ok(());
        }
        let problem = format_args!("line {line}: exceeded max depth of {MAX_DEPTH}");
        Err(Stop::AtOnce(Error::new(line, problem)))
    }

    /// A node goes to its place.
    fn place(&mut self, node: Node) -> Result<(), Stop> {
        let (line, is_alias) = (node.line, node.is_alias);
        if let Some(slot @ Slot::Key) = self.slot() {
            *slot = match node.content {
                Content::Scalar(key) => Slot::Value(key),
                Content::Tree(value) => {
                    let problem = Telling {
                        go: format!("invalid map key: {}", show(&value)),
                        masked: "invalid map key: put quotes around a value that begins with '{' or '['",
                    };
                    return Err(telling_at_end(line, problem));
                }
            };
            return Ok(());
        }
        let is_map = matches!(node.content, Content::Tree(Value::Object(_)));
        let (value, problem) = match node.content {
            Content::Tree(value) => (value, None),
            Content::Scalar(scalar) => scalar.into_value(),
        };
        if let Some(problem) = problem {
            self.unwritable
                .get_or_insert_with(|| Error::unwritable(line, problem.to_owned()));
        }
        let Some(frame) = self.frames.last_mut() else {
            self.root = Some((value, line));
            return Ok(());
        };
        frame.height = frame.height.max(node.height);
        let repeated = match &mut frame.container {
            // A list of maps to be merged may hold maps and aliases of maps alone.
            Container::List { mergeable: true, .. } if !is_map => return Err(at_end(line, NOT_MERGEABLE)),
            Container::List { items, .. } => {
                items.push(value);
                return Ok(());
            }
            Container::Map { pairs, slot } => match std::mem::replace(slot, Slot::Key) {
                Slot::Value(key) => match key.as_key() {
                    Some(text) => pairs
                        .set(text, value)
                        .map(|text| shown(&key, &text))
                        .into_iter()
                        .collect(),
                    None => {
                        self.unwritable
                            .get_or_insert_with(|| unsupported_key(&key, &value, line));
                        return Ok(());
                    }
                },
                _ => merge(pairs, value, is_alias).ok_or_else(|| at_end(line, NOT_MERGEABLE))?,
            },
        };
        self.repeated(&repeated, line);
        Ok(())
    }

    /// Keys that stood in their map before.
    fn repeated(&mut self, keys: &[String], line: usize) {
        if self.duplicates.is_empty() {
            self.first_duplicate = line;
        }
        let told = keys
            .iter()
            .map(|key| format!("line {line}: key {key} already set in map"));
        self.duplicates.extend(told);
    }
}

const NOT_MERGEABLE: &str = "map merge requires map or sequence of maps as the value";

/// Sets the pairs of one or several maps; of several the first one wins. Returns the keys that were there before and may
/// not be again; `None` if there is anything but maps. As in go-yaml v2, a merge counts where it stands: it overrides
/// what is above it.
fn merge(pairs: &mut Pairs, value: Value, is_alias: bool) -> Option<Vec<String>> {
    let as_map = |item| match item {
        Value::Object(map) => Some(map),
        _ => None,
    };
    let maps: Vec<Map> = match value {
        Value::Array(items) if !is_alias => items.into_iter().rev().map(as_map).collect::<Option<_>>()?,
        other => vec![as_map(other)?],
    };
    let repeated = maps
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| pairs.set(key, value));
    Some(repeated.map(|key| quote(&key)).collect())
}

/// A key as Go shows it: strings in quotes, all else plain.
fn shown(key: &Scalar, text: &str) -> String {
    if let Scalar::Str(_) = key {
        quote(text)
    } else {
        text.to_owned()
    }
}

fn unsupported_key(key: &Scalar, value: &Value, line: usize) -> Error {
    let value = if value.is_null() {
        "<nil>".to_owned()
    } else {
        show(value)
    };
    let key = match key {
        Scalar::Uint(number) => format!("uint64, key: {number:#x}"),
        _ => "%!s(<nil>), key: <nil>".to_owned(),
    };
    let problem = format!("unsupported map key of type: {key}");
    Error::unwritable_value(line, format!("{problem}, value: {value}"), problem)
}
