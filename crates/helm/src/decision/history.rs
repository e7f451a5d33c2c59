//! The snapshots of a release, newest first, and how they follow what is written to storage.

use model::digest::Algorithm;

use super::snapshot::test_hooks;
use super::{Snapshot, SnapshotAction, Tests};
use crate::record::{Record, Status};

/// How many snapshots are kept when there is none to go back to.
pub const MAX_SNAPSHOTS: usize = 5;

/// Snapshots, the newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History(Vec<Snapshot>);

impl History {
    /// A history of these.
    pub fn new(mut snapshots: Vec<Snapshot>) -> Self {
        snapshots.sort_by_key(|snapshot| std::cmp::Reverse(snapshot.version));
        History(snapshots)
    }

    /// All of them, the newest first.
    pub fn snapshots(&self) -> &[Snapshot] {
        &self.0
    }

    /// The newest.
    pub fn latest(&self) -> Option<&Snapshot> {
        self.0.first()
    }

    /// The newest one before the last that was once running, and whose tests did not fail unless that does not matter.
    pub fn previous(&self, ignore_tests: bool) -> Option<&Snapshot> {
        self.previous_at(ignore_tests).map(|at| &self.0[at])
    }

    fn previous_at(&self, ignore_tests: bool) -> Option<usize> {
        let was_fine = |snapshot: &Snapshot| {
            matches!(snapshot.status.as_str(), "deployed" | "superseded")
                && (ignore_tests || !snapshot.has_failed_test())
        };
        (1..self.0.len()).find(|at| was_fine(&self.0[*at]))
    }

    /// Forgets what is older than the one to go back to; without such a one the newest [`MAX_SNAPSHOTS`] stay.
    pub fn truncate(&mut self, ignore_tests: bool) {
        let kept = self.previous_at(ignore_tests).map_or(MAX_SNAPSHOTS, |at| at + 1);
        self.0.truncate(kept);
    }

