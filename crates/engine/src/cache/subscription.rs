//! Being told of changes.
//!
//! Changes are put into a subscription's own queue after they are in the cache and outside of its locks; nobody's slowness
//! holds anybody else up. Of each object only the last state waits in the queue. A subscriber that leaves more than
//! [`ROOM`] objects waiting is told once that it missed something, and looks at everything again.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Weak};

use model::ObjectKey;
use parking_lot::{Mutex, RwLock};
use tokio::sync::Notify;

use super::entry::Entry;

/// So many objects may wait in a queue.
const ROOM: usize = 20_000;

/// What happened to an object.
#[derive(Clone, Debug)]
pub enum Change {
    /// It is new, or something about it changed: what it is meant to be, how it is doing, or that it is being deleted.
    Updated(Arc<Entry>),
    /// It is gone. This is its last state.
    Removed(Arc<Entry>),
    /// Too much happened: anything may have changed.
    Lost,
}

impl Change {
    /// The state of the object, or its last one.
    pub fn entry(&self) -> Option<&Arc<Entry>> {
        match self {
            Change::Updated(entry) | Change::Removed(entry) => Some(entry),
            Change::Lost => None,
        }
    }
}

/// Tells which objects a subscriber wants to hear of, by the state that they get into or had at last.
pub type Filter = Box<dyn Fn(&Entry) -> bool + Send + Sync>;

/// A queue of changes. It ends when it is dropped.
pub struct Subscription {
    queue: Arc<Queue>,
}

struct Queue {
    filter: Filter,
    waiting: Mutex<Waiting>,
    changed: Notify,
}

#[derive(Default)]
struct Waiting {
    changes: HashMap<ObjectKey, Change>,
    order: VecDeque<ObjectKey>,
    lost: bool,
    ended: bool,
}

impl Subscription {
    /// The next change; nothing when the cache is gone. It may be given up while it waits: nothing is lost.
    pub async fn next(&mut self) -> Option<Change> {
        loop {
            {
                let mut waiting = self.queue.waiting.lock();
                if let Some(change) = waiting.take() {
                    return Some(change);
                }
                if waiting.ended {
                    return None;
                }
            }
            // A change that came since the look is remembered by the signal.
            self.queue.changed.notified().await;
        }
    }

    /// The next change, if one is waiting.
    pub fn try_next(&mut self) -> Option<Change> {
        self.queue.waiting.lock().take()
    }
}

impl Waiting {
    fn take(&mut self) -> Option<Change> {
        if std::mem::take(&mut self.lost) {
            return Some(Change::Lost);
        }
        let key = self.order.pop_front()?;
        self.changes.remove(&key)
    }

    fn put(&mut self, key: ObjectKey, change: Change) {
        if self.changes.insert(key.clone(), change).is_some() {
            return;
        }
        self.order.push_back(key);
        if self.order.len() > ROOM {
            self.lose();
        }
    }

    fn lose(&mut self) {
        self.order.clear();
        self.changes.clear();
        self.lost = true;
    }
}

/// All subscriptions of a cache.
#[derive(Default)]
pub(super) struct Subscribers {
    queues: RwLock<Arc<Vec<Weak<Queue>>>>,
}

impl Subscribers {
    pub(super) fn add(&self, filter: Filter) -> Subscription {
        let queue = Arc::new(Queue {
            filter,
            waiting: Mutex::default(),
            changed: Notify::new(),
        });
        let mut queues = self.queues.write();
        let alive = queues.iter().filter(|queue| queue.strong_count() > 0).cloned();
        *queues = Arc::new(alive.chain([Arc::downgrade(&queue)]).collect());
        Subscription { queue }
    }

    /// Tells everybody who wants to hear of it.
    pub(super) fn tell(&self, change: &Change) {
        let Some(entry) = change.entry() else { return };
        let queues = Arc::clone(&self.queues.read());
        for queue in queues.iter().filter_map(Weak::upgrade) {
            if (queue.filter)(entry) {
                queue.waiting.lock().put(entry.key(), change.clone());
                queue.changed.notify_one();
            }
        }
    }

    /// Tells everybody that anything may have changed. What waits is dropped.
    pub(super) fn lose(&self) {
        let queues = Arc::clone(&self.queues.read());
        for queue in queues.iter().filter_map(Weak::upgrade) {
            queue.waiting.lock().lose();
            queue.changed.notify_one();
        }
    }

    /// No more changes will come.
    pub(super) fn end(&self) {
        for queue in self.queues.read().iter().filter_map(Weak::upgrade) {
            queue.waiting.lock().ended = true;
            queue.changed.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: usize) -> ObjectKey {
        ObjectKey {
            group: "".into(),
            kind: "ConfigMap".into(),
            namespace: "default".into(),
            name: number.to_string().into(),
        }
    }

    #[test]
    fn who_leaves_too_much_waiting_is_told_once_that_something_was_missed() {
        let mut waiting = Waiting::default();
        for number in 0..ROOM {
            waiting.put(key(number), Change::Lost);
        }
        // What waits already takes no more room.
        waiting.put(key(0), Change::Lost);
        assert_eq!((waiting.lost, waiting.order.len()), (false, ROOM));
        waiting.put(key(ROOM), Change::Lost);
        assert_eq!(
            (waiting.lost, waiting.order.len(), waiting.changes.len()),
            (true, 0, 0)
        );
        assert!(matches!(waiting.take(), Some(Change::Lost)));
        assert!(waiting.take().is_none());
    }
}
