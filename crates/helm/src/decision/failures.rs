//! How often things failed, and when that is forgotten.

use model::Map;

use super::{Policy, ReleaseAction};
use crate::digest;

/// How often things failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// All failures since the last reset.
    pub failures: i64,
    /// Installs that left a release behind.
    pub install: i64,
    /// Upgrades that left a release behind, and tests of such.
    pub upgrade: i64,
}

impl Counters {
    /// Counts an install or upgrade that failed. One that wrote no release leaves nothing to undo, and is tried again however often it
    /// failed.
    pub fn count_release(&mut self, action: ReleaseAction, wrote_release: bool) {
        self.failures += 1;
        if wrote_release {
            self.count(action);
        }
    }

    /// Counts tests of the newest release that failed. They count for what made the release, unless that does not matter or none was run.
    pub fn count_test(&mut self, policy: &Policy, last: Option<ReleaseAction>, has_been_tested: bool) {
        self.failures += 1;
        if let (Some(action), true) = (last, has_been_tested)
            && !policy.of(action).ignores_test_failures()
        {
            self.count(action);
        }
    }

    /// Counts the failure of something else.
    pub fn count_other(&mut self) {
        self.failures += 1;
    }

    /// Takes note of an install or upgrade that went well: failures are forgotten where they are tried again instead of undone. Elsewhere
    /// they stay until what is wanted changes, so that a release which fails its tests does not go on for ever.
    pub fn release_succeeded(&mut self, policy: &Policy, action: ReleaseAction) {
        if policy.retry_interval(Some(action)).is_some() {
            *self = Counters::default();
        }
    }

    fn count(&mut self, action: ReleaseAction) {
        match action {
            ReleaseAction::Install => self.install += 1,
            ReleaseAction::Upgrade => self.upgrade += 1,
        }
    }
}

/// What was last tried, and what is to be tried now.
#[derive(Clone, Copy, Debug)]
pub struct Attempt<'a> {
    /// The generation of the object now.
    pub generation: i64,
    /// `lastAttemptedGeneration`
    pub last_generation: i64,
    /// The version of the chart now.
    pub chart_version: &'a str,
    /// `lastAttemptedRevision`
    pub last_revision: &'a str,
    /// The values now.
    pub values: &'a Map,
    /// `lastAttemptedConfigDigest`, or `sha1:` with `lastAttemptedValuesChecksum`; empty if there is neither.
    pub last_config_digest: &'a str,
    /// Whether a reset is asked for that was not handled yet.
    pub reset_requested: bool,
}

/// Why failures are forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the texts say it")]
pub enum ResetReason {
    Generation,
    Revision,
    Values,
    Requested,
}

impl ResetReason {
    /// Why, in Flux's words.
    pub fn text(self) -> &'static str {
        match self {
            ResetReason::Generation => "generation differs from last attempt",
            ResetReason::Revision => "chart version differs from last attempt",
            ResetReason::Values => "values differ from last attempt",
            ResetReason::Requested => "reset requested through annotation",
        }
    }
}

/// Whether failures are forgotten: what is to be tried is not what failed, or somebody asked for it.
pub fn reset_reason(attempt: &Attempt<'_>) -> Option<ResetReason> {
    if attempt.generation != attempt.last_generation {
        return Some(ResetReason::Generation);
    }
    if attempt.chart_version != attempt.last_revision {
        return Some(ResetReason::Revision);
    }
    let digest = attempt.last_config_digest;
    if !digest.is_empty() && !digest::values_match(digest, attempt.values) {
        return Some(ResetReason::Values);
    }
    attempt.reset_requested.then_some(ResetReason::Requested)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::digest::Algorithm;

    use crate::decision::{Strategy, Tests};

    #[test]
    fn only_failures_that_left_something_behind_count_against_retries() {
        let mut counters = Counters::default();
        counters.count_release(ReleaseAction::Install, false);
        counters.count_release(ReleaseAction::Install, true);
        counters.count_release(ReleaseAction::Upgrade, true);
        counters.count_other();
        let policy = Policy::default();
        counters.count_test(&policy, Some(ReleaseAction::Upgrade), true);
        counters.count_test(&policy, Some(ReleaseAction::Upgrade), false);
        counters.count_test(&policy, None, true);
        let lenient = Policy {
            tests: Tests {
                ignore_failures: true,
                ..Tests::default()
            },
            ..Policy::default()
        };
        counters.count_test(&lenient, Some(ReleaseAction::Upgrade), true);
        let counted = (counters.failures, counters.install, counters.upgrade);
        assert_eq!(counted, (8, 1, 2));
        counters.release_succeeded(&policy, ReleaseAction::Upgrade);
        assert_eq!(counters.upgrade, 2);
        let mut retrying = Policy::default();
        retrying.upgrade.strategy = Some(Strategy::RetryOnFailure { interval: None });
        counters.release_succeeded(&retrying, ReleaseAction::Install);
        assert_eq!(counters.upgrade, 2);
        counters.release_succeeded(&retrying, ReleaseAction::Upgrade);
        assert_eq!(counters, Counters::default());
    }

    #[test]
    fn any_change_of_what_is_tried_forgets_failures() {
        let values: Map = [("a", "b")].into_iter().collect();
        let same = digest::of_values(Algorithm::Sha256, &values).to_string();
        let attempt = Attempt {
            generation: 2,
            last_generation: 2,
            chart_version: "1.0.0",
            last_revision: "1.0.0",
            values: &values,
            last_config_digest: &same,
            reset_requested: false,
        };
        assert_eq!(reset_reason(&attempt), None);
        let none = Attempt {
            last_config_digest: "",
            ..attempt
        };
        assert_eq!(reset_reason(&none), None);
        let other = Attempt {
            last_config_digest: "sha256:x",
            ..attempt
        };
        assert_eq!(reset_reason(&other), Some(ResetReason::Values));
        let newer = Attempt {
            generation: 3,
            ..attempt
        };
        assert_eq!(reset_reason(&newer), Some(ResetReason::Generation));
        let chart = Attempt {
            chart_version: "1.0.1",
            ..attempt
        };
        assert_eq!(reset_reason(&chart), Some(ResetReason::Revision));
        let asked = Attempt {
            reset_requested: true,
            ..attempt
        };
        assert_eq!(reset_reason(&asked), Some(ResetReason::Requested));
        // The checksum that Flux kept before it had digests.
        let legacy = digest::of_values(Algorithm::Sha1, &values).to_string();
        let old = Attempt {
            last_config_digest: &legacy,
            ..attempt
        };
        assert_eq!(reset_reason(&old), None);
    }
}
