//! A release that somebody has taken back to an earlier version: it stays there until its object, its chart or its values are others.
//!
//! Two annotations say so: the version to go back to, and what had been tried when somebody asked for it. While that is what is wanted
//! still, nothing is installed or upgraded. Once something else is, both annotations are taken away, and the release goes on as ever.

use api::helm::{HelmRelease, HelmReleaseStatus};
use api::{ConditionType, Reason};
use helm::decision::message::{self, Told};
use helm::decision::ready;
use helm::decision::{Action, DriftMode, Snapshot};
use helm::record::{Record, Status, description};
use kube::api::{Patch, PatchParams};
use kube::{Api, Client, ResourceExt};
use serde_json::json;

use super::action::{NotDone, Release};
use super::{FIELD_MANAGER, status, target};
use crate::kit::{Conditions as _, Failure, chain};
use crate::kustomizations::ROLLED_BACK_FROM;

/// The version of the release to go back to.
pub const ROLLED_BACK_TO: &str = "sluice.dev/rolled-back-to";

/// What was last tried, by a name that nothing else has: generation, chart and values.
pub fn tried(status: &HelmReleaseStatus) -> String {
    let text = |field: &Option<String>| field.clone().unwrap_or_default();
    format!(
        "{}/{}/{}",
        status.last_attempted_generation.unwrap_or_default(),
        text(&status.last_attempted_revision),
        text(&status.last_attempted_config_digest)
    )
}

/// What somebody asks for: the version, if it is one, and what had been tried.
fn asked(object: &HelmRelease) -> Option<(Result<i64, String>, String)> {
    let to = object.annotations().get(ROLLED_BACK_TO)?;
    let from = object
        .annotations()
        .get(ROLLED_BACK_FROM)
        .cloned()
        .unwrap_or_default();
    let version = to.parse::<i64>().map_err(|_| {
        format!(
            "annotation {ROLLED_BACK_TO}: {to:?} is no version of a release; write its number, such as \"3\""
        )
    });
    Some((version, from))
}

impl Release<'_, '_> {
    /// Keeps a release at the version that somebody has taken it back to. Nothing where nobody has, or where something newer is wanted.
    pub(super) async fn held(&mut self, client: &Client) -> Option<Result<(), Failure>> {
        let (to, from) = asked(self.run.object)?;
        if from != tried(&self.run.status) {
            return match let_go(client, self.run.object).await {
                Ok(()) => None,
                Err(failure) => Some(Err(failure)),
            };
        }
        let invalid = |message: String| Failure::stalled(Reason::INVALID_ANNOTATION, message);
        Some(match to {
            Ok(to) => self.hold(to).await,
            Err(unclear) => Err(invalid(unclear)),
        })
    }

    async fn hold(&mut self, to: i64) -> Result<(), Failure> {
        let failed = |problem: String| Failure::transient(Reason::ROLLBACK_FAILED, problem);
        let records = self.storage.all(self.run.worker).await;
        self.records = records.map_err(|error| failed(error.to_string()))?;
        let Some(wanted) = self.records.iter().find(|record| record.version == to).cloned() else {
            let known = self.records.iter().map(|record| record.version.to_string());
            let known: Vec<String> = known.collect();
            let message = format!(
                "annotation {ROLLED_BACK_TO}: there is no version {to} of the release: choose from {}",
                known.join(", ")
            );
            return Err(Failure::stalled(Reason::INVALID_ANNOTATION, message));
        };
        if !self.records.last().is_some_and(|newest| is_at(newest, to)) {
            self.go_back(&wanted).await.map_err(failed)?;
        }
        if self.policy.drift.detects() {
            self.watch_over().await;
        }
        self.run.status.remove(ConditionType::RECONCILING);
        self.run.status.remove(ConditionType::STALLED);
        status::summarise(self.run, &self.policy.tests);
        Ok(())
    }

