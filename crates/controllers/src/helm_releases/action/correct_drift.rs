//! Objects that are not what the release says are set to that.

use engine::plan::Desired;
use helm::decision::message::{self, DriftChange};
use helm::record::Record;
use model::event::Severity;

use super::{NotDone, Release, ended};
use crate::helm_releases::{objects, status};
use crate::kit::Notice;

/// What differs from a release.
pub(in super::super) struct Drifted {
    /// In Flux's words.
    pub(in super::super) changes: Vec<DriftChange>,
}

impl Release<'_, '_> {
    /// What differs from the newest release.
    pub(in super::super) async fn drift(&self) -> Result<Drifted, String> {
        let Some(record) = self.last() else {
            return Ok(Drifted { changes: Vec::new() });
        };
        let looked = self.looked_at(record).await?;
        let changes = objects::changes(&looked, &record.namespace)?;
        if changes.is_empty() {
            // Whether they still are is asked of these alone.
            let keys = looked.iter().map(|desired| desired.key(&record.namespace));
            self.site.memory.keep(&keys.collect());
        }
        Ok(Drifted { changes })
    }

    /// The objects of a record, each with how it is in the cluster.
    async fn looked_at(&self, record: &Record) -> Result<Vec<Desired>, String> {
        let drift = self.run.object.spec.drift_detection.iter();
        let ignore = objects::ignore_rules(drift.flat_map(|drift| &drift.ignore))?;
        let takeover = objects::takeover(&self.settings.override_managers);
        let found = helm::inventory::objects(&record.manifest)?;
        let looked = self
            .site
            .looked_at(found, &record.name, &record.namespace, &takeover, &ignore);
        looked.await
    }

    pub(super) async fn correct_drift(&mut self) -> Result<(), NotDone> {
        let (Some(record), Some(latest)) = (self.last().cloned(), self.latest()) else {
            return Ok(());
        };
        let corrected = self.corrected(&record).await;
        let (reason, text, severity) = match &corrected {
            Ok(lines) => {
                let (reason, text) = message::drift_corrected(&latest, &lines.join("\n"));
                (reason, text, Severity::Info)
            }
            Err(problem) => {
                let (reason, text) =
                    message::drift_correction_failed(&latest, std::slice::from_ref(problem), "");
                (reason, text, Severity::Error)
            }
        };
        self.run.tell(Notice {
            severity,
            reason: status::reason(reason),
            message: text,
            metadata: message::snapshot_metadata(&latest),
        });
        corrected.map(drop).map_err(NotDone)
    }

    async fn corrected(&mut self, record: &Record) -> Result<Vec<String>, String> {
        let looked = self.looked_at(record).await?;
        let (plan, objects) = objects::correction(looked, &record.name, &record.namespace)?;
        let report = self.site.carry_out(plan, objects, self.run.seat).await;
        Ok(ended(report)?.changes())
    }
}