    /// Forgets all but the newest [`MAX_SNAPSHOTS`].
    pub fn keep_newest(&mut self) {
        self.0.truncate(MAX_SNAPSHOTS);
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Takes note of what an install or upgrade has written: the newest release is a new snapshot, and one other that was changed
    /// with it, such as the one that is superseded, has its snapshot taken anew.
    pub fn record_release(
        &mut self,
        written: &[Record],
        action: SnapshotAction,
        oci_digest: &str,
        algorithm: Algorithm,
    ) {
        let mut written: Vec<&Record> = written.iter().collect();
        written.sort_by_key(|record| std::cmp::Reverse(record.version));
        let Some((newest, others)) = written.split_first() else {
            return;
        };
        self.0
            .insert(0, Snapshot::of(newest, Some(action), oci_digest, algorithm));
        for record in others {
            if self.retake(record, |known| (None, known.test_hooks.clone()), algorithm) {
                break;
            }
        }
        self.sort();
    }

    /// Takes note of a release that a rollback has written.
    pub fn record_rollback(&mut self, record: &Record, algorithm: Algorithm) {
        let action = Some(SnapshotAction::Rollback);
        if !self.retake(record, |known| (action, known.test_hooks.clone()), algorithm) {
            self.0.insert(0, Snapshot::of(record, action, "", algorithm));
            self.sort();
        }
    }

    /// Takes note of a release that was written by whoever could not say so any more, and of what it has superseded among all records.
    pub fn record_left(&mut self, record: &Record, all: &[Record], algorithm: Algorithm) {
        let text = &record.info.description;
        let action = match record.info.status {
            Status::PendingInstall => SnapshotAction::Install,
            Status::PendingRollback => SnapshotAction::Rollback,
            _ if text.starts_with("Rollback") => SnapshotAction::Rollback,
            _ if record.version == 1 => SnapshotAction::Install,
            _ => SnapshotAction::Upgrade,
        };
        for other in all.iter().filter(|other| other.version < record.version) {
            if other.info.status == Status::Superseded {
                self.retake(other, |known| (known.action, known.test_hooks.clone()), algorithm);
            }
        }
        self.0
            .insert(0, Snapshot::of(record, Some(action), "", algorithm));
        self.sort();
    }

    /// Takes note of a release that an uninstall has written.
    pub fn record_uninstall(&mut self, record: &Record, action: SnapshotAction, algorithm: Algorithm) {
        self.retake(
            record,
            |known| (Some(action), known.test_hooks.clone()),
            algorithm,
        );
    }

    /// Takes note of a release that was unlocked.
    pub fn record_unlock(&mut self, record: &Record, algorithm: Algorithm) {
        self.retake(record, |known| (known.action, None), algorithm);
    }

    /// Takes note of the tests of the newest release; those of others are not.
    pub fn record_test(&mut self, record: &Record, tests: &Tests, algorithm: Algorithm) {
        if self.latest().is_some_and(|latest| latest.targets(record)) {
            let hooks = test_hooks(record, tests);
            self.retake(record, |known| (known.action, Some(hooks.clone())), algorithm);
        }
    }

    /// Takes the snapshot of a release anew, if there is one.
    fn retake(
        &mut self,
        record: &Record,
        keep: impl Fn(&Snapshot) -> (Option<SnapshotAction>, Option<super::snapshot::Hooks>),
        algorithm: Algorithm,
    ) -> bool {
        let Some(known) = self.0.iter_mut().find(|known| known.targets(record)) else {
            return false;
        };
        let (action, hooks) = keep(known);
        let mut taken = Snapshot::of(record, action, &known.oci_digest, algorithm);
        taken.test_hooks = hooks;
        *known = taken;
        true
    }

    fn sort(&mut self) {
        self.0.sort_by_key(|snapshot| std::cmp::Reverse(snapshot.version));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::TestHook;
    use crate::record::Info;

    fn snapshot(version: i64, status: &str, phase: &str) -> Snapshot {
        let hook = TestHook {
            phase: phase.to_owned(),
            ..TestHook::default()
        };
        Snapshot {
            version,
            status: status.to_owned(),
            test_hooks: (!phase.is_empty()).then(|| [("t".to_owned(), hook)].into()),
            ..Snapshot::default()
        }
    }

    fn versions(history: &History) -> Vec<i64> {
        history.0.iter().map(|snapshot| snapshot.version).collect()
    }

    fn grown() -> History {
        History::new(vec![
            snapshot(1, "superseded", ""),
            snapshot(2, "superseded", "Succeeded"),
            snapshot(3, "superseded", "Failed"),
            snapshot(4, "failed", ""),
            snapshot(5, "failed", ""),
        ])
    }

    #[test]
    fn the_one_to_go_back_to_ran_and_passed_its_tests() {
        assert_eq!(grown().latest().unwrap().version, 5);
        assert_eq!(grown().previous(false).unwrap().version, 2);
        assert_eq!(grown().previous(true).unwrap().version, 3);
        assert!(
            History::new(vec![snapshot(1, "deployed", "")])
                .previous(true)
                .is_none()
        );
    }

    #[test]
    fn what_is_older_is_forgotten() {
        let mut history = grown();
        history.truncate(true);
        assert_eq!(versions(&history), [5, 4, 3]);
        let mut failing = History::new((1..=8).map(|version| snapshot(version, "failed", "")).collect());
        failing.truncate(false);
        assert_eq!(versions(&failing), [8, 7, 6, 5, 4]);
        let mut long = History::new((1..=8).map(|version| snapshot(version, "deployed", "")).collect());
        long.keep_newest();
        assert_eq!(versions(&long), [8, 7, 6, 5, 4]);
    }

    fn record(version: i64, status: Status) -> Record {
        Record {
            name: "web".into(),
            namespace: "shop".into(),
            version,
            info: Info {
                status,
                ..Info::default()
            },
            ..Record::default()
        }
    }

    #[test]
    fn what_is_written_is_observed() {
        let sha = Algorithm::Sha256;
        let mut history = History::default();
        history.record_release(
            &[record(1, Status::Deployed)],
            SnapshotAction::Install,
            "sha256:x",
            sha,
        );
        let tests = Tests::default();
        history.record_test(&record(1, Status::Deployed), &tests, sha);
        assert!(history.latest().unwrap().has_been_tested());
        let written = [record(1, Status::Superseded), record(2, Status::Deployed)];
        history.record_release(&written, SnapshotAction::Upgrade, "", sha);
        assert_eq!(versions(&history), [2, 1]);
        let old = &history.snapshots()[1];
        assert_eq!(
            (old.status.as_str(), old.oci_digest.as_str()),
            ("superseded", "sha256:x")
        );
        assert!(old.has_been_tested());
        assert_eq!(
            old.verify(&record(1, Status::Superseded)),
            super::super::Verified::Yes
        );
        history.record_rollback(&record(3, Status::Deployed), sha);
        history.record_rollback(&record(2, Status::Superseded), sha);
        assert_eq!(versions(&history), [3, 2, 1]);
        let rolled_back = |at: usize| history.snapshots()[at].action == Some(SnapshotAction::Rollback);
        assert!(rolled_back(0) && rolled_back(1));
        history.record_uninstall(
            &record(3, Status::Uninstalled),
            SnapshotAction::UninstallRemediation,
            sha,
        );
        assert_eq!(history.latest().unwrap().status, "uninstalled");
    }
}
