//! Changing single scalars of a text in place: everything else stays as it is, byte for byte.
//!
//! [`Edit::read`] finds the scalars of all documents of a text, each with its path, its place and the comment on its line.
//! [`Edit::set`] gives one another value, in the same quotes where the value allows that. [`Edit::finish`] makes the new text
//! and reads it once more: what comes out differs in the values that were set and in nothing else, or there is an error.
//!
//! ```
//! let text = "image: app:1.0 # {\"$imagepolicy\": \"default:app\"}\n";
//! let mut edit = yaml::edit::Edit::read(text)?;
//! let marked = edit.scalars().iter().position(|scalar| scalar.comment.is_some());
//! edit.set(marked.expect("there is one"), "app:1.1")?;
//! assert_eq!(edit.finish()?, "image: app:1.1 # {\"$imagepolicy\": \"default:app\"}\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod comment;
mod quote;
mod scan;

use std::collections::BTreeMap;
use std::ops::Range;

use crate::{Error, Step};

/// A text, its scalars, and what they are to become.
#[derive(Clone, Debug)]
pub struct Edit<'t> {
    text: &'t str,
    scalars: Vec<Scalar<'t>>,
    /// The new values and how they are written, by the number of the scalar.
    changes: BTreeMap<usize, Change>,
}

#[derive(Clone, Debug)]
struct Change {
    value: String,
    written: String,
}

/// A value of a map or an element of a list that is a scalar. Keys are none, nor is what an alias stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scalar<'t> {
    /// The number of its document, from 0.
    pub document: usize,
    /// The way to it from the root of its document.
    pub path: Vec<Step>,
    /// What it says, without quotes and escapes.
    pub value: String,
    /// How it is written.
    pub style: Style,
    /// Where it is written, with its quotes and without an anchor.
    pub range: Range<usize>,
    /// The line it begins on; the first line is 1.
    pub line: usize,
    /// The comment that follows on the line it ends on, from its `#`.
    pub comment: Option<&'t str>,
    /// For an element of a list, the comment on the lines directly above, from its first `#`.
    pub above: Option<&'t str>,
    /// Whether it stands in brackets.
    flow: bool,
}

/// How a scalar is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Without quotes.
    Plain,
    /// In single quotes.
    SingleQuoted,
    /// In double quotes.
    DoubleQuoted,
    /// As lines after `|` or `>`.
    Block,
    /// Not at all.
    Empty,
    /// With a tag.
    Tagged,
}

/// Why a scalar cannot be set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Texts of several lines are not edited.
    #[error("line {line}: a block of text is not edited: write the value on one line")]
    Block {
        /// The line of the scalar.
        line: usize,
    },
    /// What a tag says of a value would have to be true of the new one.
    #[error("line {line}: a value with a tag is not edited: take the tag out")]
    Tagged {
        /// The line of the scalar.
        line: usize,
    },
    /// The value does not fit where the scalar is.
    #[error("line {line}: the value cannot be written there")]
    Place {
        /// The line of the scalar.
        line: usize,
    },
}

impl<'t> Edit<'t> {
    /// Finds the scalars of a text.
    ///
    /// # Errors
    /// Where the text is no YAML.
    pub fn read(text: &'t str) -> Result<Edit<'t>, Error> {
        Ok(Edit {
            text,
            scalars: scan::scalars(text)?,
            changes: BTreeMap::new(),
        })
    }

    /// The scalars, in the order they stand in.
    pub fn scalars(&self) -> &[Scalar<'t>] {
        &self.scalars
    }

    /// The number of the scalar that `path` leads to in a document; where a key stands twice, of the first one.
    pub fn find(&self, document: usize, path: &[Step]) -> Option<usize> {
        self.scalars
            .iter()
            .position(|scalar| scalar.document == document && scalar.path == path)
    }

    /// Makes a scalar say `value`, as a string. What says so already stays as it is. The answer is whether it changes.
    ///
    /// # Errors
    /// Where blocks of text or tags are in the way, or the value has no place there.
    ///
    /// # Panics
    /// If there is no scalar of this number.
    pub fn set(&mut self, number: usize, value: &str) -> Result<bool, Refused> {
        let scalar = &self.scalars[number];
        if scalar.value == value {
            self.changes.remove(&number);
            return Ok(false);
        }
        let written = quote::written(self.text, scalar, value)?;
        let value = value.to_owned();
        self.changes.insert(number, Change { value, written });
        Ok(true)
    }

    /// The text with all that was set.
    ///
    /// # Errors
    /// Where that text would say something else than what was set: nothing is to be written then.
    pub fn finish(&self) -> Result<String, Refused> {
        let mut text = String::with_capacity(self.text.len() + 64);
        let mut done = 0;
        for (number, change) in &self.changes {
            let range = &self.scalars[*number].range;
            text.push_str(&self.text[done..range.start]);
            text.push_str(&change.written);
            done = range.end;
        }
        text.push_str(&self.text[done..]);
        self.check(&text)?;
        Ok(text)
    }

    fn check(&self, text: &str) -> Result<(), Refused> {
        let Some(first) = self.changes.keys().next() else {
            return Ok(());
        };
        let refused = |number: usize| Refused::Place {
            line: self.scalars[number].line,
        };
        let again = scan::scalars(text).map_err(|_| refused(*first))?;
        for (number, (old, new)) in self.scalars.iter().zip(&again).enumerate() {
            let value = self
                .changes
                .get(&number)
                .map_or(&old.value, |change| &change.value);
            if new.value != *value || new.path != old.path || new.document != old.document {
                return Err(refused(number));
            }
        }
        if again.len() != self.scalars.len() {
            return Err(refused(*first));
        }
        Ok(())
    }
}
