//! Conditions as kstatus and the `flux` program read them.

use api::condition::MAX_MESSAGE;
use api::{Condition, ConditionStatus, ConditionType, Reason, ReconcileStatus};
use model::Time;

use super::cut::cut;

/// Which generation a condition is about, and when it is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The generation of the object that was looked at.
    pub generation: i64,
    /// Now.
    pub now: Time,
}

/// The changes that are made to conditions.
pub trait Conditions: ReconcileStatus {
    /// Sets a condition. Its time moves when status, reason or message differ; its generation is always the current one.
    fn set(
        &mut self,
        stamp: Stamp,
        kind: ConditionType,
        status: ConditionStatus,
        reason: &str,
        message: &str,
    ) {
        let message = cut(message, usize::try_from(MAX_MESSAGE).unwrap_or(usize::MAX));
        let list = self.conditions_mut();
        let old = list.iter().position(|condition| condition.kind == kind.as_str());
        let since = old
            .and_then(|at| list.get(at))
            .filter(|old| old.status == status && old.reason == reason && old.message == message)
            .map_or(stamp.now, |old| old.last_transition_time);
        let condition = Condition {
            kind: kind.as_str().to_owned(),
            status,
            observed_generation: Some(stamp.generation),
            last_transition_time: since,
            reason: reason.to_owned(),
            message,
        };
        match old.and_then(|at| list.get_mut(at)) {
            Some(old) => *old = condition,
            None => list.push(condition),
        }
        list.sort_by(|left, right| place(left).cmp(&place(right)));
    }

    /// Sets a condition that holds.
    fn set_true(&mut self, stamp: Stamp, kind: ConditionType, reason: Reason, message: &str) {
        self.set(stamp, kind, ConditionStatus::True, reason.as_str(), message);
    }

    /// Sets a condition that does not hold.
    fn set_false(&mut self, stamp: Stamp, kind: ConditionType, reason: Reason, message: &str) {
        self.set(stamp, kind, ConditionStatus::False, reason.as_str(), message);
    }

    /// Takes a condition away.
    fn remove(&mut self, kind: ConditionType) {
        self.conditions_mut()
            .retain(|condition| condition.kind != kind.as_str());
    }

    /// Whether a condition is there and holds.
    fn is_true(&self, kind: ConditionType) -> bool {
        self.condition(kind)
            .is_some_and(|condition| condition.status == ConditionStatus::True)
    }

    /// Whether a condition is there and does not hold.
    fn is_false(&self, kind: ConditionType) -> bool {
        self.condition(kind)
            .is_some_and(|condition| condition.status == ConditionStatus::False)
    }

    /// Work goes on: the object is not stalled.
    fn set_reconciling(&mut self, stamp: Stamp, reason: Reason, message: &str) {
        self.remove(ConditionType::STALLED);
        self.set_true(stamp, ConditionType::RECONCILING, reason, message);
    }

    /// No work goes on until the object is changed.
    fn set_stalled(&mut self, stamp: Stamp, reason: Reason, message: &str) {
        self.remove(ConditionType::RECONCILING);
        self.set_true(stamp, ConditionType::STALLED, reason, message);
    }

    /// Work begins or has got further. `Ready` turns unknown where it said nothing yet, or where what it says is known
    /// to be out of date (`drifted`); a steady `Ready` does not flap.
    fn set_progress(&mut self, stamp: Stamp, drifted: bool, message: &str) {
        self.set_reconciling(stamp, Reason::PROGRESSING, message);
        let unknown = self
            .condition(ConditionType::READY)
            .is_none_or(|ready| ready.status == ConditionStatus::Unknown);
        if drifted || unknown {
            let reason = Reason::PROGRESSING.as_str();
            self.set(
                stamp,
                ConditionType::READY,
                ConditionStatus::Unknown,
                reason,
                message,
            );
        }
    }

    /// Sets `Ready` to what the other conditions come to.
    fn summarise(&mut self, stamp: Stamp, summary: &Summary) {
        if let Some((status, reason, message)) = summary.of(self.conditions()) {
            self.set(stamp, ConditionType::READY, status, &reason, &message);
        }
    }
}

impl<S: ReconcileStatus + ?Sized> Conditions for S {}

/// Which conditions make up `Ready`.
#[derive(Clone, Copy, Debug)]
pub struct Summary {
    /// All of them; where several would explain the same, the first does.
    pub order: &'static [ConditionType],
    /// Those that tell of something wrong while they hold.
    pub negative: &'static [ConditionType],
    /// Those whose falsehood explains `Ready` before all others.
    pub decisive: &'static [ConditionType],
}

