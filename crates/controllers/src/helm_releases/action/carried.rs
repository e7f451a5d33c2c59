//! What an install, an upgrade and a rollback have in common: a record that was stored is carried out, and what it came to is stored and told.

use engine::plan::Propagation;
use helm::decision::message::{self, Subject, Told};
use helm::decision::{Snapshot, SnapshotAction};
use helm::manifest::Event;
use helm::record::{Record, Status};
use model::ObjectKey;

use super::{Applying, NotDone, Release};
use crate::helm_releases::status;

/// How a record is carried out.
pub(super) struct Carrying {
    pub(super) applying: Applying,
    /// The events before and after its objects are brought to the cluster; nothing where no hooks are run.
    pub(super) events: Option<(Event, Event)>,
    /// How long each part may take.
    pub(super) seconds: u64,
    /// The version whose place it takes, also if that has failed.
    pub(super) replaces: Option<i64>,
    /// Whether what a failure has brought to the cluster goes again.
    pub(super) cleans_up: bool,
    /// What the record says of itself then.
    pub(super) deployed: String,
    /// What it says of a failure: of the name of the release and the problem.
    pub(super) failed: fn(&str, &str) -> String,
}

/// What is told of an install or an upgrade.
pub(super) struct Telling {
    pub(super) action: SnapshotAction,
    pub(super) failed: fn(&Subject<'_>, &str) -> Told,
    pub(super) succeeded: fn(&Snapshot) -> Told,
}

impl Release<'_, '_> {
    /// Stores a record, carries it out, and stores what that came to.
    pub(super) async fn carried(&mut self, mut record: Record, carrying: Carrying) -> Result<(), String> {
        self.create(record.clone())
            .await
            .map_err(|error| error.to_string())?;
        let mut created = Vec::new();
        let done = self.carried_out(&mut record, &carrying, &mut created).await;
        match &done {
            Ok(()) => {
                record.set_status(Status::Deployed, carrying.deployed);
                self.supersede(record.version, carrying.replaces).await;
            }
            Err(problem) => {
                let description = (carrying.failed)(&record.name, problem);
                record.set_status(Status::Failed, description);
                if carrying.cleans_up {
                    self.clean_up(&record, &created, carrying.seconds).await;
                }
            }
        }
        self.list_objects(&record).await;
        let stored = self.update(record).await.map_err(|error| error.to_string());
        done.and(stored)
    }

    async fn carried_out(
        &mut self,
        record: &mut Record,
        carrying: &Carrying,
        created: &mut Vec<ObjectKey>,
    ) -> Result<(), String> {
        if let Some((before, _)) = carrying.events {
            self.hooks(record, before, carrying.seconds).await?;
        }
        let manifest = record.manifest.clone();
        self.apply(&manifest, &carrying.applying, created).await?;
        match carrying.events {
            Some((_, after)) => self.hooks(record, after, carrying.seconds).await,
            None => Ok(()),
        }
    }

    /// What was installed before a version is not any more, nor is what it takes the place of. Where that cannot be written, the release is none the
    /// worse for it.
    pub(super) async fn supersede(&mut self, version: i64, replaces: Option<i64>) {
        let is_replaced =
            |record: &Record| record.info.status == Status::Deployed || replaces == Some(record.version);
        let is_before = |record: &&Record| record.version < version && is_replaced(record);
        let before: Vec<Record> = self.records.iter().filter(is_before).cloned().collect();
        for mut record in before {
            record.info.status = Status::Superseded;
            if let Err(error) = self.update(record).await {
                tracing::warn!("a release that is superseded cannot be marked as such: {error}");
                self.log.push(error.to_string());
            }
        }
    }

    /// Deletes what a failed record has brought to the cluster.
    async fn clean_up(&mut self, record: &Record, created: &[ObjectKey], seconds: u64) {
        let mut brought = self.inventory_of(std::iter::once(record)).await;
        brought.entries.retain(|entry| created.contains(&entry.id.0));
        let (name, namespace) = (&record.name, &record.namespace);
        let deletion = self
            .site
            .deletion(brought, name, namespace, Propagation::Background, Some(seconds));
        match deletion.await {
            Ok((plan, objects)) => {
                let report = self.site.carry_out(plan, objects, self.run.worker).await;
                self.log.extend(report.errors);
            }
            Err(problems) => self.log.extend(problems),
        }
    }

    /// Takes note of what an install or an upgrade came to, which began with these records, and tells it.
    pub(super) fn released(
        &mut self,
        before: &[Record],
        done: Result<(), String>,
        telling: &Telling,
    ) -> Result<(), NotDone> {
        let is_written = |record: &&Record| {
            let known = before.iter().find(|known| known.version == record.version);
            known != Some(record)
        };
        let written: Vec<Record> = self.records.iter().filter(is_written).cloned().collect();
        let oci = self.run.status.last_attempted_revision_digest.clone();
        let algorithm = self.settings.snapshot_digests;
        self.history
            .record_release(&written, telling.action, &oci.unwrap_or_default(), algorithm);
        if let Err(problem) = done {
            // What was given up for something newer has not failed.
            if self.superseded_by.is_some() {
                return Ok(());
            }
            let told = self.with_subject(|subject| (telling.failed)(subject, &problem));
            let metadata = self.wanted_metadata();
            self.count_any_failure();
            self.tell(&told, metadata);
            if written.is_empty() {
                return Err(NotDone(problem));
            }
            status::count_failure(&mut self.run.status);
            return Ok(());
        }
        let Some(latest) = self.latest() else {
            return Ok(());
        };
        self.tell(&(telling.succeeded)(&latest), message::snapshot_metadata(&latest));
        if self.policy.tests.enabled && !latest.has_been_tested() {
            let told = message::awaiting_tests(&latest);
            status::set(&mut self.run.status, self.run.stamp, &told);
        }
        let last = status::last_action(&self.run.status);
        if self.policy.retry_interval(last).is_some() {
            status::clear_failures(&mut self.run.status);
        }
        Ok(())
    }
}