    /// Brings an earlier version back.
    async fn go_back(&mut self, wanted: &Record) -> Result<(), String> {
        let not_done = |NotDone(problem): NotDone| problem;
        if self
            .records
            .last()
            .is_some_and(|newest| newest.info.status.is_pending())
        {
            self.run(Action::Unlock).await.map_err(not_done)?;
        }
        let to = Action::Rollback { to: wanted.version };
        let timeout = api::Duration::from(target::timeout_of(self.run.object, to));
        let message = message::running(to, &timeout.to_string());
        let stamp = self.run.stamp;
        self.run
            .status
            .set_reconciling(stamp, Reason::PROGRESSING, &message);
        self.run.show_progress().await;
        let before = self.records.clone();
        let done = self.rolled_back(wanted.version).await;
        let done = done.map_err(|problem| self.hidden.mask(&problem));
        self.note_rollback(&before);
        let algorithm = self.settings.snapshot_digests;
        status::set_history(&mut self.run.status, &self.history);
        let snapshot = Snapshot::of(wanted, None, "", algorithm);
        let told = match &done {
            Ok(()) => message::rollback_succeeded(&snapshot),
            Err(problem) => message::rollback_failed(&snapshot, problem),
        };
        // It is no remedy for a failure but what somebody wants.
        let told = Told {
            condition: ready::ConditionType::Released,
            ..told
        };
        self.run.status.remove(ConditionType::REMEDIATED);
        self.run.status.remove(ConditionType::TEST_SUCCESS);
        status::clear_failures(&mut self.run.status);
        status::set(&mut self.run.status, stamp, &told);
        self.run
            .tell(status::notice(&told, message::snapshot_metadata(&snapshot)));
        done
    }

    /// Sets right what others have changed about it, as far as the object wants that.
    async fn watch_over(&mut self) {
        match self.drift().await {
            Ok(drifted) if !drifted.changes.is_empty() => {
                self.tell_drift(&drifted);
                if self.policy.drift == DriftMode::Enabled
                    && let Err(NotDone(problem)) = self.run(Action::CorrectDrift).await
                {
                    tracing::error!("drift is not corrected: {problem}");
                }
            }
            Ok(_) => status::set(&mut self.run.status, self.run.stamp, &message::no_drift()),
            Err(problem) => tracing::error!("drift cannot be told: {problem}"),
        }
    }
}

/// Whether a record is a version, or what brought it back.
fn is_at(newest: &Record, to: i64) -> bool {
    let info = &newest.info;
    info.status == Status::Deployed && (newest.version == to || info.description == description::rollback(to))
}

/// Takes the annotations away, if they are still the same.
async fn let_go(client: &Client, object: &HelmRelease) -> Result<(), Failure> {
    let api: Api<HelmRelease> = Api::namespaced(client.clone(), &target::own_namespace(object));
    let patch = json!({"metadata": {
        "annotations": {ROLLED_BACK_TO: null, ROLLED_BACK_FROM: null},
        "resourceVersion": object.metadata.resource_version,
    }});
    let params = PatchParams {
        field_manager: Some(FIELD_MANAGER.to_owned()),
        ..PatchParams::default()
    };
    let name = object.name_any();
    let patched = api.patch(&name, &params, &Patch::Merge(&patch)).await;
    patched.map(drop).map_err(|error| {
        let message = format!(
            "the annotations of the rollback cannot be taken away: {}",
            chain(&error)
        );
        Failure::transient(Reason::RECONCILE_ERROR, message)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(annotations: serde_json::Value) -> HelmRelease {
        serde_json::from_value(json!({
            "apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease",
            "metadata": {"name": "web", "namespace": "shop", "annotations": annotations},
            "spec": {"interval": "1h"},
            "status": {
                "lastAttemptedGeneration": 2, "lastAttemptedRevision": "1.0.0",
                "lastAttemptedConfigDigest": "sha256:abc",
            },
        }))
        .unwrap()
    }

    #[test]
    fn what_was_tried_has_a_name_of_its_own() {
        let object = object(json!({}));
        assert_eq!(tried(object.status.as_ref().unwrap()), "2/1.0.0/sha256:abc");
        assert_eq!(asked(&object), None);
    }

    #[test]
    fn a_version_that_is_none_is_told() {
        let (to, from) = asked(&object(json!({ROLLED_BACK_TO: "3", ROLLED_BACK_FROM: "x"}))).unwrap();
        assert_eq!((to, from.as_str()), (Ok(3), "x"));
        let (to, _) = asked(&object(json!({ROLLED_BACK_TO: "v3"}))).unwrap();
        assert!(to.unwrap_err().contains("is no version of a release"));
    }
}
