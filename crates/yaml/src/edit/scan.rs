//! Finding the scalars of a text.

use std::ops::Range;

use super::{Scalar, Style, comment};
use crate::events::{self, Content, Events};
use crate::{Error, Step};

/// The scalars of all documents.
pub(super) fn scalars(text: &str) -> Result<Vec<Scalar<'_>>, Error> {
    let (mark, content) = match text.strip_prefix('\u{feff}') {
        Some(content) => (text.len() - content.len(), content),
        None => (0, text),
    };
    let mut events = Events::new(text.as_bytes())?;
    let mut scan = Scan {
        text,
        mark,
        documents: 0,
        frames: Vec::new(),
        found: Vec::new(),
    };
    if content.is_empty() {
        return Ok(scan.found);
    }
    loop {
        let event = events.next()?;
        let span = event.span.start + scan.mark..event.span.end + scan.mark;
        let line = event.line;
        match event.content {
            Content::StreamEnd => return Ok(scan.found),
            Content::DocumentStart => scan.documents += 1,
            Content::Scalar(scalar) => scan.scalar(scalar, span, line),
            Content::Alias(_) => scan.next(None),
            Content::SequenceStart { .. } => scan.open(Inside::List(0), &span, line)?,
            Content::MappingStart { .. } => scan.open(Inside::Map(None), &span, line)?,
            Content::SequenceEnd | Content::MappingEnd => {
                scan.frames.pop();
                scan.next(None);
            }
            Content::StreamStart | Content::DocumentEnd => {}
        }
    }
}

struct Scan<'t> {
    text: &'t str,
    /// The length of the byte order mark at the start, which the places of events leave out.
    mark: usize,
    documents: usize,
    frames: Vec<Frame>,
    found: Vec<Scalar<'t>>,
}

/// A list or map that is open.
struct Frame {
    inside: Inside,
    flow: bool,
    /// Whether it is part of a key.
    in_key: bool,
}

enum Inside {
    /// The number of the element that comes next.
    List(usize),
    /// The key whose value comes next; `None` if a key does.
    Map(Option<String>),
}

impl<'t> Scan<'t> {
    fn open(&mut self, inside: Inside, span: &Range<usize>, line: usize) -> Result<(), Error> {
        let limit = model::json::MAX_DEPTH;
        if self.frames.len() >= limit {
            let problem = format_args!("line {line}: exceeded max depth of {limit}");
            return Err(Error::new(line, problem));
        }
        let start = after_anchor(self.text, span);
        let bracket = start < span.end && self.text[start..].starts_with(['[', '{']);
        let flow = bracket || self.frames.last().is_some_and(|above| above.flow);
        let in_key = self.is_key() || self.frames.last().is_some_and(|above| above.in_key);
        self.frames.push(Frame { inside, flow, in_key });
        Ok(())
    }

    /// Whether a key comes next.
    fn is_key(&self) -> bool {
        let last = self.frames.last();
        last.is_some_and(|frame| matches!(frame.inside, Inside::Map(None)))
    }

    /// Goes on to what follows a node, which is a key of this name if one came next.
    fn next(&mut self, key: Option<&str>) {
        match self.frames.last_mut().map(|frame| &mut frame.inside) {
            Some(Inside::List(number)) => *number += 1,
            Some(Inside::Map(slot @ None)) => *slot = Some(key.unwrap_or_default().to_owned()),
            Some(Inside::Map(slot)) => *slot = None,
            None => {}
        }
    }

    fn scalar(&mut self, scalar: events::Scalar<'_>, span: Range<usize>, line: usize) {
        let frame = self.frames.last();
        if !self.is_key() && !frame.is_some_and(|frame| frame.in_key) {
            let start = after_anchor(self.text, &span);
            let range = start..span.end;
            let style = style(&self.text[range.clone()], scalar.tag.is_some());
            let is_item = frame.is_some_and(|frame| matches!(frame.inside, Inside::List(_)) && !frame.flow);
            self.found.push(Scalar {
                document: self.documents - 1,
                path: self.path(),
                value: scalar.text.clone().into_owned(),
                style,
                line: line + count_lines(&self.text[span.start..start]),
                comment: match style {
                    Style::Block => None,
                    _ => comment::after(self.text, range.end),
                },
                above: is_item.then(|| comment::above(self.text, range.start)).flatten(),
                flow: frame.is_some_and(|frame| frame.flow),
                range,
            });
        }
        self.next(Some(&scalar.text));
    }

    fn path(&self) -> Vec<Step> {
        let steps = self.frames.iter().map(|frame| match &frame.inside {
            Inside::List(number) => Step::Item(*number),
            Inside::Map(key) => Step::Key(key.clone().unwrap_or_default()),
        });
        steps.collect()
    }
}

fn count_lines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

fn style(written: &str, tagged: bool) -> Style {
    match written.bytes().next() {
        _ if tagged => Style::Tagged,
        None => Style::Empty,
        Some(b'\'') => Style::SingleQuoted,
        Some(b'"') => Style::DoubleQuoted,
        Some(b'|' | b'>') => Style::Block,
        Some(_) => Style::Plain,
    }
}

/// Where a node begins whose span may begin with an anchor; the end of the span where nothing follows.
fn after_anchor(text: &str, span: &Range<usize>) -> usize {
    let node = &text[span.clone()];
    if !node.starts_with('&') {
        return span.start;
    }
    let name = node[1..]
        .find(|letter: char| !letter.is_ascii_alphanumeric() && !matches!(letter, '-' | '_'))
        .map_or(node.len(), |end| end + 1);
    let mut rest = node[name..].trim_start();
    // Between an anchor and its node there may be comments.
    while rest.starts_with('#') {
        rest = rest.find('\n').map_or("", |end| &rest[end..]).trim_start();
    }
    span.end - rest.len()
}
