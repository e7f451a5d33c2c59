//! Where in a text something stands, so that a complaint about a field can name its line.

use crate::events::{Content, Events};

/// One step from a value to one inside of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The value of a key.
    Key(String),
    /// An element of a list, counted from 0.
    Item(usize),
}

/// A way as people write it: `spec.containers[0].image`.
pub fn shown(path: &[Step]) -> String {
    let mut out = String::new();
    for step in path {
        match step {
            Step::Item(index) => out.push_str(&format!("[{index}]")),
            Step::Key(key) if key.is_empty() || key.contains(['.', '[', ' ', '"']) => {
                out.push_str(&format!("[{key:?}]"));
            }
            Step::Key(key) => {
                if !out.is_empty() {
                    out.push('.');
                }
                out.push_str(key);
            }
        }
    }
    out
}

/// The line of what `path` leads to in the document number `document` (from 0) of `text`, or of the nearest thing above it
/// that is there. `None` where there is no such document. Keys are compared as they are written.
pub fn locate(text: &[u8], document: usize, path: &[Step]) -> Option<usize> {
    let mut events = Events::new(text).ok()?;
    let mut seen = 0;
    loop {
        match events.next().ok()?.content {
            Content::DocumentStart if seen == document => break,
            Content::DocumentStart => seen += 1,
            Content::StreamEnd => return None,
            _ => {}
        }
    }
    let mut search = Search {
        path,
        frames: Vec::new(),
        best: None,
    };
    while let Ok(event) = events.next() {
        let line = event.line;
        match event.content {
            Content::DocumentEnd | Content::StreamEnd => break,
            Content::Scalar(scalar) => drop(search.node(line, Some(&scalar.text))),
            Content::Alias(_) => drop(search.node(line, None)),
            Content::MappingStart { .. } => search.open(
                line,
                Inside::Map {
                    key: true,
                    hit: false,
                },
            ),
            Content::SequenceStart { .. } => search.open(line, Inside::List { next: 0 }),
            Content::MappingEnd | Content::SequenceEnd => drop(search.frames.pop()),
            Content::StreamStart | Content::DocumentStart => {}
        }
    }
    search.best
}

struct Search<'p> {
    path: &'p [Step],
    frames: Vec<Frame>,
    best: Option<usize>,
}

/// A list or map that is open.
struct Frame {
    /// Whether the path leads through it.
    on_path: bool,
    inside: Inside,
}

enum Inside {
    Map {
        /// Whether the next node is a key.
        key: bool,
        /// Whether the last key was the one on the path.
        hit: bool,
    },
    List {
        next: usize,
    },
}

impl Search<'_> {
    fn open(&mut self, line: usize, inside: Inside) {
        let on_path = self.node(line, None);
        self.frames.push(Frame { on_path, inside });
    }

    /// Takes note of a node that begins; tells whether the path leads through it.
    fn node(&mut self, line: usize, text: Option<&str>) -> bool {
        let depth = self.frames.len();
        let Some(frame) = self.frames.last_mut() else {
            self.best.get_or_insert(line);
            return true;
        };
        let step = self.path.get(depth - 1).filter(|_| frame.on_path);
        match &mut frame.inside {
            Inside::Map { key: true, hit } => {
                *hit = matches!((step, text), (Some(Step::Key(wanted)), Some(found)) if wanted == found);
                if *hit {
                    self.best = Some(line);
                }
                frame.inside = Inside::Map {
                    key: false,
                    hit: *hit,
                };
                false
            }
            Inside::Map { key, hit } => {
                *key = true;
                *hit
            }
            Inside::List { next } => {
                let found = step == Some(&Step::Item(*next));
                *next += 1;
                if found {
                    self.best = Some(line);
                }
                found
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# first\na: 1\n---\nkind: List\nitems:\n- name: x\n  ports: [80,\n    443]\n- name: y\n  env:\n    a.b/c: 1\n    ? {odd: key}\n    : {name: no}\n    name: n\n";

    fn line(document: usize, path: &[Step]) -> Option<usize> {
        locate(TEXT.as_bytes(), document, path)
    }

    fn key(name: &str) -> Step {
        Step::Key(name.into())
    }

    #[test]
    fn a_field_is_found_in_its_document() {
        assert_eq!(line(0, &[key("a")]), Some(2));
        assert_eq!(line(1, &[key("kind")]), Some(4));
        assert_eq!(
            line(1, &[key("items"), Step::Item(1), key("env"), key("a.b/c")]),
            Some(11)
        );
        assert_eq!(
            line(1, &[key("items"), Step::Item(1), key("env"), key("name")]),
            Some(14)
        );
        assert_eq!(
            line(1, &[key("items"), Step::Item(0), key("ports"), Step::Item(1)]),
            Some(8)
        );
    }

    #[test]
    fn the_nearest_thing_above_stands_in_for_what_is_missing() {
        assert_eq!(line(1, &[]), Some(4));
        assert_eq!(line(1, &[key("spec")]), Some(4));
        assert_eq!(
            line(1, &[key("items"), Step::Item(1), key("spec"), key("x")]),
            Some(9)
        );
        assert_eq!(line(1, &[key("items"), Step::Item(7)]), Some(5));
        assert_eq!(line(2, &[]), None);
    }

    #[test]
    fn a_broken_text_is_searched_as_far_as_it_can_be_read() {
        assert_eq!(locate(b"a: 1\nb: [", 0, &[key("a")]), Some(1));
        assert_eq!(locate(b"", 0, &[]), None);
    }
}
