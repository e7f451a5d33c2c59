//! The release or its tests failed: it is tried again, undone, or left alone.

use super::{Action, History, Next, Observed, Stall};
use crate::decision::{Remedy, Verified};

pub(super) fn next(observed: &Observed<'_>, history: &mut History) -> Next {
    let policy = observed.policy;
    let upgrade = Next::Do(Action::Upgrade);
    if policy.retry_interval(observed.last_action).is_some() {
        history.keep_newest();
        return upgrade;
    }
    // Nothing was tried by us: all we can do is to try.
    let Some(active) = policy.active(observed.last_action) else {
        return upgrade;
    };
    // Failures were forgotten, so what is wanted has changed since.
    if active.failures(&observed.counters) <= 0 || observed.force {
        return upgrade;
    }
    if active.is_exhausted(&observed.counters) && !active.remediates_last_failure() {
        return Next::Stall(Stall::RetriesExceeded("cannot remediate failed release"));
    }
    let ignore_tests = active.ignores_test_failures();
    history.truncate(ignore_tests);
    if active.remedy() == Remedy::Uninstall {
        return Next::Do(Action::UninstallRemediation);
    }
    let Some(target) = history.previous(ignore_tests) else {
        return Next::Stall(Stall::MissingRollbackTarget);
    };
    match observed.releases.verify(target.version, target) {
        Some(Verified::Yes) => Next::Do(Action::Rollback { to: target.version }),
        // It is gone or was changed: the best that can be done is to try once more.
        _ => upgrade,
    }
}
