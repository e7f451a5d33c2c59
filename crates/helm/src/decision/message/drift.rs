//! What is told about objects that are not what a release says.

use std::fmt::Write as _;

use model::ObjectKey;

use super::Told;
use crate::decision::Snapshot;
use crate::decision::ready::{ConditionType, Truth};

/// An object that is not what the release says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriftChange {
    /// Which object.
    pub object: ObjectKey,
    /// What is with it.
    pub kind: DriftKind,
}

/// What is with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriftKind {
    /// It is gone.
    Removed,
    /// Fields differ. The numbers are of operations that would set it right.
    Changed {
        /// How many fields are missing.
        additions: usize,
        /// How many have other values.
        changes: usize,
        /// How many should not be there.
        removals: usize,
    },
    /// It is not looked at.
    Excluded,
}

/// One line for each object.
pub fn summarize(changes: &[DriftChange]) -> String {
    let mut text = String::new();
    for change in changes {
        let _ = match change.kind {
            DriftKind::Removed => writeln!(text, "{} removed", change.object),
            DriftKind::Excluded => writeln!(text, "{} excluded", change.object),
            DriftKind::Changed {
                additions,
                changes,
                removals,
            } => writeln!(
                text,
                "{} changed ({additions} additions, {changes} changes, {removals} removals)",
                change.object
            ),
        };
    }
    text.trim().to_owned()
}

/// How many objects, for logs.
pub fn summarize_briefly(changes: &[DriftChange]) -> String {
    let count = |is: fn(DriftKind) -> bool| changes.iter().filter(|change| is(change.kind)).count();
    format!(
        "removed: {}, changed: {}, excluded: {}",
        count(|kind| kind == DriftKind::Removed),
        count(|kind| matches!(kind, DriftKind::Changed { .. })),
        count(|kind| kind == DriftKind::Excluded)
    )
}

/// Objects are not what the release says.
pub fn drift_detected(snapshot: &Snapshot, changes: &[DriftChange]) -> Told {
    Told {
        condition: ConditionType::Drifted,
        status: Truth::True,
        reason: "DriftDetected",
        message: format!(
            "Cluster state of release {} has drifted from the desired state:\n{}",
            snapshot.full_name(),
            summarize(changes)
        ),
        is_warning: true,
    }
}

/// They are. There is no event for it.
pub fn no_drift() -> Told {
    Told {
        condition: ConditionType::Drifted,
        status: Truth::False,
        reason: "NoDriftDetected",
        message: "No drift detected against the cluster state".to_owned(),
        is_warning: false,
    }
}

/// They were set right: reason and message of the event. There is no condition for it. Each line of `applied` is of one object.
pub fn drift_corrected(snapshot: &Snapshot, applied: &str) -> (&'static str, String) {
    let name = snapshot.full_name();
    let message = format!("Cluster state of release {name} has been corrected:\n{applied}");
    ("DriftCorrected", message)
}

/// Some could not be set right: reason and message of the event, which is a warning.
pub fn drift_correction_failed(
    snapshot: &Snapshot,
    problems: &[String],
    applied: &str,
) -> (&'static str, String) {
    let partially = if applied.is_empty() { "" } else { "partially " };
    let mut message = format!(
        "Failed to {partially}correct cluster state of release {}:\n{}",
        snapshot.full_name(),
        problems.join("\n")
    );
    if !applied.is_empty() {
        let _ = write!(message, "\n\nSuccessful corrections:\n{applied}");
    }
    ("DriftCorrectionFailed", message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Str;

    #[test]
    fn objects_are_named_one_in_a_line() {
        let key = |name: &str| ObjectKey {
            group: Str::new("apps"),
            kind: Str::new("Deployment"),
            namespace: Str::new("shop"),
            name: Str::new(name),
        };
        let changed = DriftKind::Changed {
            additions: 1,
            changes: 2,
            removals: 3,
        };
        let changes = [
            ("a", changed),
            ("b", DriftKind::Removed),
            ("c", DriftKind::Excluded),
        ]
        .map(|(name, kind)| DriftChange {
            object: key(name),
            kind,
        });
        let snapshot = Snapshot {
            name: "web".into(),
            namespace: "shop".into(),
            version: 1,
            ..Snapshot::default()
        };
        assert_eq!(
            drift_detected(&snapshot, &changes).message,
            "Cluster state of release shop/web.v1 has drifted from the desired state:\n\
             Deployment/shop/a changed (1 additions, 2 changes, 3 removals)\n\
             Deployment/shop/b removed\n\
             Deployment/shop/c excluded"
        );
        assert_eq!(summarize_briefly(&changes), "removed: 1, changed: 1, excluded: 1");
        let (_, message) = drift_correction_failed(
            &snapshot,
            &["x".into(), "y".into()],
            "Deployment/shop/a configured",
        );
        assert_eq!(
            message,
            "Failed to partially correct cluster state of release shop/web.v1:\nx\ny\n\nSuccessful corrections:\nDeployment/shop/a configured"
        );
    }
}