impl Summary {
    /// Status, reason and message of `Ready`.
    fn of(&self, conditions: &[Condition]) -> Option<(ConditionStatus, String, String)> {
        let find = |kind: &ConditionType| {
            let mut found = conditions.iter();
            found.find(|condition| condition.kind == kind.as_str())
        };
        let mut failed = self.decisive.iter().filter_map(find);
        if let Some(one) = failed.find(|one| one.status == ConditionStatus::False) {
            return Some((ConditionStatus::False, one.reason.clone(), one.message.clone()));
        }
        let ranked = self.order.iter().filter_map(|kind| {
            let condition = find(kind)?;
            let (rank, status) = rank(&condition.status, self.negative.contains(kind));
            Some((rank, status, condition))
        });
        // The first of the highest rank: `min_by_key` keeps the first of equals.
        let (_, status, top) = ranked.min_by_key(|(rank, ..)| *rank)?;
        Some((status, top.reason.clone(), top.message.clone()))
    }
}

/// How much a condition weighs, and what it makes of `Ready`.
fn rank(status: &ConditionStatus, negative: bool) -> (u8, ConditionStatus) {
    match (status, negative) {
        (ConditionStatus::True, true) => (0, ConditionStatus::False),
        (ConditionStatus::False, false) => (1, ConditionStatus::False),
        (ConditionStatus::True, false) => (2, ConditionStatus::True),
        (ConditionStatus::False, true) => (3, ConditionStatus::True),
        _ => (4, ConditionStatus::Unknown),
    }
}

