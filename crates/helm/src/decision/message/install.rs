//! What is told about an install.

use super::{Subject, Told, of};
use crate::decision::Snapshot;
use crate::decision::ready::{ConditionType, Truth};

/// It went well.
pub fn install_succeeded(snapshot: &Snapshot) -> Told {
    Told {
        condition: ConditionType::Released,
        status: Truth::True,
        reason: "InstallSucceeded",
        message: format!("Helm install succeeded for {}", of(snapshot)),
        is_warning: false,
    }
}

/// It did not.
pub fn install_failed(subject: &Subject<'_>, problem: &str) -> Told {
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
        reason: "InstallFailed",
        message: format!(
            "Helm install failed for release {namespace}/{name} with chart {chart_name}@{chart_version}: {problem}"
        ),
        is_warning: true,
    }
}
