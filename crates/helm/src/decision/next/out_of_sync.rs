//! The release is not what is wanted: it is upgraded, unless that failed too often.

use super::{Action, Next, Observed, Stall};
use crate::decision::ReleaseAction;

pub(super) fn next(observed: &Observed<'_>) -> Next {
    let is_exhausted = observed
        .policy
        .of(ReleaseAction::Upgrade)
        .is_exhausted(&observed.counters);
    if is_exhausted && !observed.force {
        return Next::Stall(Stall::RetriesExceeded("cannot upgrade release"));
    }
    Next::Do(Action::Upgrade)
}
