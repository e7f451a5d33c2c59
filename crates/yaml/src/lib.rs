//! Kubernetes YAML, read into [`Value`] as Go's `sigs.k8s.io/yaml` reads it.
//!
//! That means the rules of go-yaml v2: YAML 1.1 booleans (`yes`, `off`, `y`), octal numbers (`0777`), underscores in
//! numbers, merge keys (`<<`), keys of other types turned into strings, and its error texts
//! (`yaml: line 2: mapping values are not allowed in this context`). The values are those that come out of the JSON that
//! Go makes in between: `1.0` is the whole number 1, and numbers beyond 64 bits are floats.
//!
//! ```text
//!    text ─▶ events ─▶ build ─▶ Value
//!      │    (libyaml)    └─ resolve: what a plain word means
//!      └───▶ simple ──────────▶      what nearly everyone writes, without the detour
//! ```
//!
//! Hostile input ends early: nesting and the expansion of aliases are bounded. Start reading at [`Options`].

mod aliases;
mod build;
pub mod edit;
mod error;
mod events;
pub mod go;
mod lines;
mod locate;
pub mod node;
mod number;
mod pairs;
mod resolve;
mod show;
mod simple;
pub mod stream;
mod timestamp;
mod truth;
mod word;
mod write;

pub use error::Error;
use events::{Content, Events};
pub use lines::Lines;
pub use locate::{Step, locate, shown};
use model::Value;
use simple::Keep;
pub use truth::boolean_keys;
pub use write::write;

/// One document of a stream.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// What it says.
    pub value: Value,
    /// The line its content begins on; the first line is 1.
    pub line: usize,
}

/// How to read. The default is what Go does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// What to do when a key stands twice in a map.
    pub duplicates: Duplicates,
    /// The order of the keys of a map.
    pub order: Order,
}

/// What to do when a key stands twice in a map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// The last one wins.
    #[default]
    LastWins,
    /// All of them are reported as one error.
    Refuse,
}

/// The order of the keys of a map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Sorted, as in what is read from JSON.
    #[default]
    Sorted,
    /// As they were written.
    Kept,
}

/// Reads the first document; what follows it is not looked at, as in Go. A text without a document is `null`.
pub fn parse(text: &[u8]) -> Result<Value, Error> {
    Options::default().parse(text)
}

/// As [`parse`], but of the map that the document is only these fields are kept; all of it is checked. Much quicker than reading everything.
pub fn parse_fields(text: &[u8], fields: &[&str]) -> Result<Value, Error> {
    if let Some((value, _)) = simple::read(text, Keep::Fields(fields)) {
        return Ok(value);
    }
    let mut value = Options::default()
        .through_events(text)
        .next()
        .transpose()?
        .map(|document| document.value);
    if let Some(Value::Object(map)) = &mut value {
        map.retain(|key, _| fields.contains(&key));
    }
    Ok(value.unwrap_or(Value::Null))
}

/// As [`parse`], but keys that stand twice are an error.
pub fn parse_strict(text: &[u8]) -> Result<Value, Error> {
    Options {
        duplicates: Duplicates::Refuse,
        ..Options::default()
    }
    .parse(text)
}

/// Reads the documents of a stream one after the other. After a mistake in the syntax there are no more.
pub fn documents(text: &str) -> Documents<'_> {
    Options::default().documents(text)
}

impl Options {
    /// Reads the first document; see [`parse`].
    pub fn parse(self, text: &[u8]) -> Result<Value, Error> {
        let first = self.stream(text).next().transpose()?;
        Ok(first.map_or(Value::Null, |document| document.value))
    }

    /// Reads the documents of a stream; see [`documents`].
    pub fn documents(self, text: &str) -> Documents<'_> {
        self.stream(text.as_bytes())
    }

    /// For what is known not to be simple.
    fn through_events(self, text: &[u8]) -> Documents<'_> {
        Documents {
            options: self,
            state: State::Unread(text),
        }
    }

    fn stream(self, text: &[u8]) -> Documents<'_> {
        Documents {
            options: self,
            state: State::Start(text),
        }
    }
}

/// The documents of a stream, as an iterator.
pub struct Documents<'a> {
    options: Options,
    state: State<'a>,
}

enum State<'a> {
    Start(&'a [u8]),
    /// What is not so simple that libyaml is not needed.
    Unread(&'a [u8]),
    Running(Events<'a>),
    Done,
}

impl Iterator for Documents<'_> {
    type Item = Result<Document, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut events = match std::mem::replace(&mut self.state, State::Done) {
            State::Start(text) if self.options == Options::default() => {
                if let Some((value, line)) = simple::read(text, Keep::All) {
                    return Some(Ok(Document { value, line }));
                }
                self.state = State::Unread(text);
                return self.next();
            }
            State::Start(text) | State::Unread(text) => match Events::new(text) {
                Ok(events) => events,
                Err(error) => return Some(Err(error)),
            },
            State::Running(events) => events,
            State::Done => return None,
        };
        loop {
            match events.next() {
                Ok(event) => match event.content {
                    Content::DocumentStart => break,
                    Content::StreamEnd => return None,
                    _ => {}
                },
                Err(error) => return Some(Err(error)),
            }
        }
        match build::document(&mut events, self.options) {
            Ok(document) => {
                self.state = State::Running(events);
                Some(Ok(document))
            }
            Err(build::Failure::Content(error)) => {
                self.state = State::Running(events);
                Some(Err(error))
            }
            Err(build::Failure::Syntax(error)) => Some(Err(error)),
        }
    }
}
