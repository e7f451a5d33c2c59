//! What is told when a release turns out to be what is wanted without anything done.

use super::{Told, install_succeeded, upgrade_succeeded};
use crate::decision::Snapshot;
use crate::decision::ready::{Conditions, Truth};

/// What `Released` says of a release that was brought back and is what is wanted after a change, whether its tests were run or not: `Remediated`
/// goes then, and `Released` takes its place and its time. There is no event for it.
pub fn settled_after_remediation(conditions: &Conditions<'_>, latest: &Snapshot) -> Option<Told> {
    let is_remediated = conditions
        .remediated
        .is_some_and(|condition| condition.status == Truth::True);
    is_remediated.then(|| upgrade_succeeded(latest))
}

/// What `Released` says of a release that is in sync, if it has to say something else than it does: [`settled_after_remediation`], and one that
/// failed and was set right from outside. `is_ready` is what `Ready` says now. There is no event for it.
pub fn settled(conditions: &Conditions<'_>, is_ready: bool, latest: &Snapshot) -> Option<Told> {
    if let Some(told) = settled_after_remediation(conditions, latest) {
        return Some(told);
    }
    let released = conditions.released?;
    if is_ready && released.status == Truth::True {
        return None;
    }
    match released.reason.as_str() {
        "InstallFailed" => Some(install_succeeded(latest)),
        "UpgradeFailed" => Some(upgrade_succeeded(latest)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::ready::Condition;

    fn condition(status: Truth, reason: &str) -> Condition {
        Condition {
            status,
            reason: reason.to_owned(),
            message: String::new(),
            observed_generation: 1,
        }
    }

    #[test]
    fn what_failed_or_was_undone_and_is_wanted_now_is_released() {
        let latest = Snapshot::default();
        let undone = condition(Truth::True, "RollbackSucceeded");
        let not_undone = condition(Truth::False, "RollbackFailed");
        let install = condition(Truth::False, "InstallFailed");
        let upgrade = condition(Truth::False, "UpgradeFailed");
        let fine = condition(Truth::True, "UpgradeSucceeded");
        let check = |remediated: Option<&Condition>, released: Option<&Condition>, is_ready| {
            let conditions = Conditions {
                remediated,
                released,
                ..Conditions::default()
            };
            settled(&conditions, is_ready, &latest).map(|told| told.reason)
        };
        assert_eq!(
            check(Some(&undone), Some(&upgrade), false),
            Some("UpgradeSucceeded")
        );
        assert_eq!(check(Some(&undone), None, true), Some("UpgradeSucceeded"));
        assert_eq!(
            check(Some(&not_undone), Some(&upgrade), false),
            Some("UpgradeSucceeded")
        );
        assert_eq!(check(None, Some(&install), false), Some("InstallSucceeded"));
        assert_eq!(check(None, Some(&upgrade), true), Some("UpgradeSucceeded"));
        assert_eq!(check(None, Some(&fine), false), None);
        assert_eq!(check(None, Some(&fine), true), None);
        assert_eq!(check(None, None, false), None);
    }
}
