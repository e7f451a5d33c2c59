//! A clock that stands still until the test moves it.
//!
//! Hand [`Clock::now`] (or the clock itself) to code that takes time as an argument. A task that waits calls
//! [`Clock::sleep`]; [`Clock::advance`] wakes every sleeper whose time has come, in the order of their times.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use jiff::Timestamp;
use parking_lot::Mutex;
use tokio::sync::watch;

/// A virtual clock. Clones show the same time.
#[derive(Clone, Debug)]
pub struct Clock {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// How many sleep at the moment, for [`Clock::sleeping`].
    sleepers: watch::Sender<usize>,
}

#[derive(Debug)]
struct State {
    now: Timestamp,
    next_id: u64,
    /// By wake time, then by age, so that equal times wake in the order in which they fell asleep.
    sleepers: BTreeMap<(Timestamp, u64), Waker>,
}

impl Default for Clock {
    /// A clock at the first second of 2026.
    fn default() -> Self {
        Self::at("2026-01-01T00:00:00Z")
    }
}

impl Clock {
    /// A clock that shows the given RFC 3339 time.
    ///
    /// # Panics
    /// When the text is not a time: a mistake in the test.
    pub fn at(time: &str) -> Self {
        let now = time
            .parse()
            .unwrap_or_else(|error| panic!("{time:?} is not an RFC 3339 time: {error}"));
        let state = State {
            now,
            next_id: 0,
            sleepers: BTreeMap::new(),
        };
        Self {
            shared: Arc::new(Shared {
                state: Mutex::new(state),
                sleepers: watch::Sender::new(0),
            }),
        }
    }

    /// The time that the clock shows.
    pub fn now(&self) -> Timestamp {
        self.shared.state.lock().now
    }

    /// Moves the clock on and wakes those whose time has come.
    pub fn advance(&self, by: Duration) {
        let to = after(self.now(), by);
        self.set(to);
    }

    /// Moves the clock to a time, also backwards (as a machine whose clock is corrected), and wakes those whose time
    /// has come.
    pub fn set(&self, to: Timestamp) {
        let mut state = self.shared.state.lock();
        state.now = to;
        let later = state.sleepers.split_off(&(to, u64::MAX));
        let due = std::mem::replace(&mut state.sleepers, later);
        self.shared.sleepers.send_replace(state.sleepers.len());
        drop(state);
        due.into_values().for_each(Waker::wake);
    }

    /// When the next sleeper wants to be woken.
    pub fn next_wake(&self) -> Option<Timestamp> {
        self.shared.state.lock().sleepers.keys().next().map(|(at, _)| *at)
    }

    /// Moves the clock to the next sleeper's time. Returns that time, or nothing when no one sleeps.
    pub fn advance_to_next(&self) -> Option<Timestamp> {
        let next = self.next_wake()?;
        self.set(next.max(self.now()));
        Some(next)
    }

    /// Ready once the clock has moved on by the duration.
    pub fn sleep(&self, duration: Duration) -> Sleep {
        self.sleep_until(after(self.now(), duration))
    }

    /// Ready once the clock shows the time or a later one.
    pub fn sleep_until(&self, until: Timestamp) -> Sleep {
        let mut state = self.shared.state.lock();
        state.next_id += 1;
        Sleep {
            clock: self.clone(),
            key: (until, state.next_id),
        }
    }

    /// Waits until at least this many tasks sleep, so that a test moves the clock only when its task has got there.
    pub async fn sleeping(&self, count: usize) {
        let mut sleepers = self.shared.sleepers.subscribe();
        // The sender lives in `self`, so the wait cannot fail.
        let _ = sleepers.wait_for(|now| *now >= count).await;
    }
}

/// The future of [`Clock::sleep`].
#[derive(Debug)]
#[must_use = "a sleep does nothing until it is awaited"]
pub struct Sleep {
    clock: Clock,
    key: (Timestamp, u64),
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.clock.shared.state.lock();
        if state.now >= self.key.0 {
            return Poll::Ready(());
        }
        state.sleepers.insert(self.key, context.waker().clone());
        self.clock.shared.sleepers.send_replace(state.sleepers.len());
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        let mut state = self.clock.shared.state.lock();
        if state.sleepers.remove(&self.key).is_some() {
            self.clock.shared.sleepers.send_replace(state.sleepers.len());
        }
    }
}

fn after(time: Timestamp, by: Duration) -> Timestamp {
    time.saturating_add(by)
        .expect("a Duration has no calendar units, so only saturation can happen")
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn stands_still_until_it_is_moved() {
        let clock = Clock::at("2026-03-01T10:00:00Z");
        assert_eq!(clock.now().to_string(), "2026-03-01T10:00:00Z");
        clock.advance(MINUTE);
        assert_eq!(clock.now().to_string(), "2026-03-01T10:01:00Z");
    }

    #[tokio::test]
    async fn wakes_only_those_whose_time_has_come() {
        let clock = Clock::default();
        let sleep = |minutes: u32| {
            let clock = clock.clone();
            tokio::spawn(async move { clock.sleep(minutes * MINUTE).await })
        };
        let (one, three) = (sleep(1), sleep(3));
        clock.sleeping(2).await;
        clock.advance(2 * MINUTE);
        one.await.unwrap();
        assert!(!three.is_finished());
        assert_eq!(
            clock.advance_to_next().unwrap().to_string(),
            "2026-01-01T00:03:00Z"
        );
        three.await.unwrap();
        assert_eq!(clock.advance_to_next(), None);
    }

    #[tokio::test]
    async fn a_dropped_sleep_is_forgotten() {
        let clock = Clock::default();
        let task = tokio::spawn({
            let clock = clock.clone();
            async move { clock.sleep(MINUTE).await }
        });
        clock.sleeping(1).await;
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
        assert_eq!(clock.next_wake(), None);
    }
}
