//! Where objects live: one revision counter, one table per resource, and a log of changes per table.
//!
//! Objects are kept as the bytes clients get, without `apiVersion` and `kind`: versions that differ in nothing else
//! need no conversion, reads need no serialisation, and a 1 KiB ConfigMap costs little more than 1 KiB. What is
//! asked about objects all the time (labels, owners, selectable fields) is kept beside the bytes.
//!
//! The log answers watches from any revision it still holds, reconstructs older states for paged lists, and is cut
//! at a fixed length: who asks for more gets `410 Gone`, as from a compacted etcd.

mod object;
mod table;

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{mpsc, watch};

pub(crate) use object::{Key, Meta, Object, Owner};
pub(crate) use table::{Change, Page, Since, Window};
use table::{FIRST_REVISION, Table};

use crate::catalog::StorageId;

/// How many changes of one resource are kept by default.
pub(crate) const LOG_LIMIT: usize = 10_000;

/// All objects.
pub(crate) struct Store {
    inner: Mutex<Inner>,
    /// Every change of every table, in order, for the server's own controllers.
    feed: Mutex<Option<mpsc::UnboundedSender<Arc<Change>>>>,
}

struct Inner {
    revision: u64,
    log_limit: usize,
    tables: HashMap<StorageId, Table>,
}

/// Why a write was not done.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// A create met an object of that name.
    Exists,
    /// The object is gone or no longer at the revision the write was computed from.
    Changed,
}

/// A write: what the caller saw, and what shall be there instead.
pub(crate) struct Write {
    pub storage: StorageId,
    pub key: Key,
    /// The revision the write was computed from; `None` creates.
    pub seen: Option<u64>,
    /// Given the revision of this write, the new object; `None` deletes.
    pub object: Option<Draft>,
}

/// An object before it has its revision.
pub(crate) struct Draft {
    pub value: model::Value,
    pub meta: Meta,
}

impl Store {
    pub(crate) fn new(log_limit: usize) -> Self {
        // Revision 1 is the empty store, so that "0" can mean "any".
        let inner = Inner {
            revision: FIRST_REVISION,
            log_limit,
            tables: HashMap::new(),
        };
        Store {
            inner: Mutex::new(inner),
            feed: Mutex::new(None),
        }
    }

    /// The changes of all tables from now on. There is one reader: a second call takes the place of the first.
    pub(crate) fn feed(&self) -> mpsc::UnboundedReceiver<Arc<Change>> {
        let (sender, receiver) = mpsc::unbounded_channel();
        *self.feed.lock() = Some(sender);
        receiver
    }

    /// The revision of the newest write.
    pub(crate) fn revision(&self) -> u64 {
        self.inner.lock().revision
    }

    pub(crate) fn get(&self, storage: &StorageId, key: &Key) -> Option<Arc<Object>> {
        self.inner.lock().tables.get(storage)?.get(key)
    }

    /// What [`Store::write`] would give, without doing it.
    pub(crate) fn try_write(&self, write: Write) -> Result<Arc<Object>, Refused> {
        let inner = self.inner.lock();
        let old = inner
            .tables
            .get(&write.storage)
            .and_then(|table| table.get(&write.key));
        check_seen(write.seen, old.as_deref())?;
        match write.object {
            // What is not stored keeps the revision it was computed from.
            Some(draft) => Ok(Arc::new(Object::seal(write.key, write.seen.unwrap_or(0), draft))),
            None => old.ok_or(Refused::Changed),
        }
    }

    /// Does the write, or says why not. Returns the object as stored, or as it was before it was deleted.
    pub(crate) fn write(&self, write: Write) -> Result<Arc<Object>, Refused> {
        let mut inner = self.inner.lock();
        let Inner {
            revision,
            log_limit,
            tables,
        } = &mut *inner;
        let table = match tables.get_mut(&write.storage) {
            Some(table) => table,
            None => tables
                .entry(write.storage.clone())
                .or_insert_with(|| Table::new(*revision)),
        };
        let old = table.get(&write.key);
        check_seen(write.seen, old.as_deref())?;
        let next = *revision + 1;
        let change = match write.object {
            Some(draft) => {
                let new = Arc::new(Object::seal(write.key, next, draft));
                Change {
                    storage: write.storage,
                    revision: next,
                    old,
                    new: Some(new),
                    last: None,
                }
            }
            None => {
                // A watcher is told the revision of the deletion, so the last state is sealed anew with it.
                let Some(old) = old else {
                    return Err(Refused::Changed);
                };
                let last = Some(Arc::new(old.resealed(next)));
                Change {
                    storage: write.storage,
                    revision: next,
                    old: Some(old),
                    new: None,
                    last,
                }
            }
        };
        *revision = next;
        let change = Arc::new(change);
        table.commit(Arc::clone(&change), *log_limit);
        // Sent under the lock so that the feed has the order of the revisions.
        if let Some(feed) = &*self.feed.lock() {
            let _ = feed.send(Arc::clone(&change));
        }
        let object = change.new.as_ref().or(change.last.as_ref());
        Ok(Arc::clone(object.expect("a change has a new or a last object")))
    }

