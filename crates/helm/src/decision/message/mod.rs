//! What is told about an action: a condition, and an event with the same reason. The texts are those of Flux, for people and
//! programs wait for them.

mod drift;
mod in_sync;
mod install;
mod progress;
mod rollback;
mod test;
mod uninstall;
mod unlock;
mod upgrade;

use std::collections::BTreeMap;

pub use drift::{
    DriftChange, DriftKind, drift_corrected, drift_correction_failed, drift_detected, no_drift, summarize,
    summarize_briefly,
};
pub use in_sync::{settled, settled_after_remediation};
pub use install::{install_failed, install_succeeded};
pub use progress::{awaiting_tests, retrying_after, running, stalled};
pub use rollback::{rollback_failed, rollback_succeeded};
pub use test::{test_failed, test_succeeded};
pub use uninstall::{
    already_uninstalled, not_found, uninstall_failed, uninstall_remediation_failed,
    uninstall_remediation_succeeded, uninstall_succeeded,
};
pub use unlock::{unlock_failed, unlock_succeeded};
pub use upgrade::{upgrade_failed, upgrade_succeeded};

use super::Snapshot;
use super::ready::{ConditionType, Truth};

/// What is told about an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Which condition is set.
    pub condition: ConditionType,
    /// To what.
    pub status: Truth,
    /// The reason, of the condition and of the event.
    pub reason: &'static str,
    /// The message of both.
    pub message: String,
    /// Whether the event is a warning.
    pub is_warning: bool,
}

/// The release and the chart of an action that has not made a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject<'s> {
    /// Where the release is installed.
    pub namespace: &'s str,
    /// Its name, not shortened.
    pub name: &'s str,
    /// The name of the chart.
    pub chart_name: &'s str,
    /// Its version.
    pub chart_version: &'s str,
}

/// The message of an event about a failure: with the last lines that were logged.
pub fn with_log(message: &str, log: &str) -> String {
    match log {
        "" => message.to_owned(),
        log => format!("{message}\n\nLast Helm logs:\n\n{log}"),
    }
}

/// The metadata of an event, named without the group: what is empty is left out.
pub fn metadata(
    revision: &str,
    token: &str,
    app_version: &str,
    oci_digest: &str,
) -> BTreeMap<String, String> {
    let all = [
        ("revision", revision),
        ("token", token),
        ("app-version", app_version),
        ("oci-digest", oci_digest),
    ];
    all.into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect()
}

/// The metadata of an event about a release that a snapshot was taken of.
pub fn snapshot_metadata(snapshot: &Snapshot) -> BTreeMap<String, String> {
    metadata(
        &snapshot.chart_version,
        &snapshot.config_digest,
        &snapshot.app_version,
        &snapshot.oci_digest,
    )
}

/// A release and its chart, as most messages name them.
fn of(snapshot: &Snapshot) -> String {
    format!(
        "release {} with chart {}",
        snapshot.full_name(),
        snapshot.versioned_chart()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot() -> Snapshot {
        Snapshot {
            name: "web".into(),
            namespace: "shop".into(),
            version: 3,
            chart_name: "app".into(),
            chart_version: "1.2.3".into(),
            config_digest: "sha256:c".into(),
            ..Snapshot::default()
        }
    }

    #[test]
    fn messages_are_those_of_flux() {
        let snapshot = snapshot();
        let subject = Subject {
            namespace: "shop",
            name: "web",
            chart_name: "app",
            chart_version: "1.2.3",
        };
        let all = [
            install_succeeded(&snapshot),
            install_failed(&subject, " boom\n"),
            upgrade_succeeded(&snapshot),
            upgrade_failed(&subject, "boom"),
            test_succeeded(&snapshot),
            test_failed(&snapshot, "boom"),
            rollback_succeeded(&snapshot),
            rollback_failed(&snapshot, "boom"),
            uninstall_succeeded(&snapshot),
            uninstall_failed(&snapshot, "boom"),
            uninstall_remediation_succeeded(&snapshot),
            uninstall_remediation_failed(&snapshot, "boom"),
            unlock_succeeded(&snapshot, "pending-upgrade"),
            unlock_failed(&snapshot, "pending-upgrade", "boom"),
            not_found(&snapshot),
            already_uninstalled(&snapshot),
            awaiting_tests(&snapshot),
        ];
        let lines: Vec<String> = all
            .iter()
            .map(|told| {
                let warning = if told.is_warning { " (warning)" } else { "" };
                format!(
                    "{}={} {}: {}{warning}",
                    told.condition.as_str(),
                    told.status.as_str(),
                    told.reason,
                    told.message
                )
            })
            .collect();
        let wanted = "\
Released=True InstallSucceeded: Helm install succeeded for release shop/web.v3 with chart app@1.2.3
Released=False InstallFailed: Helm install failed for release shop/web with chart app@1.2.3: boom (warning)
Released=True UpgradeSucceeded: Helm upgrade succeeded for release shop/web.v3 with chart app@1.2.3
Released=False UpgradeFailed: Helm upgrade failed for release shop/web with chart app@1.2.3: boom (warning)
TestSuccess=True TestSucceeded: Helm test succeeded for release shop/web.v3 with chart app@1.2.3: no test hooks
TestSuccess=False TestFailed: Helm test failed for release shop/web.v3 with chart app@1.2.3: boom (warning)
Remediated=True RollbackSucceeded: Helm rollback to previous release shop/web.v3 with chart app@1.2.3 succeeded
Remediated=False RollbackFailed: Helm rollback to previous release shop/web.v3 with chart app@1.2.3 failed: boom (warning)
Released=False UninstallSucceeded: Helm uninstall succeeded for release shop/web.v3 with chart app@1.2.3
Released=False UninstallFailed: Helm uninstall failed for release shop/web.v3 with chart app@1.2.3: boom (warning)
Remediated=True UninstallSucceeded: Helm uninstall remediation for release shop/web.v3 with chart app@1.2.3 succeeded
Remediated=False UninstallFailed: Helm uninstall remediation for release shop/web.v3 with chart app@1.2.3 failed: boom (warning)
Released=False PendingRelease: Unlocked Helm release shop/web.v3 with chart app@1.2.3 in pending-upgrade state
Released=False PendingRelease: Unlock of Helm release shop/web.v3 with chart app@1.2.3 in pending-upgrade state failed: boom (warning)
Released=False UninstallSucceeded: Release shop/web.v3 was not found, assuming it is uninstalled
Released=False UninstallSucceeded: Release shop/web.v3 was already uninstalled
TestSuccess=Unknown AwaitingTests: Helm release shop/web.v3 with chart app@1.2.3 is awaiting tests";
        assert_eq!(lines.join("\n"), wanted);
    }

    #[test]
    fn events_say_what_they_are_about() {
        let metadata = snapshot_metadata(&snapshot());
        assert_eq!(
            metadata.into_iter().collect::<Vec<_>>(),
            [
                ("revision".to_owned(), "1.2.3".to_owned()),
                ("token".to_owned(), "sha256:c".to_owned()),
            ]
        );
        assert_eq!(with_log("a", ""), "a");
        assert_eq!(with_log("a", "b\nc"), "a\n\nLast Helm logs:\n\nb\nc");
    }
}
