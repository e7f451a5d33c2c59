//! What is told about a rollback. The release is the one that is brought back.

use super::{Told, of};
use crate::decision::Snapshot;
use crate::decision::ready::{ConditionType, Truth};

/// It went well.
pub fn rollback_succeeded(target: &Snapshot) -> Told {
    Told {
        condition: ConditionType::Remediated,
        status: Truth::True,
        reason: "RollbackSucceeded",
        message: format!("Helm rollback to previous {} succeeded", of(target)),
        is_warning: false,
    }
}

/// It did not.
pub fn rollback_failed(target: &Snapshot, problem: &str) -> Told {
    Told {
        condition: ConditionType::Remediated,
        status: Truth::False,
        reason: "RollbackFailed",
        message: format!(
            "Helm rollback to previous {} failed: {}",
            of(target),
            problem.trim()
        ),
        is_warning: true,
    }
}
