//! What is to be done, by key, and when: each key at most once at a time, the earliest time wins, failures back off.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// How long to wait after one failure and another.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    /// After the first failure.
    pub first: Duration,
    /// After many.
    pub most: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Backoff {
            first: Duration::from_millis(750),
            most: Duration::from_secs(15 * 60),
        }
    }
}

impl Backoff {
    /// The wait after this many failures in a row: it doubles each time.
    pub fn after(&self, failures: u32) -> Duration {
        let factor = 1u32
            .checked_shl(failures.saturating_sub(1))
            .filter(|_| failures <= 32)
            .unwrap_or(u32::MAX);
        self.first.saturating_mul(factor).min(self.most)
    }
}

/// Nobody waits for longer than this: the clock has an end.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// The time after this wait.
fn after(now: Instant, wait: Duration) -> Instant {
    now + wait.min(LONGEST)
}

/// A queue of keys. Clones are the same queue.
#[derive(Debug)]
pub struct Queue<K> {
    shared: Arc<Shared<K>>,
}

#[derive(Debug)]
struct Shared<K> {
    state: Mutex<State<K>>,
    /// Told when something may be due earlier than those who wait know of.
    changed: Notify,
    backoff: Backoff,
}

#[derive(Debug)]
struct State<K> {
    /// What is not being worked on, by the time it is due; the number keeps the order of those due at the same time.
    due: BTreeSet<(Instant, u64, K)>,
    keys: HashMap<K, Entry>,
    next: u64,
    retries: u64,
    closed: bool,
}

#[derive(Debug, Default)]
struct Entry {
    /// Its place in `due`.
    place: Option<(Instant, u64)>,
    /// Since when it is worked on.
    running: Option<Instant>,
    /// When to run again once the work that is under way is done.
    again: Option<Instant>,
    failures: u32,
}

/// What a queue has done and has to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// How many keys are due and wait for a worker.
    pub depth: usize,
    /// How often a key was queued.
    pub adds: u64,
    /// How often a key was queued because work on it failed.
    pub retries: u64,
    /// How long all the work that goes on has taken so far.
    pub unfinished: Duration,
    /// How long the longest of it has taken so far.
    pub longest: Duration,
}

/// What has become of the work on a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// Nothing more is to be done until something is added.
    Forget,
    /// It is to be looked at again after this time.
    After(Duration),
    /// It failed and is tried again after a wait that grows with each failure.
    Retry,
}

