//! All is as wanted: what is remembered is cut, and an upgrade is made only if one is asked for.

use super::{Action, History, Next, Observed};

pub(super) fn next(observed: &Observed<'_>, history: &mut History) -> Next {
    let policy = observed.policy;
    if policy.retry_interval(observed.last_action).is_some() {
        history.keep_newest();
    } else {
        history.truncate(policy.ignores_test_failures(observed.last_action));
    }
    if observed.force {
        return Next::Do(Action::Upgrade);
    }
    Next::Nothing
}
