//! What is told about an uninstall: one that is asked for, and one that undoes a failure.

use super::{Told, of};
use crate::decision::Snapshot;
use crate::decision::ready::{ConditionType, Truth};

fn told(condition: ConditionType, status: Truth, message: String) -> Told {
    Told {
        condition,
        status,
        reason: "UninstallSucceeded",
        message,
        is_warning: false,
    }
}

fn failed(condition: ConditionType, message: String) -> Told {
    Told {
        condition,
        status: Truth::False,
        reason: "UninstallFailed",
        message,
        is_warning: true,
    }
}

/// It went well. The release is not released any more.
pub fn uninstall_succeeded(snapshot: &Snapshot) -> Told {
    let message = format!("Helm uninstall succeeded for {}", of(snapshot));
    told(ConditionType::Released, Truth::False, message)
}

/// It did not.
pub fn uninstall_failed(snapshot: &Snapshot, problem: &str) -> Told {
    let message = format!("Helm uninstall failed for {}: {}", of(snapshot), problem.trim());
    failed(ConditionType::Released, message)
}

/// There was nothing to uninstall. Nothing is told but the condition.
pub fn not_found(snapshot: &Snapshot) -> Told {
    let message = format!(
        "Release {} was not found, assuming it is uninstalled",
        snapshot.full_name()
    );
    told(ConditionType::Released, Truth::False, message)
}

/// It was done before. Nothing is told but the condition.
pub fn already_uninstalled(snapshot: &Snapshot) -> Told {
    let message = format!("Release {} was already uninstalled", snapshot.full_name());
    told(ConditionType::Released, Truth::False, message)
}

/// A failed release was uninstalled.
pub fn uninstall_remediation_succeeded(snapshot: &Snapshot) -> Told {
    let message = format!("Helm uninstall remediation for {} succeeded", of(snapshot));
    told(ConditionType::Remediated, Truth::True, message)
}

/// A failed release could not be uninstalled.
pub fn uninstall_remediation_failed(snapshot: &Snapshot, problem: &str) -> Told {
    let message = format!(
        "Helm uninstall remediation for {} failed: {}",
        of(snapshot),
        problem.trim()
    );
    failed(ConditionType::Remediated, message)
}
