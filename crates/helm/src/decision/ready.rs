//! The condition `Ready`, summed up from the others.

/// A condition of a HelmRelease that is about its release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum ConditionType {
    Released,
    TestSuccess,
    Remediated,
    Drifted,
}

impl ConditionType {
    /// The name.
    pub fn as_str(self) -> &'static str {
        match self {
            ConditionType::Released => "Released",
            ConditionType::TestSuccess => "TestSuccess",
            ConditionType::Remediated => "Remediated",
            ConditionType::Drifted => "Drifted",
        }
    }
}

/// Whether a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Truth {
    True,
    False,
    Unknown,
}

impl Truth {
    /// The name.
    pub fn as_str(self) -> &'static str {
        match self {
            Truth::True => "True",
            Truth::False => "False",
            Truth::Unknown => "Unknown",
        }
    }
}

/// A condition that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Whether it holds.
    pub status: Truth,
    /// The reason.
    pub reason: String,
    /// The message.
    pub message: String,
    /// The generation it was observed at.
    pub observed_generation: i64,
}

/// The conditions that are there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conditions<'c> {
    /// `Remediated`
    pub remediated: Option<&'c Condition>,
    /// `TestSuccess`. Without tests it is to be removed.
    pub test_success: Option<&'c Condition>,
    /// `Released`
    pub released: Option<&'c Condition>,
}

/// What `Ready` says then; nothing if there is nothing to sum up. It is a copy of the most important one that is of the newest generation: what
/// undid a release before what its tests say, unless they are off or do not matter, before the release. A release that was undone is
/// never ready. When it is ready, it is not stalled.
pub fn summarize(conditions: &Conditions<'_>, tests: &super::Tests) -> Option<Condition> {
    let counts_tests = tests.enabled && !tests.ignore_failures;
    let test_success = conditions.test_success.filter(|_| counts_tests);
    // In the order of their names, as they stand in the status, each with its rank.
    let candidates = [
        (2, conditions.released),
        (0, conditions.remediated),
        (1, test_success),
    ];
    let mut sorted: Vec<(u8, &Condition)> = Vec::new();
    for (rank, condition) in candidates {
        let Some(condition) = condition else {
            continue;
        };
        // Each moves forward while it is before its neighbour: of a generation that is not older, and of a better rank.
        let mut at = sorted.len();
        while at > 0 {
            let (other_rank, other) = sorted[at - 1];
            let is_before = condition.observed_generation >= other.observed_generation && rank < other_rank;
            if !is_before {
                break;
            }
            at -= 1;
        }
        sorted.insert(at, (rank, condition));
    }
    let (rank, first) = *sorted.first()?;
    let mut ready = first.clone();
    if rank == 0 {
        ready.status = Truth::False;
    }
    Some(ready)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::Tests;

    fn condition(status: Truth, reason: &str, observed_generation: i64) -> Condition {
        Condition {
            status,
            reason: reason.to_owned(),
            message: String::new(),
            observed_generation,
        }
    }

    fn check(remediated: i64, tested: i64, released: i64, tests: (bool, bool)) -> Option<(Truth, String)> {
        let remediated = (remediated > 0).then(|| condition(Truth::True, "RollbackSucceeded", remediated));
        let tested = (tested > 0).then(|| condition(Truth::False, "TestFailed", tested));
        let released = (released > 0).then(|| condition(Truth::True, "UpgradeSucceeded", released));
        let conditions = Conditions {
            remediated: remediated.as_ref(),
            test_success: tested.as_ref(),
            released: released.as_ref(),
        };
        let tests = Tests {
            enabled: tests.0,
            ignore_failures: tests.1,
            ..Tests::default()
        };
        summarize(&conditions, &tests).map(|ready| (ready.status, ready.reason))
    }

    #[test]
    fn the_most_important_condition_of_the_newest_generation_counts() {
        let on = (true, false);
        assert_eq!(check(0, 0, 0, on), None);
        assert_eq!(
            check(0, 0, 1, on),
            Some((Truth::True, "UpgradeSucceeded".to_owned()))
        );
        assert_eq!(check(0, 1, 1, on), Some((Truth::False, "TestFailed".to_owned())));
        assert_eq!(
            check(0, 1, 1, (true, true)),
            Some((Truth::True, "UpgradeSucceeded".to_owned()))
        );
        assert_eq!(
            check(0, 1, 1, (false, false)),
            Some((Truth::True, "UpgradeSucceeded".to_owned()))
        );
        assert_eq!(
            check(1, 1, 1, on),
            Some((Truth::False, "RollbackSucceeded".to_owned()))
        );
        assert_eq!(
            check(1, 1, 2, on),
            Some((Truth::True, "UpgradeSucceeded".to_owned()))
        );
        assert_eq!(
            check(2, 1, 2, on),
            Some((Truth::False, "RollbackSucceeded".to_owned()))
        );
    }
}
