//! Where all parts of a text stand, for complaints about many of them: [`locate`](crate::locate) reads the text for each.

use crate::Step;
use crate::stream::{Content, Event, events};

/// The places of the first document of a text.
#[derive(Clone, Debug)]
pub struct Lines {
    root: Mark,
}

/// A value, with the line by which people find it.
#[derive(Clone, Debug)]
struct Mark {
    /// That of its key, or of the element of a list.
    line: usize,
    /// For a block of text, the line that stands above its first one.
    header: Option<usize>,
    inside: Inside,
}

#[derive(Clone, Debug)]
enum Inside {
    Nothing,
    Map(Vec<(String, Mark)>),
    List(Vec<Mark>),
}

impl Lines {
    /// Reads the first document of a text; `None` where there is none or the text is broken.
    pub fn read(text: &str) -> Option<Lines> {
        let all = events(text).ok()?;
        let texts: Vec<&str> = text.lines().collect();
        let mut reader = Reader {
            events: all
                .iter()
                .skip_while(|event| event.content != Content::DocumentStart),
            texts,
        };
        reader.events.next()?;
        let root = reader.value(None)?;
        Some(Lines { root })
    }

    /// The line of what a path leads to, or of the nearest thing above it that is there. Keys may be written in another
    /// case than in the path.
    pub fn line(&self, path: &[Step]) -> usize {
        self.find(path).0.line
    }

    /// Whether there is something at the end of the path.
    pub fn contains(&self, path: &[Step]) -> bool {
        self.find(path).1 == path.len()
    }

    /// The line of the text at a path whose own line number `line` (from 1) is: in a block of text they are as many as
    /// those of the file, all others count as one.
    pub fn line_in_text(&self, path: &[Step], line: usize) -> usize {
        match self.find(path) {
            (
                Mark {
                    header: Some(header), ..
                },
                found,
            ) if found == path.len() => header + line,
            (mark, _) => mark.line,
        }
    }

    /// How far the path leads, and what is there.
    fn find(&self, path: &[Step]) -> (&Mark, usize) {
        let mut mark = &self.root;
        for (index, step) in path.iter().enumerate() {
            let next = match (step, &mark.inside) {
                (Step::Key(wanted), Inside::Map(entries)) => {
                    let exact = entries.iter().find(|(key, _)| key == wanted);
                    let alike = || entries.iter().find(|(key, _)| key.eq_ignore_ascii_case(wanted));
                    exact.or_else(alike).map(|(_, mark)| mark)
                }
                (Step::Item(wanted), Inside::List(items)) => items.get(*wanted),
                _ => None,
            };
            match next {
                Some(next) => mark = next,
                None => return (mark, index),
            }
        }
        (mark, path.len())
    }
}

struct Reader<'t, I> {
    events: I,
    texts: Vec<&'t str>,
}

impl<'e, I: Iterator<Item = &'e Event>> Reader<'_, I> {
    /// The next value; `line` is that of its key. The reader of events limits how deep values stand in each other.
    fn value(&mut self, line: Option<usize>) -> Option<Mark> {
        let event = self.events.next()?;
        let line = line.unwrap_or(event.start.line + 1);
        let mut header = None;
        let inside = match &event.content {
            Content::Scalar { .. } => {
                header = self.header(event);
                Inside::Nothing
            }
            Content::MappingStart { .. } => Inside::Map(self.map()?),
            Content::SequenceStart { .. } => Inside::List(self.list()?),
            Content::Alias(_) => Inside::Nothing,
            // The end of what the value would be in.
            _ => return None,
        };
        Some(Mark { line, header, inside })
    }

    fn map(&mut self) -> Option<Vec<(String, Mark)>> {
        let mut entries = Vec::new();
        loop {
            let event = self.events.next()?;
            let key = match &event.content {
                Content::MappingEnd => return Some(entries),
                Content::Scalar { scalar, .. } => scalar.text.to_string(),
                // A key that nobody looks for.
                Content::MappingStart { .. } => self.map().map(|_| String::new())?,
                Content::SequenceStart { .. } => self.list().map(|_| String::new())?,
                _ => String::new(),
            };
            entries.push((key, self.value(Some(event.start.line + 1))?));
        }
    }

    fn list(&mut self) -> Option<Vec<Mark>> {
        let mut items = Vec::new();
        while let Some(item) = self.value(None) {
            items.push(item);
        }
        // The last event was the end of the list, or the text has ended.
        Some(items)
    }

    /// The line of the `|` of a block of text.
    fn header(&self, event: &Event) -> Option<usize> {
        let first = self.texts.get(event.start.line)?;
        let rest: String = first.chars().skip(event.start.column).collect();
        let sign = rest
            .split_whitespace()
            .find(|word| !word.starts_with(['&', '!']))?;
        sign.starts_with('|').then_some(event.start.line + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# first\na: 1\nItems:\n- name: x\n  patch: |-\n    one\n    two\n- patch: 'a|'\n- *none\n- - [1,\n    2]\n? {odd: key}\n: b\nlast: &x |2 # why\n\n   c\n";

    fn path(text: &str) -> Vec<Step> {
        let steps = text.split('.').filter(|step| !step.is_empty());
        let step = |text: &str| {
            text.parse()
                .map_or_else(|_| Step::Key(text.to_owned()), Step::Item)
        };
        steps.map(step).collect()
    }

    #[test]
    fn lines_are_those_that_locate_finds() {
        let text = TEXT.replace("*none", "none");
        let lines = Lines::read(&text).unwrap();
        for wanted in [
            "",
            "a",
            "Items",
            "Items.0",
            "Items.0.patch",
            "Items.1.patch",
            "Items.3.0.1",
            "last",
            "no.such",
        ] {
            let path = path(wanted);
            assert_eq!(
                Some(lines.line(&path)),
                crate::locate(text.as_bytes(), 0, &path),
                "{wanted}"
            );
        }
        assert_eq!(lines.line(&path("items.1")), 8);
        assert!(lines.contains(&path("items.1.patch")) && !lines.contains(&path("items.1.path")));
    }

    #[test]
    fn blocks_of_text_have_lines_of_their_own() {
        let lines = Lines::read(&TEXT.replace("*none", "none")).unwrap();
        assert_eq!(lines.line_in_text(&path("Items.0.patch"), 2), 7);
        assert_eq!(lines.line_in_text(&path("Items.1.patch"), 2), 8);
        assert_eq!(lines.line_in_text(&path("last"), 2), 16);
    }

    #[test]
    fn broken_and_empty_texts_have_no_lines() {
        assert!(Lines::read("a: [").is_none() && Lines::read("").is_none());
        assert!(Lines::read(TEXT).is_some(), "an alias need not lead anywhere");
    }
}
