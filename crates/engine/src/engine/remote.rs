//! Workers for clusters that others vouch for.
//!
//! A kubeconfig may lead to an API server that answers each request just before it times out. Work on such a cluster takes hours, and
//! must not hold the workers that everybody else's units need. It therefore has workers of its own, and whoever vouches for clusters
//! never holds all of them.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::queue::Ticket;

/// The workers that a unit is worked on by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// Those for clusters that this process knows by itself.
    Own,
    /// Those for clusters that others vouch for.
    Remote,
}

/// Units in clusters that others vouch for, in the order in which they wait for a worker.
#[derive(Default)]
pub(super) struct RemoteQueue {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<(Arc<str>, Ticket<String>)>,
    /// The number of workers that each who vouches holds.
    running: HashMap<Arc<str>, usize>,
    workers: usize,
}

impl RemoteQueue {
    /// Sets the number of workers, and returns how many there are: at least two, as nobody may hold all of them.
    pub(super) fn set_workers(&self, workers: usize) -> usize {
        let workers = workers.max(2);
        self.state.lock().workers = workers;
        workers
    }

    /// Adds a unit in a cluster that this one vouches for.
    pub(super) fn add(&self, voucher: Arc<str>, ticket: Ticket<String>) {
        self.state.lock().waiting.push_back((voucher, ticket));
        self.changed.notify_one();
    }

    /// Waits for the next unit. Whoever vouches for its cluster holds a worker until the turn is dropped.
    pub(super) async fn next(&self) -> (Turn<'_>, Ticket<String>) {
        loop {
            let changed = self.changed.notified();
            if let Some((voucher, ticket)) = self.state.lock().take() {
                // There may be another one.
                self.changed.notify_one();
                let turn = Turn { queue: self, voucher };
                return (turn, ticket);
            }
            changed.await;
        }
    }
}

impl State {
    fn take(&mut self) -> Option<(Arc<str>, Ticket<String>)> {
        let most = (self.workers / 2).max(1);
        let may_run = |voucher: &Arc<str>| self.running.get(voucher).is_none_or(|held| *held < most);
        let at = self.waiting.iter().position(|(voucher, _)| may_run(voucher))?;
        let (voucher, ticket) = self.waiting.remove(at)?;
        *self.running.entry(Arc::clone(&voucher)).or_default() += 1;
        Some((voucher, ticket))
    }
}

/// A worker that is held.
pub(super) struct Turn<'q> {
    queue: &'q RemoteQueue,
    voucher: Arc<str>,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = self.queue.state.lock();
        if let Some(held) = state.running.get_mut(&self.voucher) {
            *held -= 1;
            if *held == 0 {
                state.running.remove(&self.voucher);
            }
        }
        drop(state);
        self.queue.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;
    use crate::queue::{Backoff, Queue};

    #[tokio::test]
    async fn nobody_holds_all_workers() {
        let (units, remote) = (Queue::new(Backoff::default()), RemoteQueue::default());
        assert_eq!(remote.set_workers(1), 2);
        for (unit, voucher) in [("a", "eve"), ("b", "eve"), ("c", "ada")] {
            units.add(unit.to_owned());
            remote.add(Arc::from(voucher), units.next().await.unwrap());
        }
        let (first, ticket) = remote.next().await;
        assert_eq!(ticket.key(), "a");
        let (second, other) = remote.next().await;
        assert_eq!(other.key(), "c");
        drop(second);
        assert!(remote.next().now_or_never().is_none(), "eve holds one of two");
        drop(first);
        assert_eq!(remote.next().await.1.key(), "b");
        assert!(remote.state.lock().running.is_empty());
    }
}
