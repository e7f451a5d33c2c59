//! A release is uninstalled: since it failed, or since nobody wants it any more.

use api::helm::DeletionPropagation;
use engine::plan::Propagation;
use helm::HelmVersion;
use helm::decision::{SnapshotAction, message};
use helm::manifest::{self, Event};
use helm::record::{Record, Status, description};
use model::Inventory;

use super::{NotDone, Release, ended, now};
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
                return Err(NotDone(problem));
            }
        }
        self.run.status.inventory = None;
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

    async fn uninstalled(&mut self, action: SnapshotAction) -> Result<(), String> {
        let object = self.run.object;
        let uninstall = object.spec.uninstall.clone().unwrap_or_default();
        let seconds = target::timeout(object, uninstall.timeout).as_secs().max(1);
        let Some(mut record) = self.last().cloned() else {
            return Ok(());
        };
        let algorithm = self.settings.snapshot_digests;
        if record.info.status != Status::Uninstalled {
            let installed = self.installed().await;
            record.info.deleted = Some(now());
            record.set_status(Status::Uninstalling, description::UNINSTALLING);
            self.update(record.clone())
                .await
                .map_err(|error| error.to_string())?;
            if !uninstall.disable_hooks {
                self.hooks(&mut record, Event::PreDelete, seconds).await?;
            }
            let propagation = match uninstall.deletion_propagation {
                Some(DeletionPropagation::Foreground) => Propagation::Foreground,
                Some(DeletionPropagation::Orphan) => Propagation::Orphan,
                _ => Propagation::Background,
            };
            let wait = (!uninstall.disable_wait).then_some(seconds);
            self.delete_objects(&record, installed, propagation, wait).await?;
            if !uninstall.disable_hooks {
                self.hooks(&mut record, Event::PostDelete, seconds).await?;
            }
            record.set_status(Status::Uninstalled, description::UNINSTALLED);
            self.update(record.clone())
                .await
                .map_err(|error| error.to_string())?;
            self.history.record_uninstall(&record, action, algorithm);
        }
        if !uninstall.keep_history {
            for version in self
                .records
                .iter()
                .map(|record| record.version)
                .collect::<Vec<_>>()
            {
                self.storage
                    .delete(version)
                    .await
                    .map_err(|error| error.to_string())?;
            }
            self.records.clear();
        }
        Ok(())
    }

    async fn delete_objects(
        &mut self,
        record: &Record,
        installed: Inventory,
        propagation: Propagation,
        wait: Option<u64>,
    ) -> Result<(), String> {
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
        let report = self.site.carry_out(plan, objects, self.run.seat).await;
        ended(report).map(drop)
    }
}
