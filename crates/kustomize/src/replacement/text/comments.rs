//! The comments of a text, and what they are about.
//!
//! A comment at the end of a line is about what ends there. Lines of comments are about what follows, unless a blank line
//! follows and none stands before, or what follows is less indented than they are: then they are about what stands before.

use yaml::stream::{Content, Event};

use super::{Body, Item};

/// A line that is nothing but a comment.
#[derive(Debug)]
struct Line {
    number: usize,
    column: usize,
    text: String,
}

/// The comments of a text that are not taken yet.
#[derive(Debug, Default)]
pub(super) struct Found {
    lines: std::collections::VecDeque<Line>,
    ends: std::collections::BTreeMap<usize, String>,
    /// The next line with something else than a comment on it, for each line.
    contents: Vec<usize>,
    /// How far the content on a line is indented, for each line.
    columns: Vec<usize>,
}

impl Found {
    pub(super) fn new(lines: &[&str], events: &[Event]) -> Found {
        // The letters up to which something of the document stands on each line.
        let mut covered = vec![0; lines.len()];
        for event in events {
            let covers = matches!(event.content, Content::Scalar { .. } | Content::Alias(_));
            if !covers {
                continue;
            }
            let last = event.end.line.min(lines.len().saturating_sub(1));
            for line in event.start.line..last {
                let is_mark = line == event.start.line
                    && lines[line]
                        .chars()
                        .skip(event.start.column)
                        .any(|letter| matches!(letter, '|' | '>'));
                covered[line] = if is_mark {
                    event.start.column + 1
                } else {
                    usize::MAX
                };
            }
            if covered[last] != usize::MAX && event.end.column > 0 {
                covered[last] = covered[last].max(event.end.column);
            }
        }
        let mut found = Found::default();
        for (number, line) in lines.iter().enumerate() {
            let indent = line.chars().take_while(|letter| *letter == ' ').count();
            found.columns.push(indent);
            let comment = comment_of(line, covered[number]);
            match comment {
                Some(text) if line.trim_start().starts_with('#') => found.lines.push_back(Line {
                    number,
                    column: indent,
                    text,
                }),
                Some(text) => drop(found.ends.insert(number, text)),
                None => {}
            }
            let is_comment = line.trim_start().starts_with('#') && covered[number] == 0;
            if !is_comment && !line.trim().is_empty() {
                found.contents.push(number);
            }
        }
        found
    }

    pub(super) fn at_end_of(&mut self, line: usize) -> Option<String> {
        self.ends.remove(&line)
    }

    /// Comments before everything that have a blank line after them.
    pub(super) fn document_head(&mut self, first: usize) -> Vec<String> {
        let count = self.lines.iter().take_while(|line| line.number < first).count();
        // The last blank line parts what is about the document from what is about its first field.
        let at = (1..=count).rev().find(|at| {
            let after = match self.lines.get(*at).filter(|_| *at < count) {
                Some(next) => next.number,
                None => first,
            };
            after > self.lines[at - 1].number + 1
        });
        self.take(at.unwrap_or(0))
    }

    /// The comments that are about what begins at a place.
    pub(super) fn before(&mut self, line: usize) -> Vec<String> {
        let count = self
            .lines
            .iter()
            .take_while(|comment| comment.number < line)
            .count();
        self.take(count)
    }

    /// The comments that are about what was just read, and not about what begins on the line `next`.
    pub(super) fn below(&mut self, next: usize) -> Vec<String> {
        let Some(first) = self.lines.front().filter(|first| first.number < next) else {
            return Vec::new();
        };
        let (first, column) = (first.number, first.column);
        let before = self.contents.iter().rev().find(|line| **line < first).copied();
        let next = self.contents.iter().find(|line| **line > first).copied();
        let indent = before.map_or(0, |line| self.columns[line]);
        // Comments in a row, without a blank line between them.
        let run = (self.lines.iter().enumerate())
            .take_while(|(at, line)| line.number == first + at && line.column == column)
            .count();
        let end = first + run;
        let blank_follows = next.is_none_or(|next| next > end);
        let touches = before.is_some_and(|before| before + 1 == first);
        let dedents = next.is_some_and(|next| next == end && self.columns[next] < column.min(indent));
        match touches && blank_follows && column >= indent || dedents {
            true => self.take(run),
            false => Vec::new(),
        }
    }

    /// What is left at the end: it is about the last thing, if it follows it at once, or else about the document.
    pub(super) fn rest(&mut self, root: &mut Item) -> Vec<String> {
        let touches = match (self.lines.front(), self.contents.last()) {
            (Some(first), Some(last)) => first.number == last + 1,
            _ => false,
        };
        let all = self.take(self.lines.len());
        match last(root).filter(|_| touches) {
            Some(last) => {
                last.comments.foot.extend(all);
                Vec::new()
            }
            None => all,
        }
    }

    /// The next comments, with empty lines for blank ones between them.
    fn take(&mut self, count: usize) -> Vec<String> {
        let mut taken = Vec::new();
        let mut last = None;
        for line in self.lines.drain(..count) {
            if last.is_some_and(|last| line.number > last + 1) {
                taken.push(String::new());
            }
            last = Some(line.number);
            taken.push(line.text);
        }
        taken
    }
}

/// The last field, or the last element of the list that it has.
fn last(item: &mut Item) -> Option<&mut Item> {
    match &mut item.body {
        Body::Map { pairs, flow: false } => {
            let (key, value) = pairs.last_mut()?;
            match &value.body {
                Body::List { items, flow: false } if !items.is_empty() => last(value),
                _ => Some(key),
            }
        }
        Body::List { items, flow: false } => {
            let item = items.last_mut()?;
            match &item.body {
                Body::Map { pairs, flow: false } if !pairs.is_empty() => last(item),
                _ => Some(item),
            }
        }
        _ => None,
    }
}

/// The comment of a line, if one begins after so many letters.
fn comment_of(line: &str, covered: usize) -> Option<String> {
    let mut before = ' ';
    for (number, (at, letter)) in line.char_indices().enumerate() {
        if letter == '#' && number >= covered && matches!(before, ' ' | '\t') {
            return Some(line[at..].trim_end_matches('\r').to_owned());
        }
        before = letter;
    }
    None
}
