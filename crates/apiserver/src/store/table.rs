//! The objects of one resource and the log of their changes.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::Arc;

use tokio::sync::watch;

use super::{Key, Object};
use crate::catalog::StorageId;

/// One write.
#[derive(Debug)]
pub(crate) struct Change {
    pub storage: StorageId,
    pub revision: u64,
    /// What was there before; `None` for a creation.
    pub old: Option<Arc<Object>>,
    /// What is there now; `None` for a deletion.
    pub new: Option<Arc<Object>>,
    /// For a deletion the last state with the revision of the deletion: what watchers are sent.
    pub last: Option<Arc<Object>>,
}

impl Change {
    /// The object's key.
    pub(crate) fn key(&self) -> &Key {
        let object = self.new.as_ref().or(self.old.as_ref());
        &object.expect("a change has an old or a new object").key
    }
}

/// The revision of a store without any write.
pub(super) const FIRST_REVISION: u64 = 1;

pub(super) struct Table {
    objects: BTreeMap<Key, Arc<Object>>,
    log: VecDeque<Arc<Change>>,
    /// Changes up to this revision are no longer in the log.
    compacted: u64,
    signal: watch::Sender<u64>,
}

/// Which objects a list wants.
pub(crate) struct Window<'a> {
    /// `namespace/`, or empty for all.
    pub prefix: &'a str,
    /// Only keys after this one.
    pub start: Option<Key>,
    /// At most so many; 0 for all.
    pub limit: usize,
    /// At this revision; `None` for now.
    pub at: Option<u64>,
}

/// A part of a list.
pub(crate) struct Page {
    pub objects: Vec<Arc<Object>>,
    pub revision: u64,
    /// The last key, where more follow.
    pub next: Option<Key>,
    /// How many follow.
    pub remaining: usize,
}

/// The changes after a revision.
pub(crate) enum Since {
    /// In order, and the newest revision of the store, for bookmarks.
    Changes {
        changes: Vec<Arc<Change>>,
        revision: u64,
    },
    /// The log begins later.
    Expired { oldest: u64 },
}

impl Table {
    /// An empty table of a store that is at `revision`.
    pub(super) fn new(revision: u64) -> Self {
        // Nothing is known of the time before the first write, as with a store that was compacted then.
        let signal = watch::Sender::new(revision);
        Table {
            objects: BTreeMap::new(),
            log: VecDeque::new(),
            compacted: FIRST_REVISION + 1,
            signal,
        }
    }

    pub(super) fn get(&self, key: &Key) -> Option<Arc<Object>> {
        self.objects.get(key).cloned()
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<u64> {
        self.signal.subscribe()
    }

    pub(super) fn commit(&mut self, change: Arc<Change>, log_limit: usize) {
        match &change.new {
            Some(new) => self.objects.insert(new.key.clone(), Arc::clone(new)),
            None => self.objects.remove(change.key()),
        };
        let revision = change.revision;
        self.log.push_back(change);
        while self.log.len() > log_limit {
            self.compacted = self
                .log
                .pop_front()
                .map_or(self.compacted, |change| change.revision);
        }
        self.signal.send_replace(revision);
    }

    pub(super) fn compact(&mut self, revision: u64) {
        self.log.clear();
        self.compacted = revision;
    }

    pub(super) fn all(&self) -> Vec<Arc<Object>> {
        self.objects.values().cloned().collect()
    }

    pub(super) fn since(&self, revision: u64, newest: u64) -> Since {
        if revision < self.compacted {
            return Since::Expired {
                oldest: self.compacted,
            };
        }
        let from = self.log.partition_point(|change| change.revision <= revision);
        Since::Changes {
            changes: self.log.range(from..).cloned().collect(),
            revision: newest,
        }
    }

    fn range<'a>(
        &'a self,
        prefix: &'a str,
        start: Option<&Key>,
    ) -> impl Iterator<Item = (&'a Key, &'a Arc<Object>)> {
        let from = match start {
            Some(key) => Bound::Excluded(key.clone()),
            None => Bound::Included(Key(prefix.into())),
        };
        self.objects
            .range((from, Bound::Unbounded))
            .take_while(move |(key, _)| key.text().starts_with(prefix))
    }

    pub(super) fn page(
        &self,
        window: &Window<'_>,
        newest: u64,
        keep: &dyn Fn(&Object) -> bool,
    ) -> Result<Page, u64> {
        let past = match window.at {
            Some(revision) if revision < newest => self.rewind(window, revision)?,
            _ => BTreeMap::new(),
        };
        let mut page = Page {
            objects: Vec::new(),
            revision: window.at.unwrap_or(newest),
            next: None,
            remaining: 0,
        };
        let mut take = |object: &Arc<Object>| {
            if !keep(object) {
                return;
            }
            if window.limit > 0 && page.objects.len() == window.limit {
                page.remaining += 1;
            } else {
                page.objects.push(Arc::clone(object));
            }
        };
        if past.is_empty() {
            self.range(window.prefix, window.start.as_ref())
                .for_each(|(_, object)| take(object));
        } else {
            let mut then: BTreeMap<&Key, &Arc<Object>> =
                self.range(window.prefix, window.start.as_ref()).collect();
            for (key, object) in &past {
                match object {
                    Some(object) => then.insert(key, object),
                    None => then.remove(key),
                };
            }
            then.values().for_each(|object| take(object));
        }
        if page.remaining > 0 {
            page.next = page.objects.last().map(|object| object.key.clone());
        }
        Ok(page)
    }

    /// What was different at `revision` from now: by key, the object of then.
    fn rewind(&self, window: &Window<'_>, revision: u64) -> Result<BTreeMap<Key, Option<Arc<Object>>>, u64> {
        if revision < self.compacted {
            return Err(self.compacted);
        }
        let mut past = BTreeMap::new();
        for change in self
            .log
            .iter()
            .rev()
            .take_while(|change| change.revision > revision)
        {
            let key = change.key();
            let wanted = key.text().starts_with(window.prefix)
                && window.start.as_ref().is_none_or(|start| key > start);
            if wanted {
                past.insert(key.clone(), change.old.clone());
            }
        }
        Ok(past)
    }
}
