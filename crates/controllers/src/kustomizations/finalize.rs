//! What becomes of what a Kustomization has made when it is deleted.

use std::time::Duration;

use api::kustomize::{DeletionPolicy, Kustomization};
use api::{ConditionType, Reason, ReconcileStatus as _};
use engine::plan::Step;
use engine::sync::Outcome;
use engine::unit::{Operation, Phase};
use model::event::Severity;

use super::beyond::Pinned;
use super::memory::Remembered;
use super::source::revision_metadata;
use super::{Kustomizations, unit};
use crate::kit::{Failure, Notice, chain};

/// How long somebody who deletes an object waits before it is looked whether what it has made is gone. It is looked at before, when
/// that happens.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

impl Kustomizations {
    /// Has what an object has made deleted, if it is to be, and says what was.
    pub(super) async fn leave(&self, object: &Kustomization) -> Result<Vec<Notice>, Failure> {
        let (id, uid) = (unit::id(object), object.metadata.uid.as_deref());
        let known = self.memory.get(&id, uid);
        let waits = object.spec.deletion_policy == Some(DeletionPolicy::WaitForTermination);
        let pinned = Pinned {
            client: &self.shared.client,
            object,
            settings: &self.shared.settings,
        };
        self.sources.unpinned(&pinned).await.map_err(|error| {
            let message = format!("cannot delete the source of its pin: {}", chain(&error));
            Failure::transient(Reason::RECONCILIATION_FAILED, message)
        })?;
        if !unit::deletes(object) {
            self.memory.forget(&id);
            return Ok(Vec::new());
        }
        if is_deleted(&known, waits) {
            self.memory.forget(&id);
            return Ok(deleted(object, &known).into_iter().collect());
        }
        let is_begun = known.operation.as_ref().is_some_and(|operation| operation.delete);
        if !is_begun && self.account_is_gone(object).await? {
            self.memory.forget(&id);
            return Ok(vec![left_behind(object)]);
        }
        self.memory.change(&id, uid, |unit| {
            unit.operation = Some(Operation {
                delete: true,
                ..Operation::default()
            });
        });
        self.refresh(&id);
        Err(Failure::waiting(
            LOOK_AGAIN,
            Reason::PROGRESSING,
            "what it has made is being deleted",
        ))
    }

    async fn account_is_gone(&self, object: &Kustomization) -> Result<bool, Failure> {
        let identity = self.shared.settings.identity(object);
        let is_gone = identity.account_is_gone(&self.shared.client).await;
        is_gone.map_err(|error| {
            let (namespace, name) = identity.account().unwrap_or_default();
            let why = chain(&error);
            let message = format!("unable to read ServiceAccount '{namespace}/{name}': {why}");
            Failure::transient(Reason::RECONCILIATION_FAILED, message)
        })
    }
}

/// What was deleted, in the words of Flux's change log.
fn deleted(object: &Kustomization, known: &Remembered) -> Option<Notice> {
    let last = known.status.as_ref()?.operation.as_ref()?;
    let results = last.progress.results.iter();
    let gone = results.filter(|result| matches!(result.outcome, Outcome::Deleted | Outcome::Skipped));
    let lines: Vec<String> = gone
        .map(|result| format!("{} {}", result.key, result.outcome.word()))
        .collect();
    (!lines.is_empty()).then(|| notice(object, Severity::Info, lines.join("\n")))
}

fn left_behind(object: &Kustomization) -> Notice {
    let inventory = object
        .status
        .as_ref()
        .and_then(|status| status.inventory.as_ref());
    let entries = inventory.into_iter().flat_map(|inventory| &inventory.entries);
    let lines: Vec<String> = entries.map(|entry| entry.id.0.to_string()).collect();
    let message = format!("unable to prune objects: \n{}", lines.join("\n"));
    notice(object, Severity::Error, message)
}

/// As all that is told of an object: with the reason of `Ready`, and with what was applied last.
fn notice(object: &Kustomization, severity: Severity, message: String) -> Notice {
    let status = object.status.as_ref();
    let ready = status.and_then(|status| status.condition(ConditionType::READY));
    let reason = ready.and_then(|ready| Reason::ALL.iter().find(|one| one.as_str() == ready.reason));
    let revision = status.and_then(|status| status.last_applied_revision.as_deref());
    let origin = status.and_then(|status| status.last_applied_origin_revision.as_deref());
    Notice {
        severity,
        reason: *reason.unwrap_or(&Reason::PROGRESSING),
        message,
        metadata: revision_metadata(revision.unwrap_or_default(), origin),
    }
}

/// Whether all that a unit had is deleted as was asked for, or, with `waits`, gone.
fn is_deleted(known: &Remembered, waits: bool) -> bool {
    let is_asked = known.operation.as_ref().is_some_and(|operation| operation.delete);
    let last = known.status.as_ref().and_then(|status| status.operation.as_ref());
    let Some(last) = last.filter(|last| is_asked && last.plan.revision.is_empty()) else {
        return false;
    };
    let results = &last.progress.results;
    let is_done = |step: &Step| results.iter().any(|result| result.key == step.key);
    let has_failed = results.iter().any(|result| result.outcome == Outcome::Failed);
    match last.phase {
        Phase::Succeeded => true,
        // Whoever waits in vain goes on all the same, as in Flux.
        Phase::Failed => waits && !has_failed && !results.is_empty(),
        Phase::Running => !waits && !has_failed && last.plan.steps().all(is_done),
        _ => false,
    }
}
