//! One watch that several may follow.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::interest::Interest;
use super::state::{NotSynced, State};
use super::store::Store;

/// A watch: what it is of, what it has found, how far it is, and how many follow it.
pub(super) struct Watch {
    pub(super) interest: Interest,
    pub(super) store: Store,
    pub(super) state: watch::Sender<State>,
    /// The settings changed: everything is to be looked at again.
    pub(super) reload: Notify,
    /// The version up to which everything was told, where it is a number.
    reached: AtomicU64,
    follows: AtomicUsize,
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
            left: Notify::new(),
            task: Mutex::new(None),
        }
    }

    pub(super) fn follow(self: &Arc<Self>) -> Follow {
        self.follows.fetch_add(1, Ordering::AcqRel);
        Follow {
            watch: Arc::clone(self),
        }
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
}

impl Follow {
    /// How far the watch is.
    pub fn state(&self) -> State {
        self.watch.state.borrow().clone()
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
        let settled = states.wait_for(|state| !matches!(state, State::Starting | State::Retrying { .. }));
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
        self.watch.follow()
    }
}

impl Drop for Follow {
    fn drop(&mut self) {
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
