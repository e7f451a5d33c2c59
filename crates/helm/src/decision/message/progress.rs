//! What is told while something is being done, or is not done any more.

use super::{Told, of};
use crate::decision::ready::{ConditionType, Truth};
use crate::decision::{Action, Counters, ReleaseAction, Snapshot, Stall};

/// Tests will be run. There is no event for it.
pub fn awaiting_tests(snapshot: &Snapshot) -> Told {
    Told {
        condition: ConditionType::TestSuccess,
        status: Truth::Unknown,
        reason: "AwaitingTests",
        message: format!("Helm {} is awaiting tests", of(snapshot)),
        is_warning: false,
    }
}

/// An action is being done. The timeout is as Go prints durations.
pub fn running(action: Action, timeout: &str) -> String {
    format!("Running '{}' action with timeout of {timeout}", action.name())
}

/// It is tried again later. The interval is as Go prints durations.
pub fn retrying_after(interval: &str) -> String {
    format!("retrying after {interval}")
}

/// Nothing is done any more: the message of the condition.
pub fn stalled(stall: Stall, last: Option<ReleaseAction>, counters: &Counters) -> String {
    match stall {
        Stall::MissingRollbackTarget => format!("Failed to perform remediation: {stall}"),
        Stall::RetriesExceeded(_) => {
            let attempts = match last {
                Some(ReleaseAction::Install) => counters.install,
                Some(ReleaseAction::Upgrade) => counters.upgrade,
                None => counters.failures,
            };
            let action = last.map_or("release", ReleaseAction::as_str);
            format!("Failed to {action} after {attempts} attempt(s)")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_being_done_is_told() {
        assert_eq!(
            running(Action::Install, "5m0s"),
            "Running 'install' action with timeout of 5m0s"
        );
        assert_eq!(retrying_after("5m0s"), "retrying after 5m0s");
        let counters = Counters {
            upgrade: 3,
            ..Counters::default()
        };
        let upgrade = Some(ReleaseAction::Upgrade);
        assert_eq!(
            stalled(
                Stall::RetriesExceeded("cannot upgrade release"),
                upgrade,
                &counters
            ),
            "Failed to upgrade after 3 attempt(s)"
        );
        assert_eq!(
            stalled(Stall::MissingRollbackTarget, upgrade, &counters),
            "Failed to perform remediation: missing target release for rollback: cannot remediate failed release"
        );
    }
}
