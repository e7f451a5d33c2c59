//! What is told about a release that was left behind.

use super::{Told, of};
use crate::decision::Snapshot;
use crate::decision::ready::{ConditionType, Truth};

const REASON: &str = "PendingRelease";

/// It can go on. `status` is what it had.
pub fn unlock_succeeded(snapshot: &Snapshot, status: &str) -> Told {
    Told {
        condition: ConditionType::Released,
        status: Truth::False,
        reason: REASON,
        message: format!("Unlocked Helm {} in {status} state", of(snapshot)),
        is_warning: false,
    }
}

/// It cannot.
pub fn unlock_failed(snapshot: &Snapshot, status: &str, problem: &str) -> Told {
    Told {
        condition: ConditionType::Released,
        status: Truth::False,
        reason: REASON,
        message: format!(
            "Unlock of Helm {} in {status} state failed: {}",
            of(snapshot),
            problem.trim()
        ),
        is_warning: true,
    }
}
