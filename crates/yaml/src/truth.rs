//! Keys without quotes that are booleans to YAML 1.1 and names to people: `y`, `on`, `No`.

use crate::events::{Content, Events};
use crate::locate::Step;
use crate::word::{Word, word};

/// A list or map that is open, and where in it one is.
enum Inside {
    List(usize),
    /// The last key, if its value comes next.
    Map(Option<String>),
}

impl Inside {
    /// What leads on from here.
    fn step(&self) -> Step {
        match self {
            Inside::List(index) => Step::Item(*index),
            Inside::Map(key) => Step::Key(key.clone().unwrap_or_default()),
        }
    }

    /// Takes note of a node; whether it is a key.
    fn node(&mut self, text: Option<&str>) -> bool {
        match self {
            Inside::Map(key @ None) => {
                *key = Some(text.unwrap_or_default().to_owned());
                true
            }
            _ => false,
        }
    }

    /// A node has ended; keys stay until their values have.
    fn ended(&mut self) {
        match self {
            Inside::List(index) => *index += 1,
            Inside::Map(key) => *key = None,
        }
    }
}

/// The ways to all keys of the first document that are booleans, as they are written. What cannot be read has none.
pub fn boolean_keys(text: &[u8]) -> Vec<Vec<Step>> {
    let mut found = Vec::new();
    let Ok(mut events) = Events::new(text) else {
        return found;
    };
    let mut open: Vec<Inside> = Vec::new();
    while let Ok(event) = events.next() {
        match event.content {
            Content::DocumentEnd | Content::StreamEnd => break,
            Content::Scalar(scalar) => {
                let is_key = open
                    .last_mut()
                    .is_some_and(|inside| inside.node(Some(&scalar.text)));
                let is_boolean =
                    scalar.plain && matches!(word(&scalar.text), Some(Word::Bool(_) | Word::OldBool(_)));
                if is_key && is_boolean {
                    found.push(open.iter().map(Inside::step).collect());
                }
                if !is_key && let Some(inside) = open.last_mut() {
                    inside.ended();
                }
            }
            Content::Alias(_) => {
                if let Some(inside) = open.last_mut()
                    && !inside.node(None)
                {
                    inside.ended();
                }
            }
            Content::SequenceStart { .. } => open.push(Inside::List(0)),
            Content::MappingStart { .. } => open.push(Inside::Map(None)),
            Content::SequenceEnd | Content::MappingEnd => {
                open.pop();
                if let Some(inside) = open.last_mut()
                    && !inside.node(None)
                {
                    inside.ended();
                }
            }
            Content::StreamStart | Content::DocumentStart => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shown;

    #[test]
    fn booleans_that_are_keys_are_found_where_they_are() {
        let text =
            "a: y\nb:\n- on\n- {y: on, 'n': 1, c: [d, {No: x}]}\n? [odd, y]\n: {true: 1}\n? y\n: !!str on\n";
        let found: Vec<String> = boolean_keys(text.as_bytes())
            .iter()
            .map(|path| shown(path))
            .collect();
        assert_eq!(found, ["b[1].y", "b[1].c[1].No", "[\"\"].true", "y"]);
        assert_eq!(boolean_keys(b"a: [").len(), 0);
    }
}
