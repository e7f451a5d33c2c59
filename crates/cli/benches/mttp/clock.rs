//! A stretch of time with what happened in it.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// When a phase was: on the clock that the audit log has, too, in seconds since 1970.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Window {
    pub(crate) from: f64,
    pub(crate) to: f64,
}

impl Window {
    pub(crate) fn took(self) -> Duration {
        Duration::from_secs_f64((self.to - self.from).max(0.0))
    }
}

/// A phase that has begun.
pub(crate) struct Begun {
    from: f64,
    at: Instant,
}

impl Begun {
    pub(crate) fn now() -> Self {
        Begun {
            from: jiff::Timestamp::now().as_nanosecond() as f64 / 1e9,
            at: Instant::now(),
        }
    }

    /// The phase until then.
    pub(crate) fn until(&self, end: Instant) -> Window {
        let took = end.saturating_duration_since(self.at);
        Window {
            from: self.from,
            to: self.from + took.as_secs_f64(),
        }
    }
}
