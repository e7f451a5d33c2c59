//! A release is uninstalled: since it failed, or since nobody wants it any more.

use api::helm::DeletionPropagation;
use engine::plan::Propagation;
use engine::sync::Ending;
use helm::HelmVersion;
use helm::decision::{SnapshotAction, message};
use helm::manifest::{self, Event};
use helm::record::{Record, Status, description};
use model::Inventory;

use super::{NotDone, Release, now};
use crate::helm_releases::{status, target};

impl Release<'_, '_> {
    /// Uninstalls a release that failed.
    pub(super) async fn uninstall_failed_release(&mut self) -> Result<(), NotDone> {
        let Some(latest) = self.latest() else {
            return Err(NotDone("there is no release to uninstall".to_owned()));
        };
        let metadata = message::snapshot_metadata(&latest);
        let done = self.uninstalled(SnapshotAction::UninstallRemediation).await;
        match done {
            Ok(()) => self.tell(&message::uninstall_remediation_succeeded(&latest), metadata),
            Err(problem) => {
                self.count_any_failure();
                self.tell(
                    &message::uninstall_remediation_failed(&latest, &problem),
                    metadata,
                );
                // What was stored of it decides what comes next.
                if self.latest().is_some_and(|now| now.digest == latest.digest) {
                    return Err(NotDone(problem));
                }
            }
        }
        Ok(())
    }

    /// Uninstalls a release that nobody wants any more.
    pub(in super::super) async fn uninstall(&mut self) -> Result<(), NotDone> {
        let Some(latest) = self.latest() else {
            return Ok(());
        };
        let metadata = message::snapshot_metadata(&latest);
        if self.records.is_empty() {
            let told = message::not_found(&latest);
            status::set(&mut self.run.status, self.run.stamp, &told);
            return Ok(());
        }
        let is_uninstalled = self
            .last()
            .is_some_and(|last| last.info.status == Status::Uninstalled);
        if is_uninstalled && self.keeps_history() {
            let told = message::already_uninstalled(&latest);
            status::set(&mut self.run.status, self.run.stamp, &told);
            return Ok(());
        }
        let done = self.uninstalled(SnapshotAction::Uninstall).await;
        status::set_history(&mut self.run.status, &self.history);
        let done = match done {
            Ok(()) => {
                self.run.status.inventory = None;
                self.tell(&message::uninstall_succeeded(&latest), metadata);
                Ok(())
            }
            Err(problem) => {
                self.count_any_failure();
                self.tell(&message::uninstall_failed(&latest, &problem), metadata);
                Err(NotDone(problem))
            }
        };
        status::summarise(self.run, &self.policy.tests);
        done
    }

    fn keeps_history(&self) -> bool {
        let uninstall = self.run.object.spec.uninstall.as_ref();
        uninstall.is_some_and(|uninstall| uninstall.keep_history)
    }

    /// As Helm does it: from the deletion of the objects on, whatever goes wrong is only told, so that no release lasts for ever because an object of it
    /// does not go.
    async fn uninstalled(&mut self, action: SnapshotAction) -> Result<(), String> {
        let object = self.run.object;
        let uninstall = object.spec.uninstall.clone().unwrap_or_default();
        let seconds = target::timeout(object, uninstall.timeout).as_secs().max(1);
        let Some(mut record) = self.last().cloned() else {
            return Ok(());
        };
        let mut problems = Vec::new();
        if record.info.status != Status::Uninstalled {
            let installed = self.installed().await;
            record.info.deleted = Some(now());
            record.set_status(Status::Uninstalling, description::UNINSTALLING);
            if !uninstall.disable_hooks {
                self.hooks(&mut record, Event::PreDelete, seconds).await?;
            }
            self.store_uninstalled(&record, action).await?;
            let propagation = match uninstall.deletion_propagation {
                Some(DeletionPropagation::Foreground) => Propagation::Foreground,
                Some(DeletionPropagation::Orphan) => Propagation::Orphan,
                _ => Propagation::Background,
            };
            let wait = (!uninstall.disable_wait).then_some(seconds);
            problems.extend(self.delete_objects(&record, installed, propagation, wait).await?);
            if !uninstall.disable_hooks {
                problems.extend(self.hooks(&mut record, Event::PostDelete, seconds).await.err());
            }
            record.set_status(Status::Uninstalled, description::UNINSTALLED);
            self.store_uninstalled(&record, action).await?;
        }
        match uninstall.keep_history {
            true => self.supersede(record.version, None).await,
            false => problems.extend(self.forget_all().await.err()),
        }
        match problems.is_empty() {
            true => Ok(()),
            false => Err(format!(
                "uninstallation completed with {} error(s): {}",
                problems.len(),
                problems.join("; ")
            )),
        }
    }

    async fn store_uninstalled(&mut self, record: &Record, action: SnapshotAction) -> Result<(), String> {
        let stored = self.update(record.clone()).await;
        stored.map_err(|error| error.to_string())?;
        let algorithm = self.settings.snapshot_digests;
        self.history.record_uninstall(record, action, algorithm);
        Ok(())
    }

    /// Deletes all records, also those that cannot be read.
    async fn forget_all(&mut self) -> Result<(), String> {
        let known: Vec<i64> = self.records.iter().map(|record| record.version).collect();
        for version in self.storage.unreadable().into_iter().chain(known) {
            let deleted = self.storage.delete(version).await;
            deleted.map_err(|error| error.to_string())?;
        }
        self.records.clear();
        Ok(())
    }

    /// Deletes the objects of a record; what is not gone by the end of the wait, if something is not.
    async fn delete_objects(
        &mut self,
        record: &Record,
        installed: Inventory,
        propagation: Propagation,
        wait: Option<u64>,
    ) -> Result<Option<String>, String> {
        let sorted = manifest::uninstall(&record.manifest, HelmVersion::V4)?;
        self.log.extend(sorted.keep.iter().map(|kept| {
            format!(
                "{} {} stays: its resource policy says so",
                kept.head.kind, kept.head.name
            )
        }));
        let deletion = self
            .site
            .deletion(installed, &record.name, &record.namespace, propagation, wait)
            .await;
        let (plan, objects) = deletion.map_err(|problems| problems.join("\n"))?;
        let report = self.site.carry_out(plan, objects, self.run.worker).await;
        match report.ending {
            Ending::Succeeded => Ok(None),
            Ending::HealthFailed => Ok(Some(report.errors.join("\n"))),
            _ => Err(report.errors.join("\n")),
        }
    }
}
