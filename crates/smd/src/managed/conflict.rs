//! Conflicts of an apply with what others own.

use std::fmt;

use super::entry::{Entry, Operation};
use crate::fieldset::{FieldSet, Path};
use crate::go_text::Quoted;

/// A field that an apply would change and that another manager owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The other manager, in words: `"kubectl" using apps/v1`.
    pub manager: String,
    /// The field.
    pub path: Path,
    /// What managers are sorted by.
    identifier: String,
}

/// All conflicts of an apply. Prints the message of the API server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflicts(Vec<Conflict>);

impl Conflict {
    /// The message of the cause that the API server reports.
    pub fn message(&self) -> String {
        format!("conflict with {}", self.manager)
    }
}

impl Conflicts {
    pub(super) fn new() -> Self {
        Conflicts(Vec::new())
    }

    pub(super) fn add(&mut self, entry: &Entry<'_>, fields: &FieldSet) {
        let (manager, identifier) = (in_words(entry), entry.identifier());
        let conflict = |path| Conflict {
            manager: manager.clone(),
            path,
            identifier: identifier.clone(),
        };
        self.0.extend(fields.paths().into_iter().map(conflict));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Sorted by manager. The API server lists managers in any order in its causes, and sorted in its message.
    pub(super) fn sorted(mut self) -> Self {
        self.0.sort_by(|a, b| a.identifier.cmp(&b.identifier));
        self
    }

    /// The conflicts about fields that are not in `allowed`.
    pub(super) fn without(mut self, allowed: &FieldSet) -> Self {
        self.0.retain(|conflict| !allowed.contains(&conflict.path.0));
        self
    }

    /// Each conflict, for the causes of the status: reason `FieldManagerConflict`, [`Conflict::message`] and the path.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Conflict> {
        self.0.iter()
    }
}

fn in_words(entry: &Entry<'_>) -> String {
    let mut words = Quoted(&entry.manager).to_string();
    if !entry.subresource.is_empty() {
        words.push_str(&format!(" with subresource {}", Quoted(&entry.subresource)));
    }
    if entry.operation == Operation::Update {
        words.push_str(&format!(" using {}", entry.api_version));
    }
    words
}

impl fmt::Display for Conflicts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [one] = self.0.as_slice() {
            return write!(
                out,
                "Apply failed with 1 conflict: conflict with {}: {}",
                one.manager, one.path
            );
        }
        write!(out, "Apply failed with {} conflicts: ", self.0.len())?;
        for (at, group) in self.0.chunk_by(|a, b| a.identifier == b.identifier).enumerate() {
            let line = if at > 0 { "\n" } else { "" };
            write!(out, "{line}conflicts with {}:", group[0].manager)?;
            group
                .iter()
                .try_for_each(|conflict| write!(out, "\n- {}", conflict.path))?;
        }
        Ok(())
    }
}

impl std::error::Error for Conflicts {}
