//! What is told about an upgrade.

use super::{Subject, Told, of};
use crate::decision::Snapshot;
use crate::decision::ready::{ConditionType, Truth};

/// It went well.
pub fn upgrade_succeeded(snapshot: &Snapshot) -> Told {
    Told {
        condition: ConditionType::Released,
        status: Truth::True,
        reason: "UpgradeSucceeded",
        message: format!("Helm upgrade succeeded for {}", of(snapshot)),
        is_warning: false,
    }
}

/// It did not.
pub fn upgrade_failed(subject: &Subject<'_>, problem: &str) -> Told {
    let Subject {
        namespace,
        name,
        chart_name,
        chart_version,
    } = subject;
    let problem = problem.trim();
    Told {
        condition: ConditionType::Released,
        status: Truth::False,
        reason: "UpgradeFailed",
        message: format!(
            "Helm upgrade failed for release {namespace}/{name} with chart {chart_name}@{chart_version}: {problem}"
        ),
        is_warning: true,
    }
}