    /// The objects under `prefix` at `revision` (`None`: now), after `start`, at most `limit` (0: all) that `keep` wants.
    ///
    /// `Err` tells that the log no longer reaches back to `revision`.
    pub(crate) fn list(
        &self,
        storage: &StorageId,
        window: &Window<'_>,
        keep: &dyn Fn(&Object) -> bool,
    ) -> Result<Page, u64> {
        let inner = self.inner.lock();
        match inner.tables.get(storage) {
            Some(table) => table.page(window, inner.revision, keep),
            None => Ok(Page {
                objects: Vec::new(),
                revision: window.at.unwrap_or(inner.revision),
                next: None,
                remaining: 0,
            }),
        }
    }

    /// All objects of a table, now.
    pub(crate) fn all(&self, storage: &StorageId) -> Vec<Arc<Object>> {
        let inner = self.inner.lock();
        inner.tables.get(storage).map(Table::all).unwrap_or_default()
    }

    /// The changes of a table after `revision`.
    pub(crate) fn since(&self, storage: &StorageId, revision: u64) -> Since {
        let inner = self.inner.lock();
        match inner.tables.get(storage) {
            Some(table) => table.since(revision, inner.revision),
            None => Since::Changes {
                changes: Vec::new(),
                revision: inner.revision,
            },
        }
    }

    /// Tells the newest revision of a table whenever it changes.
    pub(crate) fn signal(&self, storage: &StorageId) -> watch::Receiver<u64> {
        let mut inner = self.inner.lock();
        let Inner { revision, tables, .. } = &mut *inner;
        tables
            .entry(storage.clone())
            .or_insert_with(|| Table::new(*revision))
            .subscribe()
    }

    /// Forgets all changes up to now, as a compaction of etcd does.
    pub(crate) fn compact(&self) {
        let mut inner = self.inner.lock();
        let Inner { revision, tables, .. } = &mut *inner;
        for table in tables.values_mut() {
            table.compact(*revision);
        }
    }
}

/// Holds what a write was computed from against what is there.
fn check_seen(seen: Option<u64>, old: Option<&Object>) -> Result<(), Refused> {
    match (seen, old) {
        (None, Some(_)) => Err(Refused::Exists),
        (Some(_), None) => Err(Refused::Changed),
        (Some(seen), Some(old)) if seen != old.revision => Err(Refused::Changed),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use model::value;

    use super::*;

    fn draft(text: &str) -> Draft {
        Draft {
            value: value!({"metadata": {"name": "a"}, "data": {"x": text}}),
            meta: Meta::default(),
        }
    }

    fn store() -> (Store, StorageId) {
        (
            Store::new(3),
            StorageId {
                group: "".into(),
                plural: "configmaps".into(),
            },
        )
    }

    fn write(
        store: &Store,
        id: &StorageId,
        name: &str,
        seen: Option<u64>,
        object: Option<Draft>,
    ) -> Result<u64, Refused> {
        let write = Write {
            storage: id.clone(),
            key: Key::new("ns", name),
            seen,
            object,
        };
        store.write(write).map(|object| object.revision)
    }

    #[test]
    fn a_write_computed_from_an_old_revision_is_refused() {
        let (store, id) = store();
        let first = write(&store, &id, "a", None, Some(draft("1"))).unwrap();
        assert_eq!(
            write(&store, &id, "a", None, Some(draft("1"))),
            Err(Refused::Exists)
        );
        write(&store, &id, "a", Some(first), Some(draft("2"))).unwrap();
        assert_eq!(
            write(&store, &id, "a", Some(first), Some(draft("3"))),
            Err(Refused::Changed)
        );
        assert_eq!(write(&store, &id, "b", Some(first), None), Err(Refused::Changed));
    }

    #[test]
    fn a_page_of_an_older_revision_shows_what_was_there_then() {
        let (store, id) = store();
        write(&store, &id, "a", None, Some(draft("1"))).unwrap();
        let then = write(&store, &id, "b", None, Some(draft("1"))).unwrap();
        write(&store, &id, "c", None, Some(draft("1"))).unwrap();
        let a = store.get(&id, &Key::new("ns", "a")).unwrap().revision;
        write(&store, &id, "a", Some(a), None).unwrap();
        let window = Window {
            prefix: "ns/",
            start: None,
            limit: 0,
            at: Some(then),
        };
        let page = store.list(&id, &window, &|_| true).unwrap();
        let names: Vec<_> = page
            .objects
            .iter()
            .map(|object| object.key.name().to_owned())
            .collect();
        assert_eq!(names, ["a", "b"]);
    }

    #[test]
    fn a_revision_the_log_no_longer_reaches_is_refused() {
        let (store, id) = store();
        let mut seen = write(&store, &id, "a", None, Some(draft("0"))).unwrap();
        let first = seen;
        for _ in 0..4 {
            seen = write(&store, &id, "a", Some(seen), Some(draft("n"))).unwrap();
        }
        assert!(matches!(store.since(&id, first), Since::Expired { .. }));
        assert!(matches!(store.since(&id, seen - 1), Since::Changes { changes, .. } if changes.len() == 1));
        let window = Window {
            prefix: "ns/",
            start: None,
            limit: 0,
            at: Some(first),
        };
        assert!(store.list(&id, &window, &|_| true).is_err());
    }
}
