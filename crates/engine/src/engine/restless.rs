//! Sources that describe something else each time although their revision is the same: a template with the time in it, or two that overwrite
//! each other. Each of these is applied, though with growing pauses, or the cluster would be written to without end.

use std::time::Duration;

use model::Digest;
use tokio::time::Instant;

/// The pause after the first that was something else. Each further one is longer.
const FIRST: Duration = Duration::from_secs(2);
const FACTOR: u32 = 3;
const MOST: Duration = Duration::from_secs(300);

/// A source that describes the same for so long is not restless.
const QUIET: Duration = Duration::from_secs(600);

/// What a source has described last.
#[derive(Debug, Default)]
pub(super) struct Restless {
    revision: String,
    content: Option<Digest>,
    /// How often it was something else under the same revision.
    times: u32,
    last: Option<Instant>,
}

impl Restless {
    /// How long it is until what the source describes now is applied. It is taken for applied if that is at once.
    pub(super) fn wait(&mut self, revision: &str, content: Digest, now: Instant) -> Duration {
        if self.content == Some(content) {
            return Duration::ZERO;
        }
        let is_quiet = |last: Instant| now.saturating_duration_since(last) >= QUIET;
        if self.content.is_none() || self.revision != revision || self.last.is_none_or(is_quiet) {
            revision.clone_into(&mut self.revision);
            self.times = 0;
        } else {
            let due = self.last.map(|last| last + pause(self.times));
            let wait = due.map_or(Duration::ZERO, |due| due.saturating_duration_since(now));
            if !wait.is_zero() {
                return wait;
            }
            self.times = self.times.saturating_add(1);
        }
        self.content = Some(content);
        self.last = Some(now);
        Duration::ZERO
    }

    /// Somebody says that the unit has changed.
    pub(super) fn is_told(&mut self) {
        self.times = 0;
    }
}

fn pause(times: u32) -> Duration {
    match times.checked_sub(1) {
        None => Duration::ZERO,
        Some(earlier) => FIRST.saturating_mul(FACTOR.saturating_pow(earlier)).min(MOST),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(number: u64) -> Digest {
        crate::plan::objects::digest(&model::Value::from(number.to_string()))
    }

    #[test]
    fn something_else_under_the_same_revision_is_applied_with_growing_pauses() {
        let (mut restless, mut now) = (Restless::default(), Instant::now());
        let mut waits = Vec::new();
        for number in 0..8 {
            let wait = restless.wait("v1", content(number), now);
            waits.push(wait.as_secs());
            now += wait;
            assert!(restless.wait("v1", content(number), now).is_zero());
        }
        assert_eq!(waits, [0, 0, 2, 6, 18, 54, 162, 300]);
        assert!(!restless.wait("v1", content(9), now).is_zero());
        assert!(restless.wait("v2", content(10), now).is_zero(), "a new revision");
        assert!(restless.wait("v2", content(10), now).is_zero(), "the same");
        assert!(restless.wait("v2", content(11), now).is_zero());
        assert!(!restless.wait("v2", content(12), now).is_zero());
        restless.is_told();
        assert!(restless.wait("v2", content(12), now).is_zero());
    }

    #[test]
    fn after_some_quiet_it_is_at_once_again() {
        let (mut restless, now) = (Restless::default(), Instant::now());
        for number in 0..2 {
            assert!(restless.wait("v1", content(number), now).is_zero());
        }
        assert!(!restless.wait("v1", content(3), now).is_zero());
        assert!(restless.wait("v1", content(3), now + QUIET).is_zero());
    }
}
