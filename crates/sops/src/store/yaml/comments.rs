//! Finds the comments of a text: they stand between the events.

use yaml::stream::{Content, Event, Position};

/// A comment and where it stands.
pub(super) struct Found {
    /// What follows the sign.
    pub(super) text: String,
    pub(super) column: usize,
    /// Whether something else stands before it on its line.
    pub(super) behind: bool,
}

/// Goes through a text along with its events.
pub(super) struct Comments<'a> {
    lines: Vec<&'a str>,
    at: Position,
    /// A comment in the first line of a block scalar, which belongs behind it.
    header: Option<Found>,
}

impl<'a> Comments<'a> {
    pub(super) fn new(text: &'a str) -> Comments<'a> {
        Comments {
            lines: text.split('\n').collect(),
            at: Position::default(),
            header: None,
        }
    }

    /// The comments between what was before and this event.
    pub(super) fn before(&mut self, event: &Event) -> Vec<Found> {
        let mut found: Vec<Found> = self.header.take().into_iter().collect();
        if event.start > self.at {
            for line in self.at.line..=event.start.line {
                let Some(text) = self.lines.get(line) else { break };
                let from = if line == self.at.line { self.at.column } else { 0 };
                let to = if line == event.start.line {
                    event.start.column
                } else {
                    usize::MAX
                };
                found.extend(in_line(text, from, to));
            }
            self.at = event.start;
        }
        let covers = matches!(event.content, Content::Scalar { .. } | Content::Alias(_));
        if covers && event.end > self.at {
            self.header = self.in_header(event);
            self.at = event.end;
        }
        found
    }

    fn in_header(&self, event: &Event) -> Option<Found> {
        let line = self.lines.get(event.start.line)?;
        let sign = line.chars().nth(event.start.column)?;
        let is_block = matches!(sign, '|' | '>') && event.end.line > event.start.line;
        is_block.then(|| in_line(line, event.start.column, usize::MAX))?
    }
}

/// The comment that begins between two columns of a line.
fn in_line(line: &str, from: usize, to: usize) -> Option<Found> {
    let line = line.strip_suffix('\r').unwrap_or(line);
    let mut blank = from == 0;
    let mut only_blanks = true;
    for (column, (at, character)) in line.char_indices().enumerate() {
        if column >= to {
            return None;
        }
        let is_blank = matches!(character, ' ' | '\t');
        if column >= from && character == '#' && blank {
            return Some(Found {
                text: line[at + 1..].to_owned(),
                column,
                behind: !only_blanks,
            });
        }
        blank = is_blank;
        only_blanks &= is_blank;
    }
    None
}
