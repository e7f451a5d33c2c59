//! The release before is brought back, as a new one.

use helm::decision::{Action, message};
use helm::manifest::Event;
use helm::record::{Record, description};

use super::carried::Carrying;
use super::{Applying, NotDone, Release, now};
use crate::helm_releases::target;

impl Release<'_, '_> {
    pub(super) async fn roll_back(&mut self, to: i64) -> Result<(), NotDone> {
        let Some(target) = self.policy.rollback_target(&self.history).cloned() else {
            return Err(NotDone(
                "missing target release for rollback: required to rollback".to_owned(),
            ));
        };
        let before = self.records.clone();
        let done = self.rolled_back(to).await;
        let is_stored = self.note_rollback(&before);
        let metadata = message::metadata(
            &target.chart_version,
            &helm::digest::of_values(model::digest::Algorithm::Sha256, &self.values).to_string(),
            &target.app_version,
            &target.oci_digest,
        );
        match done {
            Ok(()) => self.tell(&message::rollback_succeeded(&target), metadata),
            Err(_) if self.superseded_by.is_some() => {}
            Err(problem) => {
                self.count_any_failure();
                self.tell(&message::rollback_failed(&target, &problem), metadata);
                if !is_stored {
                    return Err(NotDone(problem));
                }
            }
        }
        Ok(())
    }

    /// Takes note of the records that a rollback has written, which began with these; whether it has stored its own.
    pub(in super::super) fn note_rollback(&mut self, before: &[Record]) -> bool {
        let algorithm = self.settings.snapshot_digests;
        for record in self.records.iter().filter(|record| !before.contains(record)) {
            self.history.record_rollback(record, algorithm);
        }
        let newest = |records: &[Record]| records.last().map(|record| record.version);
        newest(&self.records) > newest(before)
    }

    pub(in super::super) async fn rolled_back(&mut self, to: i64) -> Result<(), String> {
        let object = self.run.object;
        let rollback = object.spec.rollback.clone().unwrap_or_default();
        let seconds = target::timeout_of(object, Action::Rollback { to })
            .as_secs()
            .max(1);
        let found = self.records.iter().find(|record| record.version == to).cloned();
        let found = found.ok_or_else(|| format!("release has no {to} version"))?;
        let newest = self.last().cloned().unwrap_or_else(|| found.clone());
        let server_side = target::is_server_side(rollback.server_side_apply.as_ref(), &found);
        let record = found.rolled_back(&newest, now(), server_side);
        let client_side = match record.is_server_side() {
            true => None,
            false => Some(helm::inventory::objects(&newest.manifest)?),
        };
        let previous = self.installed().await;
        self.forget_old().await.map_err(|error| error.to_string())?;
        let applying = Applying {
            previous,
            client_side,
            // Where the server applies, nothing is replaced.
            force: rollback.force && !server_side,
            wait: (!rollback.disable_wait).then_some(seconds),
            wait_for_jobs: !rollback.disable_wait_for_jobs,
        };
        let carrying = Carrying {
            applying,
            events: (!rollback.disable_hooks).then_some((Event::PreRollback, Event::PostRollback)),
            seconds,
            replaces: None,
            cleans_up: rollback.cleanup_on_fail,
            deployed: description::rollback(to),
            failed: description::rollback_failed,
        };
        self.carried(record, carrying).await
    }
}
