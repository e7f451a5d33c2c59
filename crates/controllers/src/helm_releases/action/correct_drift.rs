//! Objects that are not what the release says are set to that.

use api::{ConditionStatus, ConditionType, Reason};
use engine::diff::Takeover;
use engine::plan::{Desired, Observed};
use helm::decision::message::{self, DriftChange, DriftKind};
use helm::record::Record;
use model::event::Severity;
use model::{ObjectKey, Value};

use super::{NotDone, Release};
use crate::helm_releases::client_side::Writing;
use crate::helm_releases::{objects, status};
use crate::kit::{Conditions, Notice};

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
        let (mut changes, problems) = objects::changes(&looked.objects, &record.namespace);
        if !problems.is_empty() {
            let problems = problems.join("\n");
            // What is known to differ is told and set right all the same.
            if changes.is_empty() {
                return Err(problems);
            }
            tracing::error!("not all objects of the release can be compared: {problems}");
        }
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
        let ignore = objects::ignore_rules(self.run.object, self.run.worker).await?;
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

    /// Sets right what differs. What cannot be is told, and is found to differ again by whoever looks next.
    pub(super) async fn correct_drift(&mut self) -> Result<(), NotDone> {
        let (Some(record), Some(latest)) = (self.last().cloned(), self.latest()) else {
            return Ok(());
        };
        let (stamp, progressing) = (self.run.stamp, Reason::PROGRESSING.as_str());
        self.run.status.set(
            stamp,
            ConditionType::READY,
            ConditionStatus::Unknown,
            progressing,
            "correcting cluster drift",
        );
        let corrected = self.corrected(&record).await.unwrap_or_else(|problem| Corrected {
            problems: vec![problem],
            ..Corrected::default()
        });
        let applied = corrected.applied.join("\n");
        let ((reason, text), severity) = match corrected.problems.is_empty() {
            true if applied.is_empty() => return Ok(()),
            true => (message::drift_corrected(&latest, &applied), Severity::Info),
            false => (
                message::drift_correction_failed(&latest, &corrected.problems, &applied),
                Severity::Error,
            ),
        };
        self.run.tell(Notice {
            severity,
            reason: status::reason(reason),
            message: self.hidden.mask(&text),
            metadata: message::snapshot_metadata(&latest),
        });
        Ok(())
    }

    async fn corrected(&mut self, record: &Record) -> Result<Corrected, String> {
        let looked = self.looked_at(record).await?;
        // Who only rehearses is told what a plan would change.
        if !record.is_server_side() && self.site.rehearsed.is_none() {
            return Ok(self.corrected_by_patches(record, looked.objects).await);
        }
        let (plan, objects) = objects::correction(looked.objects, &record.name, &record.namespace)?;
        let report = self.site.carry_out(plan, objects, self.run.worker).await;
        Ok(Corrected {
            applied: report.changes(),
            problems: report.errors,
        })
    }

    /// Sets objects right that were written without server-side apply, each for itself.
    async fn corrected_by_patches(&self, record: &Record, looked: Vec<Desired>) -> Corrected {
        let writing = Writing {
            namespace: &record.namespace,
            previous: &[],
            force: false,
        };
        let mut corrected = Corrected::default();
        for desired in looked {
            let done = match desired.observed {
                Observed::Missing => "created",
                Observed::Drifted { .. } => "configured",
                _ => continue,
            };
            let line = format!("{} {done}", desired.key(&record.namespace));
            match self.site.write(vec![desired], &writing, &mut Vec::new()).await {
                Ok(_) => corrected.applied.push(line),
                Err(problems) => corrected.problems.extend(problems),
            }
        }
        corrected
    }
}

/// What a correction came to.
#[derive(Default)]
struct Corrected {
    /// A line for each object that was set right.
    applied: Vec<String>,
    problems: Vec<String>,
}
