//! Workers for clusters that others vouch for.
//!
//! A kubeconfig may lead to an API server that answers each request just before it times out. Work on such a cluster takes hours, and
//! must not hold the workers that everybody else's units need. So everyone who vouches for clusters has workers of their own.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::queue::{Done, Ticket};
use crate::workers::WorkerPermit;

/// The workers that a unit is worked on by.
#[derive(Clone, Copy, Debug)]
pub(super) enum Lane<'w> {
    /// Those for clusters that this process knows by itself, with the one that works on it.
    Own(&'w WorkerPermit),
    /// Those for clusters that others vouch for.
    Remote,
}

impl Lane<'_> {
    /// Whether the workers are those of this process.
    pub(super) fn is_own(self) -> bool {
        matches!(self, Lane::Own(_))
    }
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
    /// The number of workers that each who vouches has.
    each: usize,
}

impl RemoteQueue {
    /// Works on units as they come, with so many workers for each who vouches.
    pub(super) async fn work<F>(self: &Arc<Self>, each: usize, work: impl Fn(Ticket<String>) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.state.lock().each = each;
        let mut working = JoinSet::new();
        loop {
            let (turn, ticket) = self.next().await;
            while working.try_join_next().is_some() {}
            let work = work(ticket);
            working.spawn(async move {
                work.await;
                drop(turn);
            });
        }
    }

    /// Adds a unit in a cluster that this one vouches for.
    pub(super) fn add(&self, voucher: Arc<str>, ticket: Ticket<String>) {
        self.state.lock().waiting.push_back((voucher, ticket));
        self.changed.notify_one();
    }

    /// Gives back the units that wait for a worker and whose place is not known any more: it is found out by another one.
    pub(super) fn release(&self, is_lost: impl Fn(&str) -> bool) {
        let mut state = self.state.lock();
        let waiting = std::mem::take(&mut state.waiting);
        let (lost, waiting) = waiting.into_iter().partition(|(_, ticket)| is_lost(ticket.key()));
        state.waiting = waiting;
        drop(state);
        let lost: VecDeque<(Arc<str>, Ticket<String>)> = lost;
        for (_, ticket) in lost {
            ticket.finish(Done::After(Duration::ZERO));
        }
    }

    /// Waits for the next unit. Whoever vouches for its cluster holds a worker until the turn is dropped.
    async fn next(self: &Arc<Self>) -> (Turn, Ticket<String>) {
        loop {
            let changed = self.changed.notified();
            if let Some((voucher, ticket)) = self.state.lock().take() {
                let queue = Arc::clone(self);
                return (Turn { queue, voucher }, ticket);
            }
            changed.await;
        }
    }
}

impl State {
    fn take(&mut self) -> Option<(Arc<str>, Ticket<String>)> {
        let may_run = |voucher: &Arc<str>| self.running.get(voucher).is_none_or(|held| *held < self.each);
        let at = self.waiting.iter().position(|(voucher, _)| may_run(voucher))?;
        let (voucher, ticket) = self.waiting.remove(at)?;
        *self.running.entry(Arc::clone(&voucher)).or_default() += 1;
        Some((voucher, ticket))
    }
}

/// A worker that is held.
struct Turn {
    queue: Arc<RemoteQueue>,
    voucher: Arc<str>,
}

impl Drop for Turn {
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
    async fn nobody_holds_a_worker_of_another() {
        let (units, remote) = (Queue::new(Backoff::default()), Arc::new(RemoteQueue::default()));
        remote.state.lock().each = 1;
        let given = [("a", "eve"), ("b", "eve"), ("c", "mallory"), ("d", "ada")];
        for (unit, voucher) in given {
            units.add(unit.to_owned());
            remote.add(Arc::from(voucher), units.next().await.unwrap());
        }
        let mut turns = Vec::new();
        for expected in ["a", "c", "d"] {
            let (turn, ticket) = remote.next().await;
            assert_eq!(ticket.key(), expected);
            turns.push(turn);
        }
        assert!(remote.next().now_or_never().is_none(), "eve has one worker");
        turns.clear();
        assert_eq!(remote.next().await.1.key(), "b");
        assert!(remote.state.lock().running.is_empty());
    }

    #[tokio::test]
    async fn work_that_panics_gives_its_worker_back() {
        let (units, remote) = (Queue::new(Backoff::default()), Arc::new(RemoteQueue::default()));
        for unit in ["a", "b"] {
            units.add(unit.to_owned());
            remote.add(Arc::from("eve"), units.next().await.unwrap());
        }
        let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
        let work = remote.work(1, |ticket| {
            let tell = tell.clone();
            async move {
                tell.send(ticket.key().clone()).unwrap();
                panic!("out of luck");
            }
        });
        tokio::select! {
            () = work => unreachable!("it works until it is dropped"),
            both = async { (told.recv().await, told.recv().await) } => {
                assert_eq!(both, (Some("a".to_owned()), Some("b".to_owned())));
            }
        }
    }
}
