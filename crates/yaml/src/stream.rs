//! What a text consists of, with the places of everything, for readers that make trees of their own: those that need
//! comments find them between the events.

use crate::Error;
pub use crate::events::Position;
use crate::events::{self, Events};
use crate::node::{Kind, Scalar};

/// One event.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Where it begins. An end without a sign of its own begins and ends where the next thing begins.
    pub start: Position,
    /// Where it ends.
    pub end: Position,
    /// What it is.
    pub content: Content,
}

/// What an event is.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// A document begins.
    DocumentStart,
    /// A document ends.
    DocumentEnd,
    /// The node with this anchor once more.
    Alias(String),
    /// A scalar.
    Scalar {
        /// Its anchor.
        anchor: Option<String>,
        /// What it says, by go-yaml v3's rules.
        scalar: Scalar,
    },
    /// A list begins.
    SequenceStart {
        /// Its anchor.
        anchor: Option<String>,
    },
    /// A list ends.
    SequenceEnd,
    /// A map begins.
    MappingStart {
        /// Its anchor.
        anchor: Option<String>,
    },
    /// A map ends.
    MappingEnd,
}

/// All events of a text, in order.
pub fn events(text: &str) -> Result<Vec<Event>, Error> {
    let mut source = Events::new(text.as_bytes())?;
    let mut found = Vec::new();
    loop {
        let event = source.next()?;
        let content = match event.content {
            events::Content::StreamStart => continue,
            events::Content::StreamEnd => return Ok(found),
            events::Content::DocumentStart => Content::DocumentStart,
            events::Content::DocumentEnd => Content::DocumentEnd,
            events::Content::Alias(name) => Content::Alias(name.into_owned()),
            events::Content::Scalar(source) => scalar(source),
            events::Content::SequenceStart { anchor, .. } => Content::SequenceStart {
                anchor: anchor.map(String::from),
            },
            events::Content::SequenceEnd => Content::SequenceEnd,
            events::Content::MappingStart { anchor, .. } => Content::MappingStart {
                anchor: anchor.map(String::from),
            },
            events::Content::MappingEnd => Content::MappingEnd,
        };
        found.push(Event {
            start: event.start,
            end: event.end,
            content,
        });
    }
}

fn scalar(source: events::Scalar<'_>) -> Content {
    let kind = match source.tag.as_deref() {
        Some(tag) => Kind::tagged(tag, &source.text),
        None if source.plain => Kind::of(&source.text),
        None => Kind::Quoted,
    };
    Content::Scalar {
        anchor: source.anchor.map(String::from),
        scalar: Scalar::new(source.text.as_ref(), kind),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_has_its_place() {
        let found = events("a:\n  - é: 1 # c\n").unwrap();
        let place = |line, column| Position { line, column };
        let scalars: Vec<_> = found
            .iter()
            .filter_map(|event| match &event.content {
                Content::Scalar { scalar, .. } => Some((scalar.text.as_str(), event.start, event.end)),
                _ => None,
            })
            .collect();
        let wanted = [
            ("a", place(0, 0), place(0, 1)),
            ("é", place(1, 4), place(1, 5)),
            ("1", place(1, 7), place(1, 8)),
        ];
        assert_eq!(scalars, wanted);
        assert_eq!(
            found.last().map(|event| &event.content),
            Some(&Content::DocumentEnd)
        );
    }
}