impl<K> Clone for Queue<K> {
    fn clone(&self) -> Self {
        Queue {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<K: Clone + Eq + Hash + Ord> Queue<K> {
    /// An empty queue.
    pub fn new(backoff: Backoff) -> Self {
        let state = State {
            due: BTreeSet::new(),
            keys: HashMap::new(),
            next: 0,
            retries: 0,
            closed: false,
        };
        Queue {
            shared: Arc::new(Shared {
                state: Mutex::new(state),
                changed: Notify::new(),
                backoff,
            }),
        }
    }

    /// Something changed: work on this key now, or as soon as the work that is under way is done.
    pub fn add(&self, key: K) {
        self.add_at(key, Instant::now());
    }

    /// Work on this key after a while, a year at most, unless it is due earlier anyway.
    pub fn add_after(&self, key: K, wait: Duration) {
        self.add_at(key, after(Instant::now(), wait));
    }

    /// The same as [`add`](Queue::add), before all that is due: whoever has waited for others does not wait behind them once more.
    pub fn add_first(&self, key: K) {
        let now = Instant::now();
        let first = self.shared.state.lock().due.first().map(|(time, ..)| *time);
        let before = first.and_then(|first| first.checked_sub(Duration::from_nanos(1)));
        self.add_at(key, before.map_or(now, |before| before.min(now)));
    }

    fn add_at(&self, key: K, time: Instant) {
        let mut state = self.shared.state.lock();
        if state.closed {
            return;
        }
        state.schedule(key, time);
        drop(state);
        self.shared.changed.notify_one();
    }

    /// The next key that is due, once there is one; `None` when the queue was closed. The key is not given out again before
    /// the ticket is [finished](Ticket::finish) or dropped.
    pub async fn next(&self) -> Option<Ticket<K>> {
        while self.due_now().await {
            if let Some(ticket) = self.try_next() {
                return Some(ticket);
            }
        }
        None
    }

    /// Waits until a key is due. Returns false once the queue is closed.
    pub async fn due_now(&self) -> bool {
        loop {
            let changed = self.shared.changed.notified();
            let next = {
                let state = self.shared.state.lock();
                if state.closed {
                    // Others that wait are to see it too.
                    self.shared.changed.notify_one();
                    return false;
                }
                state.due.first().map(|(time, ..)| *time)
            };
            match next {
                Some(time) if time <= Instant::now() => return true,
                Some(time) => tokio::select! {
                    () = changed => {}
                    () = sleep_until(time) => {}
                },
                None => changed.await,
            }
        }
    }

    /// Returns the next key if one is due.
    pub fn try_next(&self) -> Option<Ticket<K>> {
        let now = Instant::now();
        let (due, key) = {
            let mut state = self.shared.state.lock();
            if state.closed {
                return None;
            }
            state.take(now)?
        };
        // There may be work for another worker as well.
        self.shared.changed.notify_one();
        Some(Ticket {
            queue: self.clone(),
            key: Some(key),
            waited: now.saturating_duration_since(due),
        })
    }

    /// Gives out no more keys and takes none.
    pub fn close(&self) {
        self.shared.state.lock().closed = true;
        self.shared.changed.notify_one();
    }

    /// How many keys are known.
    #[cfg(test)]
    pub(crate) fn keys(&self) -> usize {
        self.shared.state.lock().keys.len()
    }

    /// What it has done and has to do.
    pub fn load(&self) -> Load {
        let now = Instant::now();
        let state = self.shared.state.lock();
        let running = state.keys.values().filter_map(|entry| entry.running);
        let running = running.map(|since| now.saturating_duration_since(since));
        Load {
            depth: state.due.iter().take_while(|(time, ..)| *time <= now).count(),
            adds: state.next,
            retries: state.retries,
            unfinished: running.clone().sum(),
            longest: running.max().unwrap_or_default(),
        }
    }

    /// When a key is due, for those who want to tell people.
    pub fn due(&self, key: &K) -> Option<Instant> {
        let state = self.shared.state.lock();
        let entry = state.keys.get(key)?;
        entry.place.map(|(time, _)| time).or(entry.again)
    }

    fn finish(&self, key: K, done: Done) {
        let mut state = self.shared.state.lock();
        state.retries += u64::from(done == Done::Retry);
        let entry = state.keys.entry(key.clone()).or_default();
        entry.running = None;
        let now = Instant::now();
        let wait = match done {
            Done::Forget => {
                entry.failures = 0;
                None
            }
            Done::After(wait) => {
                entry.failures = 0;
                Some(after(now, wait))
            }
            Done::Retry => {
                entry.failures = entry.failures.saturating_add(1);
                Some(after(now, self.shared.backoff.after(entry.failures)))
            }
        };
        match entry.again.take().into_iter().chain(wait).min() {
            Some(time) => state.schedule(key, time),
            None => drop(state.keys.remove(&key)),
        }
        drop(state);
        self.shared.changed.notify_one();
    }
}

impl<K: Clone + Eq + Hash + Ord> State<K> {
    fn schedule(&mut self, key: K, time: Instant) {
        let entry = self.keys.entry(key.clone()).or_default();
        if entry.running.is_some() {
            entry.again = Some(entry.again.map_or(time, |again| again.min(time)));
            return;
        }
        if let Some((planned, number)) = entry.place {
            if planned <= time {
                return;
            }
            self.due.remove(&(planned, number, key.clone()));
        }
        self.next += 1;
        entry.place = Some((time, self.next));
        self.due.insert((time, self.next, key));
    }

    /// Takes a key that is due, with the time since when it is.
    fn take(&mut self, now: Instant) -> Option<(Instant, K)> {
        if self.due.first().is_none_or(|(time, ..)| *time > now) {
            return None;
        }
        let (due, _, key) = self.due.pop_first()?;
        let entry = self.keys.entry(key.clone()).or_default();
        entry.place = None;
        entry.running = Some(now);
        Some((due, key))
    }
}

/// A key that is being worked on. Work that ends without saying how, because it panicked or was cut off, failed.
#[derive(Debug)]
pub struct Ticket<K: Clone + Eq + Hash + Ord> {
    queue: Queue<K>,
    key: Option<K>,
    waited: Duration,
}

impl<K: Clone + Eq + Hash + Ord> Ticket<K> {
    /// How long the key was due before it was given out.
    pub fn waited(&self) -> Duration {
        self.waited
    }

    /// The key.
    pub fn key(&self) -> &K {
        self.key
            .as_ref()
            .expect("the key is only taken when the ticket ends")
    }

    /// Says what has become of the work.
    pub fn finish(mut self, done: Done) {
        if let Some(key) = self.key.take() {
            self.queue.finish(key, done);
        }
    }
}

impl<K: Clone + Eq + Hash + Ord> Drop for Ticket<K> {
    fn drop(&mut self) {
        if let Some(key) = self.key.take() {
            self.queue.finish(key, Done::Retry);
        }
    }
}

#[cfg(test)]
mod tests;
