//! One watch that several may follow.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::interest::Interest;
use super::standard::{Standard, Standards};
use super::state::{NotSynced, State};
use super::store::Store;

/// A watch: what it is of, what it has found, how far it is, and how many follow it.
pub(super) struct Watch {
    pub(super) interest: Interest,
    pub(super) store: Store,
    pub(super) state: watch::Sender<State>,
    /// The settings changed, or somebody has a new standard: everything is to be looked at again.
    pub(super) reload: Notify,
    /// The version up to which everything was told, where it is a number.
    reached: AtomicU64,
    follows: AtomicUsize,
    standards: Mutex<Standards>,
    /// Signals that nobody follows any more.
    left: Notify,
    task: Mutex<Option<AbortHandle>>,
}

impl Watch {
    pub(super) fn new(interest: Interest) -> Watch {
        Watch {
            interest,
            store: Store::new(),
            state: watch::Sender::new(State::Starting),
            reload: Notify::new(),
            reached: AtomicU64::new(0),
            follows: AtomicUsize::new(0),
            standards: Mutex::default(),
            left: Notify::new(),
            task: Mutex::new(None),
        }
    }

    /// Follows it by a standard. Whether nobody has that yet, so that the objects have to be looked at again.
    pub(super) fn follow(self: &Arc<Self>, standard: Standard) -> (Follow, bool) {
        self.follows.fetch_add(1, Ordering::AcqRel);
        let is_new = self.standards.lock().add(&standard);
        let follow = Follow {
            watch: Arc::clone(self),
            standard,
        };
        (follow, is_new)
    }

    /// The standards of those who follow.
    pub(super) fn standards(&self) -> Arc<[Standard]> {
        self.standards.lock().all()
    }

    /// All objects were assessed by these standards.
    pub(super) fn meet(&self, standards: &[Standard]) {
        self.standards.lock().meet(standards);
    }

    pub(super) fn is_followed(&self) -> bool {
        self.follows.load(Ordering::Acquire) > 0
    }

    /// Returns when nobody follows.
    pub(super) async fn unfollowed(&self) {
        while self.is_followed() {
            self.left.notified().await;
        }
    }

    pub(super) fn reached(&self) -> u64 {
        self.reached.load(Ordering::Acquire)
    }

    /// Everything up to this version was told.
    pub(super) fn has_reached(&self, version: &str) {
        if let Ok(version) = version.parse() {
            self.reached.store(version, Ordering::Release);
        }
    }

    pub(super) fn is_synced(&self) -> bool {
        self.state.borrow().is_synced()
    }

    pub(super) fn run_by(&self, task: AbortHandle) {
        *self.task.lock() = Some(task);
    }

    pub(super) fn stop(&self) {
        if let Some(task) = self.task.lock().take() {
            task.abort();
        }
        self.state.send_replace(State::Absent);
    }
}

/// Somebody's interest. While it is held, the objects are watched; when it is dropped and nobody else is interested, the
/// watch ends a little later. It does not keep the cache itself.
pub struct Follow {
    watch: Arc<Watch>,
    standard: Standard,
}

impl Follow {
    /// How far the watch is. It is starting for those whose standard not all objects were assessed by.
    pub fn state(&self) -> State {
        let state = self.watch.state.borrow().clone();
        match state {
            State::Synced if !self.is_met() => State::Starting,
            state => state,
        }
    }

    fn is_met(&self) -> bool {
        self.watch.standards.lock().are_met(&self.standard)
    }

    /// By what it is told how the objects are doing: what of the standard that was asked for matters for the kind.
    pub fn standard(&self) -> &Standard {
        &self.standard
    }

    /// What the watch is of, which may be more than was asked for.
    pub fn watched(&self) -> &Interest {
        &self.watch.interest
    }

    /// Waits until all objects are known.
    ///
    /// # Errors
    /// At once where the kind does not exist or may not be read, otherwise at the deadline.
    pub async fn synced(&self, deadline: Instant) -> Result<(), NotSynced> {
        let mut states = self.watch.state.subscribe();
        let settled = states.wait_for(|state| match state {
            State::Starting | State::Retrying { .. } => false,
            State::Synced => self.is_met(),
            _ => true,
        });
        // At the deadline the last state is told.
        let _ = tokio::time::timeout_at(deadline, settled).await;
        match self.state() {
            State::Synced => Ok(()),
            state => Err(NotSynced {
                kind: self.watch.interest.kind.to_string(),
                state,
            }),
        }
    }
}

impl Clone for Follow {
    fn clone(&self) -> Self {
        self.watch.follow(self.standard.clone()).0
    }
}

impl Drop for Follow {
    fn drop(&mut self) {
        self.watch.standards.lock().remove(&self.standard);
        if self.watch.follows.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.watch.left.notify_one();
        }
    }
}

impl std::fmt::Debug for Follow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Follow")
            .field("watched", &self.watch.interest)
            .field("state", &self.state())
            .finish()
    }
}
