//! Objects that are not what the release says are set to that.

use engine::diff::Takeover;
use engine::plan::{Desired, Observed};
use helm::decision::message::{self, DriftChange, DriftKind};
use helm::record::Record;
use model::event::Severity;
use model::{ObjectKey, Value};

use super::{NotDone, Release, ended};
use crate::helm_releases::client_side::Writing;
use crate::helm_releases::{objects, status};
use crate::kit::Notice;

/// What differs from a release.
pub(in super::super) struct Drifted {
    /// In Flux's words.
    pub(in super::super) changes: Vec<DriftChange>,
}

/// The objects of a release.
struct Looked {
    /// Those that are compared.
    objects: Vec<Desired>,
    /// Those that ask not to be.
    excluded: Vec<ObjectKey>,
}

impl Release<'_, '_> {
    /// What differs from the newest release.
    pub(in super::super) async fn drift(&self) -> Result<Drifted, String> {
        let Some(record) = self.last() else {
            return Ok(Drifted { changes: Vec::new() });
        };
        let looked = self.looked_at(record).await?;
        let mut changes = objects::changes(&looked.objects, &record.namespace)?;
        if changes.is_empty() {
            // Whether they still are is asked of these alone.
            let keys = looked
                .objects
                .iter()
                .map(|desired| desired.key(&record.namespace));
            self.site.memory.keep(&keys.collect());
        } else {
            let excluded = looked.excluded.into_iter();
            changes.extend(excluded.map(|object| DriftChange {
                object,
                kind: DriftKind::Excluded,
            }));
        }
        Ok(Drifted { changes })
    }

    /// The objects of a record, each with how it is in the cluster.
    async fn looked_at(&self, record: &Record) -> Result<Looked, String> {
        let drift = self.run.object.spec.drift_detection.iter();
        let ignore = objects::ignore_rules(drift.flat_map(|drift| &drift.ignore))?;
        let takeover = match record.is_server_side() {
            true => objects::takeover(&self.settings.override_managers),
            // Its fields are those of updates, and stay so.
            false => Takeover::default(),
        };
        let found = helm::inventory::objects(&record.manifest)?;
        let (excluded, found): (Vec<Value>, Vec<Value>) = found.into_iter().partition(objects::is_excluded);
        let looked = self
            .site
            .looked_at(found, &record.name, &record.namespace, &takeover, &ignore);
        let (marked, objects): (Vec<Desired>, Vec<Desired>) = looked
            .await?
            .into_iter()
            .partition(|desired| objects::is_marked_excluded(&desired.observed));
        let in_cluster = marked.iter().map(|desired| desired.key(&record.namespace));
        Ok(Looked {
            excluded: excluded.iter().map(ObjectKey::of).chain(in_cluster).collect(),
            objects,
        })
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
        // Who only rehearses is told what a plan would change.
        if !record.is_server_side() && self.site.rehearsed.is_none() {
            return self.corrected_by_patches(record, looked.objects).await;
        }
        let (plan, objects) = objects::correction(looked.objects, &record.name, &record.namespace)?;
        let report = self.site.carry_out(plan, objects, self.run.seat).await;
        Ok(ended(report)?.changes())
    }

    /// Sets objects right that were written without server-side apply.
    async fn corrected_by_patches(
        &self,
        record: &Record,
        looked: Vec<Desired>,
    ) -> Result<Vec<String>, String> {
        let differing: Vec<Desired> = looked
            .into_iter()
            .filter(|desired| !matches!(desired.observed, Observed::Unchanged(_)))
            .collect();
        let is_new = |desired: &Desired| matches!(desired.observed, Observed::Missing);
        let lines = differing.iter().map(|desired| {
            let done = if is_new(desired) { "created" } else { "configured" };
            format!("{} {done}", desired.key(&record.namespace))
        });
        let lines: Vec<String> = lines.collect();
        let writing = Writing {
            namespace: &record.namespace,
            previous: &[],
            force: false,
        };
        let written = self.site.write(differing, &writing, &mut Vec::new()).await;
        written.map(|_| lines).map_err(|problems| problems.join("\n"))
    }
}
