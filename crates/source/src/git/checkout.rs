//! A fetched commit: its files can be read without having been written anywhere.

use std::collections::HashMap;
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
    entries: Vec<Entry>,
    /// Where the content of each file is: an object of one of the origins.
    files: HashMap<String, (usize, ObjectId)>,
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
        let mut checkout = Checkout {
            revision,
            commit,
            tag,
            entries: Vec::new(),
            files: HashMap::new(),
            origins: Vec::new(),
        };
        for part in parts {
            let origin = checkout.origins.len();
            checkout.origins.push(part.origin);
            for (mut entry, id) in part.entries {
                entry.path.insert_str(0, &part.prefix);
                if let Some(id) = id {
                    checkout.files.insert(entry.path.clone(), (origin, id));
                }
                checkout.entries.push(entry);
            }
        }
        // Git sorts directories as if their names ended with a slash.
        checkout
            .entries
            .sort_by(|left, right| left.path.split('/').cmp(right.path.split('/')));
        checkout
    }
}

impl Tree for Checkout {
    fn entries(&self) -> io::Result<Vec<Entry>> {
        Ok(self.entries.clone())
    }

    fn open(&self, path: &str) -> io::Result<Box<dyn Read + '_>> {
        let missing = || {
            io::Error::new(
                io::ErrorKind::NotFound,
                format!("{path}: no such file in the repository"),
            )
        };
        let (origin, id) = self.files.get(path).ok_or_else(missing)?;
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
