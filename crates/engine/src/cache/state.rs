//! How far a watch is.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::cluster::Error;

/// How far the watch of a kind is.
#[derive(Clone, Debug, Default)]
pub enum State {
    /// Nobody follows the kind, or the settings exclude it.
    #[default]
    Absent,
    /// Its objects are being listed for the first time.
    Starting,
    /// All its objects are known.
    Synced,
    /// It failed and will be tried again. What was known is kept, unless the cluster has used up its [budget](crate::cluster::Budget).
    Retrying {
        /// Since when.
        since: Instant,
        /// Why.
        error: Arc<Error>,
    },
    /// It may not be read. It is tried again now and then; what was known is kept.
    Forbidden {
        /// What the server said.
        error: Arc<Error>,
    },
    /// There is no such kind. It begins as soon as there is.
    NoSuchKind,
}

impl State {
    /// Whether all objects are known.
    pub fn is_synced(&self) -> bool {
        matches!(self, State::Synced)
    }

    /// The further from synced, the higher: of several watches of a kind the worst is told.
    pub(super) fn rank(&self) -> u8 {
        match self {
            State::Absent => 0,
            State::Synced => 1,
            State::Starting => 2,
            State::Retrying { .. } => 3,
            State::Forbidden { .. } => 4,
            State::NoSuchKind => 5,
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            State::Absent => f.write_str("not watched"),
            State::Starting => f.write_str("being listed"),
            State::Synced => f.write_str("synced"),
            State::Retrying { error, .. } => write!(f, "being retried: {error}"),
            State::Forbidden { error } => write!(f, "forbidden: {error}"),
            State::NoSuchKind => f.write_str("not served"),
        }
    }
}

/// A kind that was waited for is not synced.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{kind} is {state}")]
pub struct NotSynced {
    /// The kind.
    pub kind: String,
    /// How far it is.
    pub state: State,
}

/// Pauses that double.
#[derive(Debug)]
pub(super) struct Backoff {
    failures: u32,
}

impl Backoff {
    pub(super) fn new() -> Backoff {
        Backoff { failures: 0 }
    }

    pub(super) fn reset(&mut self) {
        self.failures = 0;
    }

    /// The next pause: between three quarters and five quarters of a doubling time, as `random` in `0.0..1.0` says, so that
    /// watches that failed together do not come back together.
    pub(super) fn next(&mut self, first: Duration, longest: Duration, random: f64) -> Duration {
        let doubled = first.saturating_mul(1 << self.failures.min(16));
        self.failures = self.failures.saturating_add(1);
        doubled.min(longest).mul_f64(0.75 + random / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest_and_start_again() {
        let mut backoff = Backoff::new();
        let (first, longest) = (Duration::from_secs(1), Duration::from_secs(10));
        let next = |backoff: &mut Backoff| backoff.next(first, longest, 0.5).as_secs();
        let pauses: Vec<u64> = (0..6).map(|_| next(&mut backoff)).collect();
        assert_eq!(pauses, [1, 2, 4, 8, 10, 10]);
        backoff.reset();
        assert_eq!(next(&mut backoff), 1);
        for _ in 0..1000 {
            assert!(backoff.next(first, longest, 0.99) < Duration::from_millis(12_500));
        }
    }
}
