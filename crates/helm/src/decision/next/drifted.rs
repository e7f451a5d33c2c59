//! Objects are not what the release says: they are set right, if that is wanted.

use super::{Action, Next, Policy};
use crate::decision::DriftMode;

pub(super) fn next(policy: &Policy) -> Next {
    match policy.drift {
        DriftMode::Enabled => Next::Do(Action::CorrectDrift),
        DriftMode::Warn | DriftMode::Disabled => Next::Nothing,
    }
}
