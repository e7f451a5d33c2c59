//! A fetched commit: its files can be read without having been written anywhere.

use std::cmp::Ordering;
use std::fmt;
use std::io::{self, Cursor, Read};
use std::sync::Arc;

use gix_hash::ObjectId;
use gix_object::Kind as ObjectKind;
use model::Revision;

use super::cache::Generation;
use super::commit::{Commit, Tag};
use super::error::Cause;
use super::objects::Objects;
use crate::archive::{Entry, Tree};

/// A commit with its files.
pub struct Checkout {
    /// The revision, as statuses show it.
    pub revision: Revision,
    /// The commit.
    pub commit: Commit,
    /// The tag that led to it, if one did.
    pub tag: Option<Tag>,
    /// By path, in the order of [`order`]. The content of a file is an object of one of the origins.
    entries: Vec<(Entry, Option<(usize, ObjectId)>)>,
    origins: Vec<Origin>,
}

/// Where objects are, kept there for as long as they are needed.
pub(super) struct Origin {
    pub(super) objects: Arc<Objects>,
    pub(super) generation: Arc<Generation>,
}

/// Files of one origin: the repository itself or a submodule.
pub(super) struct Part {
    pub(super) origin: Origin,
    /// The directory they are in, with a slash at its end; nothing for the repository itself.
    pub(super) prefix: String,
    pub(super) entries: Vec<(Entry, Option<ObjectId>)>,
}

impl Checkout {
    pub(super) fn new(revision: Revision, commit: Commit, tag: Option<Tag>, parts: Vec<Part>) -> Self {
        let count = parts.iter().map(|part| part.entries.len()).sum();
        let mut entries = Vec::with_capacity(count);
        let mut origins = Vec::with_capacity(parts.len());
        for part in parts {
            let origin = origins.len();
            origins.push(part.origin);
            entries.extend(part.entries.into_iter().map(|(mut entry, id)| {
                entry.path.insert_str(0, &part.prefix);
                (entry, id.map(|id| (origin, id)))
            }));
        }
        // Git sorts directories as if their names ended with a slash.
        entries.sort_by(|(left, _), (right, _)| order(&left.path, &right.path));
        Checkout {
            revision,
            commit,
            tag,
            entries,
            origins,
        }
    }
}

/// The order of a walk: by the names on the way, one after the other. A slash is what ends a name, so it comes before all else.
fn order(left: &str, right: &str) -> Ordering {
    let mut pairs = left.bytes().zip(right.bytes());
    match pairs.find(|(left, right)| left != right) {
        Some((b'/', _)) => Ordering::Less,
        Some((_, b'/')) => Ordering::Greater,
        Some((left, right)) => left.cmp(&right),
        None => left.len().cmp(&right.len()),
    }
}

impl Tree for Checkout {
    fn entries(&self) -> io::Result<Vec<Entry>> {
        Ok(self.entries.iter().map(|(entry, _)| entry.clone()).collect())
    }

    fn open(&self, path: &str) -> io::Result<Box<dyn Read + '_>> {
        let missing = || {
            io::Error::new(
                io::ErrorKind::NotFound,
                format!("{path}: no such file in the repository"),
            )
        };
        let found = self
            .entries
            .binary_search_by(|(entry, _)| order(&entry.path, path));
        let file = found.ok().and_then(|at| self.entries[at].1.as_ref());
        let (origin, id) = file.ok_or_else(missing)?;
        let origin = &self.origins[*origin];
        match origin.objects.get_kind(*id, ObjectKind::Blob) {
            Ok(content) => Ok(Box::new(Cursor::new(content))),
            Err(cause) => {
                if matches!(cause, Cause::Object { .. }) {
                    origin.generation.condemn();
                }
                Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    format!("{path}: {cause}"),
                ))
            }
        }
    }
}

impl fmt::Debug for Checkout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checkout")
            .field("revision", &self.revision.to_string())
            .field("entries", &self.entries.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_on_the_way_are_compared_one_after_the_other() {
        let paths = ["a", "a/b", "a/b/c", "a/b-c", "a-b", "a-b/c", "a.yaml", "ab", "b"];
        for (at, left) in paths.iter().enumerate() {
            for (other, right) in paths.iter().enumerate() {
                assert_eq!(order(left, right), at.cmp(&other), "{left} {right}");
                assert_eq!(order(left, right), left.split('/').cmp(right.split('/')));
            }
        }
    }
}