/// Where a condition stands: the three that sum up first, then the newest, then by name.
fn place(condition: &Condition) -> (u8, i64, &str) {
    let first = [
        ConditionType::STALLED,
        ConditionType::RECONCILING,
        ConditionType::READY,
    ];
    match first.iter().position(|kind| kind.as_str() == condition.kind) {
        Some(at) => (u8::try_from(at).unwrap_or(2), 0, ""),
        None => (
            3,
            -condition.observed_generation.unwrap_or_default(),
            condition.kind.as_str(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use api::source::GitRepositoryStatus;

    use super::*;
    use crate::sources::SUMMARY;

    fn stamp(generation: i64, second: u8) -> Stamp {
        Stamp {
            generation,
            now: format!("2026-01-02T03:04:{second:02}Z").parse().unwrap(),
        }
    }

    fn ready(status: &GitRepositoryStatus) -> (String, String) {
        let ready = status.condition(ConditionType::READY).unwrap();
        (format!("{:?}", ready.status), ready.reason.clone())
    }

    #[test]
    fn the_time_moves_with_status_reason_and_message_and_the_generation_always() {
        let mut status = GitRepositoryStatus::default();
        status.set_true(stamp(1, 0), ConditionType::FETCH_FAILED, Reason::FAILED, "a");
        status.set_true(stamp(2, 1), ConditionType::FETCH_FAILED, Reason::FAILED, "a");
        let condition = status.condition(ConditionType::FETCH_FAILED).unwrap();
        assert_eq!(condition.last_transition_time, stamp(1, 0).now);
        assert_eq!(condition.observed_generation, Some(2));
        status.set_true(stamp(2, 2), ConditionType::FETCH_FAILED, Reason::FAILED, "b");
        let condition = status.condition(ConditionType::FETCH_FAILED).unwrap();
        assert_eq!(condition.last_transition_time, stamp(2, 2).now);
    }

    #[test]
    fn conditions_stand_in_their_order() {
        let mut status = GitRepositoryStatus::default();
        status.set_true(stamp(1, 0), ConditionType::SOURCE_VERIFIED, Reason::SUCCEEDED, "");
        status.set_true(stamp(2, 0), ConditionType::FETCH_FAILED, Reason::FAILED, "");
        status.set_true(stamp(2, 0), ConditionType::ARTIFACT_OUTDATED, Reason::FAILED, "");
        status.summarise(stamp(2, 0), &SUMMARY);
        status.set_reconciling(stamp(2, 0), Reason::PROGRESSING, "");
        let order: Vec<&str> = status.conditions.iter().map(|one| one.kind.as_str()).collect();
        assert_eq!(
            order,
            [
                "Reconciling",
                "Ready",
                "ArtifactOutdated",
                "FetchFailed",
                "SourceVerified"
            ]
        );
    }

    #[test]
    fn stalled_and_reconciling_exclude_each_other() {
        let mut status = GitRepositoryStatus::default();
        status.set_reconciling(stamp(1, 0), Reason::PROGRESSING, "");
        status.set_stalled(stamp(1, 0), Reason::URL_INVALID, "");
        assert!(status.condition(ConditionType::RECONCILING).is_none());
        status.set_reconciling(stamp(1, 0), Reason::PROGRESSING, "");
        assert!(status.condition(ConditionType::STALLED).is_none());
    }

    #[test]
    fn ready_is_what_weighs_most() {
        let now = stamp(1, 0);
        let mut status = GitRepositoryStatus::default();
        status.summarise(now, &SUMMARY);
        assert!(
            status.condition(ConditionType::READY).is_none(),
            "there is nothing to sum up"
        );
        status.set_true(
            now,
            ConditionType::ARTIFACT_IN_STORAGE,
            Reason::SUCCEEDED,
            "stored",
        );
        status.summarise(now, &SUMMARY);
        assert_eq!(ready(&status), ("True".into(), "Succeeded".into()));
        status.set_reconciling(now, Reason::PROGRESSING, "");
        status.summarise(now, &SUMMARY);
        assert_eq!(ready(&status), ("False".into(), "Progressing".into()));
        status.set_true(now, ConditionType::ARTIFACT_OUTDATED, Reason::NEW_REVISION, "");
        status.set_true(now, ConditionType::FETCH_FAILED, Reason::GIT_OPERATION_FAILED, "");
        status.summarise(now, &SUMMARY);
        assert_eq!(ready(&status), ("False".into(), "GitOperationFailed".into()));
        status.set_false(
            now,
            ConditionType::SOURCE_VERIFIED,
            Reason::INVALID_COMMIT_SIGNATURE,
            "",
        );
        status.summarise(now, &SUMMARY);
        assert_eq!(ready(&status), ("False".into(), "InvalidCommitSignature".into()));
    }

    /// C9: of all that is wrong the first in the order of Flux explains `Ready`; where nothing is, what is stored does; a
    /// signature that is missing explains it before all
    #[test]
    fn the_first_of_what_is_wrong_explains_ready() {
        let now = stamp(1, 0);
        let mut status = GitRepositoryStatus::default();
        let order = [
            ConditionType::STORAGE_OPERATION_FAILED,
            ConditionType::FETCH_FAILED,
            ConditionType::INCLUDE_UNAVAILABLE,
            ConditionType::BUILD_FAILED,
            ConditionType::ARTIFACT_OUTDATED,
            ConditionType::STALLED,
            ConditionType::RECONCILING,
        ];
        let ready = |status: &mut GitRepositoryStatus| {
            status.summarise(now, &SUMMARY);
            let ready = status.condition(ConditionType::READY).unwrap();
            (
                ready.status.to_string(),
                ready.reason.clone(),
                ready.message.clone(),
            )
        };
        let told = |status: &str, reason: &str, message: &str| (status.into(), reason.into(), message.into());
        let stored = ConditionType::ARTIFACT_IN_STORAGE;
        status.set_true(now, stored, Reason::SUCCEEDED, "stored artifact");
        // The last comes first, so that the order in which they were set explains nothing.
        for kind in order.iter().rev() {
            status.set_true(now, *kind, Reason::FAILED, kind.as_str());
        }
        for kind in order {
            assert_eq!(ready(&mut status), told("False", "Failed", kind.as_str()));
            let verified = ConditionType::SOURCE_VERIFIED;
            status.set_false(now, verified, Reason::VERIFICATION_ERROR, "unsigned");
            assert_eq!(ready(&mut status), told("False", "VerificationError", "unsigned"));
            status.set_true(now, verified, Reason::SUCCEEDED, "verified");
            assert_eq!(ready(&mut status), told("False", "Failed", kind.as_str()));
            status.remove(kind);
        }
        assert_eq!(ready(&mut status), told("True", "Succeeded", "stored artifact"));
    }

    #[test]
    fn a_steady_ready_does_not_flap() {
        let now = stamp(1, 0);
        let mut status = GitRepositoryStatus::default();
        status.set_progress(now, false, "reconciliation in progress");
        assert_eq!(ready(&status).0, "Unknown");
        status.set_true(now, ConditionType::READY, Reason::SUCCEEDED, "");
        status.set_progress(now, false, "reconciliation in progress");
        assert_eq!(ready(&status).0, "True");
        status.set_progress(now, true, "new revision");
        assert_eq!(ready(&status).0, "Unknown");
    }
}
