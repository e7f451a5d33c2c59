//! A release that something has left behind in the middle of its work is set to failed, so that it can be worked on.

use helm::decision::Snapshot;
use helm::decision::message;

use super::{NotDone, Release};

impl Release<'_, '_> {
    pub(super) async fn unlock(&mut self) -> Result<(), NotDone> {
        let Some(mut record) = self.last().cloned() else {
            return Ok(());
        };
        let algorithm = self.settings.snapshot_digests;
        let known = self
            .history
            .snapshots()
            .iter()
            .find(|known| known.targets(&record));
        let oci = known.map(|known| known.oci_digest.clone()).unwrap_or_default();
        let snapshot = Snapshot::of(&record, None, &oci, algorithm);
        let Some(before) = record.unlock() else {
            return Ok(());
        };
        let metadata = message::snapshot_metadata(&snapshot);
        if let Err(error) = self.update(record.clone()).await {
            self.count_any_failure();
            let told = message::unlock_failed(&snapshot, before.as_str(), &error.to_string());
            self.tell(&told, metadata);
            return Err(error.into());
        }
        self.history.record_unlock(&record, algorithm);
        self.tell(&message::unlock_succeeded(&snapshot, before.as_str()), metadata);
        Ok(())
    }
}
