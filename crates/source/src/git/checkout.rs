//! A fetched commit: its files can be read without having been written anywhere.

use std::cmp::Ordering;
use std::fmt;
use std::io::{self, Cursor, Read};
use std::sync::{Arc, OnceLock};

use gix_hash::ObjectId;
use gix_object::Kind as ObjectKind;
use model::Revision;

use super::commit::{Commit, Tag};
use super::error::Cause;
use super::listing::Listing;
use super::objects::Objects;
use super::slot::Generation;
use crate::archive::{Entry, Tree};

/// A commit with its files.
pub struct Checkout {
    /// The revision, as statuses show it.
    pub revision: Revision,
    /// The commit.
    pub commit: Commit,
    /// The tag that led to it, if one did.
    pub tag: Option<Tag>,
    parts: Vec<Part>,
    /// By path, in the order of [`order`]. Made when it is asked for: whoever only compares commits needs no list.
    files: OnceLock<Vec<File>>,
}

/// A file or directory. The content of a file is an object of one of the parts.
type File = (Entry, Option<(usize, ObjectId)>);

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
    pub(super) listing: Arc<Listing>,
}

impl Checkout {
    pub(super) fn new(revision: Revision, commit: Commit, tag: Option<Tag>, parts: Vec<Part>) -> Self {
        Checkout {
            revision,
            commit,
            tag,
            parts,
            files: OnceLock::new(),
        }
    }

    fn files(&self) -> &[File] {
        self.files.get_or_init(|| {
            let mut files = Vec::with_capacity(self.count());
            for (at, part) in self.parts.iter().enumerate() {
                let mut entries = Vec::new();
                part.listing.entries(&part.prefix, &mut entries);
                files.extend(
                    entries
                        .into_iter()
                        .map(|(entry, id)| (entry, id.map(|id| (at, id)))),
                );
            }
            // Git sorts directories as if their names ended with a slash.
            files.sort_by(|(left, _), (right, _)| order(&left.path, &right.path));
            files
        })
    }

    /// The part that has a file, and the object that is its content.
    fn content(&self, path: &str) -> io::Result<(&Part, ObjectId)> {
        let files = self.files();
        let found = files.binary_search_by(|(entry, _)| order(&entry.path, path));
        let file = found.ok().and_then(|at| files[at].1.as_ref());
        match file {
            Some((part, id)) => Ok((&self.parts[*part], *id)),
            None => Err(io::Error::new(
                io::ErrorKind::NotFound,
                format!("{path}: no such file in the repository"),
            )),
        }
    }

    fn count(&self) -> usize {
        let counts = self.parts.iter().map(|part| part.listing.count());
        counts.sum::<u64>() as usize
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

impl Part {
    /// The error of a file that cannot be read. The next fetch does not build on a broken object.
    fn broken(&self, path: &str, cause: &Cause) -> io::Error {
        if matches!(cause, Cause::Object { .. }) {
            self.origin.generation.condemn();
        }
        io::Error::new(io::ErrorKind::InvalidData, format!("{path}: {cause}"))
    }
}

impl Tree for Checkout {
    fn entries(&self) -> io::Result<Vec<Entry>> {
        Ok(self.files().iter().map(|(entry, _)| entry.clone()).collect())
    }

    fn open(&self, path: &str) -> io::Result<Box<dyn Read + '_>> {
        let (part, id) = self.content(path)?;
        match part.origin.objects.get_kind(id, ObjectKind::Blob) {
            Ok(content) => Ok(Box::new(Cursor::new(content))),
            Err(cause) => Err(part.broken(path, &cause)),
        }
    }

    fn size(&self, path: &str) -> io::Result<Option<u64>> {
        let (part, id) = self.content(path)?;
        match part.origin.objects.size(id) {
            Ok(size) => Ok(Some(size)),
            Err(cause) => Err(part.broken(path, &cause)),
        }
    }
}

impl fmt::Debug for Checkout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checkout")
            .field("revision", &self.revision.to_string())
            .field("files", &self.count())
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
