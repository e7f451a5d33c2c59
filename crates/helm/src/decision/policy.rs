//! What a user wants to happen when things go well or wrong.

use std::time::Duration;

use super::{Counters, History, Snapshot};

/// How long to wait before an action is tried again, if nothing else is said.
pub const RETRY_INTERVAL: Duration = Duration::from_secs(300);

/// The parts of a specification that decide what is done next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// `install.remediation` and `install.strategy`.
    pub install: ActionPolicy,
    /// `upgrade.remediation` and `upgrade.strategy`.
    pub upgrade: ActionPolicy,
    /// `test`.
    pub tests: Tests,
    /// `driftDetection.mode`.
    pub drift: DriftMode,
    /// Whether actions without a strategy are tried again, as the feature gate `DefaultToRetryOnFailure` wants.
    pub retry_by_default: bool,
}

/// What happens when an install or upgrade fails.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActionPolicy {
    /// How the failure is undone.
    pub remediation: Remediation,
    /// Whether it is undone, or tried again.
    pub strategy: Option<Strategy>,
}

/// How failures are undone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Remediation {
    /// How often it is tried again after the first failure; without end if negative.
    pub retries: i64,
    /// Whether failed tests are fine. What the tests say counts if this says nothing.
    pub ignore_test_failures: Option<bool>,
    /// Whether the last failure is undone too.
    pub remediate_last_failure: Option<bool>,
    /// How upgrades are undone. Installs are always uninstalled.
    pub remedy: Remedy,
}

/// How an upgrade is undone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Remedy {
    /// By going back to the release before.
    #[default]
    Rollback,
    /// By uninstalling the release. It is installed anew then.
    Uninstall,
}

/// What is done about a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// It is undone.
    RemediateOnFailure,
    /// It is tried again after a while.
    RetryOnFailure {
        /// How long that is; [`RETRY_INTERVAL`] if nothing is said.
        interval: Option<Duration>,
    },
}

/// `test`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tests {
    /// Whether tests are run.
    pub enabled: bool,
    /// Whether it is fine if they fail.
    pub ignore_failures: bool,
    /// Which of them.
    pub filters: Vec<Filter>,
}

/// Takes tests, or leaves them out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// The name of the test.
    pub name: String,
    /// Whether it is left out.
    pub exclude: bool,
}

/// `driftDetection.mode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum DriftMode {
    #[default]
    Disabled,
    Warn,
    Enabled,
}

impl DriftMode {
    /// Whether the cluster is compared at all.
    pub fn detects(self) -> bool {
        self != DriftMode::Disabled
    }
}

/// What was last tried: `lastAttemptedReleaseAction`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum ReleaseAction {
    Install,
    Upgrade,
}

impl ReleaseAction {
    /// The name in the status.
    pub fn as_str(self) -> &'static str {
        match self {
            ReleaseAction::Install => "install",
            ReleaseAction::Upgrade => "upgrade",
        }
    }

    /// The action of a name in a status.
    pub fn parse(name: &str) -> Option<ReleaseAction> {
        match name {
            "install" => Some(ReleaseAction::Install),
            "upgrade" => Some(ReleaseAction::Upgrade),
            _ => None,
        }
    }
}

/// The remediation of what was last tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Active<'p> {
    action: ReleaseAction,
    remediation: &'p Remediation,
    /// What the tests say about failures.
    ignore_failures: bool,
}

impl Policy {
    /// The remediation of what was last tried.
    pub(super) fn active(&self, last: Option<ReleaseAction>) -> Option<Active<'_>> {
        last.map(|action| self.of(action))
    }

    /// The remediation of an action.
    pub(super) fn of(&self, action: ReleaseAction) -> Active<'_> {
        let policy = match action {
            ReleaseAction::Install => &self.install,
            ReleaseAction::Upgrade => &self.upgrade,
        };
        Active {
            action,
            remediation: &policy.remediation,
            ignore_failures: self.tests.ignore_failures,
        }
    }

    /// How long to wait before what was last tried is tried again, if that is what shall happen instead of undoing it.
    pub fn retry_interval(&self, last: Option<ReleaseAction>) -> Option<Duration> {
        let strategy = match last? {
            ReleaseAction::Install => self.install.strategy,
            ReleaseAction::Upgrade => self.upgrade.strategy,
        };
        match strategy {
            None if self.retry_by_default => Some(RETRY_INTERVAL),
            Some(Strategy::RetryOnFailure { interval }) => Some(interval.unwrap_or(RETRY_INTERVAL)),
            None | Some(Strategy::RemediateOnFailure) => None,
        }
    }

    /// Whether failed tests do not matter, for what was last tried.
    pub(super) fn ignores_test_failures(&self, last: Option<ReleaseAction>) -> bool {
        match self.active(last) {
            Some(active) => active.ignores_test_failures(),
            None => self.tests.ignore_failures,
        }
    }

    /// The release to go back to when an upgrade failed.
    pub fn rollback_target<'h>(&self, history: &'h History) -> Option<&'h Snapshot> {
        history.previous(self.of(ReleaseAction::Upgrade).ignores_test_failures())
    }
}

impl Active<'_> {
    pub(super) fn ignores_test_failures(self) -> bool {
        self.remediation
            .ignore_test_failures
            .unwrap_or(self.ignore_failures)
    }

    /// How often it failed.
    pub(super) fn failures(self, counters: &Counters) -> i64 {
        match self.action {
            ReleaseAction::Install => counters.install,
            ReleaseAction::Upgrade => counters.upgrade,
        }
    }

    /// Whether it is not to be tried again.
    pub(super) fn is_exhausted(self, counters: &Counters) -> bool {
        self.remediation.retries >= 0 && self.failures(counters) > self.remediation.retries
    }

    pub(super) fn remediates_last_failure(self) -> bool {
        self.remediation
            .remediate_last_failure
            .unwrap_or(match self.action {
                ReleaseAction::Install => false,
                ReleaseAction::Upgrade => self.remediation.retries > 0,
            })
    }

    pub(super) fn remedy(self) -> Remedy {
        match self.action {
            ReleaseAction::Install => Remedy::Uninstall,
            ReleaseAction::Upgrade => self.remediation.remedy,
        }
    }

    /// Whether an upgrade is undone by uninstalling: then an install follows, however often it failed.
    pub(super) fn is_uninstall_after_upgrade(self) -> bool {
        self.action == ReleaseAction::Upgrade && self.remedy() == Remedy::Uninstall
    }
}

impl Tests {
    /// Whether a test is run: it is in the list, if there is one, and not in that of those left out.
    pub fn selects(&self, name: &str) -> bool {
        let mut lists = false;
        let mut listed = false;
        for filter in &self.filters {
            let is_it = filter.name == name;
            if filter.exclude {
                if is_it {
                    return false;
                }
                continue;
            }
            lists = true;
            listed |= is_it;
        }
        !lists || listed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(name: &str, exclude: bool) -> Filter {
        Filter {
            name: name.to_owned(),
            exclude,
        }
    }

    #[test]
    fn tests_are_selected_by_name() {
        let select = |filters: Vec<Filter>| {
            let tests = Tests {
                filters,
                ..Tests::default()
            };
            ["a", "b", "c"].map(|name| tests.selects(name))
        };
        assert_eq!(select(vec![]), [true, true, true]);
        assert_eq!(select(vec![filter("a", false)]), [true, false, false]);
        assert_eq!(select(vec![filter("a", true)]), [false, true, true]);
        assert_eq!(
            select(vec![filter("a", false), filter("b", false), filter("b", true)]),
            [true, false, false]
        );
    }
}
