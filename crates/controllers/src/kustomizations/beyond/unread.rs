//! `sluice.dev/skip-unread: enabled`: a revision that changes no file that is read for a Kustomization is recorded without a build and without
//! a run.
//!
//! Of each build it is known [what it has asked of its files](builder::Reads): contents, directories, links. Where the files of a newer
//! revision give the same answers, they would be built to the same, so that `lastAppliedRevision` and `lastAttemptedRevision` move on, an
//! event with the revision is told, and that is all: no history, no hooks, no waits. What depends on the Kustomization goes on.
//!
//! A run is made as ever where somebody asks for one, where the last one has not ended well, where its spec or a ConfigMap or Secret that is
//! watched has changed, and where a build has fetched bases from elsewhere. So it is after a restart, when nothing is known of earlier builds.

use std::collections::BTreeMap;

use api::kustomize::{Kustomization, KustomizationStatus};
use api::{ConditionType, Reason};
use engine::unit::SyncUnit;
use model::event::Severity;

use super::super::memory::Built;
use super::super::source::revision_metadata;
use crate::kit::{Conditions as _, Notice, Stamp};

/// Whether what was built last is applied, and nothing is under way or asked for: then a revision that is built to the same needs no run.
pub(in super::super) fn is_settled(unit: &SyncUnit, object: &Kustomization, last: &Built) -> bool {
    let state = unit.status.operation.as_ref();
    let is_over = state.is_none_or(|state| state.phase.is_final());
    is_over && unit.operation.is_none() && unit.status.revision == last.revision && is_ready(object)
}

/// Whether a revision was built to what is applied and the status does not say so yet.
pub(in super::super) fn is_unrecorded(object: &Kustomization, built: &Built) -> bool {
    let applied = object.status.as_ref();
    let applied = applied.and_then(|status| status.last_applied_revision.as_deref());
    built.revision != built.source && applied != Some(&built.source) && is_ready(object)
}

/// The status of an object that has the newer revision without a run, and what is told of it.
pub(in super::super) fn recorded(
    object: &Kustomization,
    built: &Built,
    stamp: Stamp,
) -> (KustomizationStatus, Notice) {
    let mut said = object.status.clone().unwrap_or_default();
    let revision = &built.source;
    said.last_attempted_revision = Some(revision.clone());
    said.last_applied_revision = Some(revision.clone());
    said.last_applied_origin_revision = built.origin.clone();
    let reason = Reason::RECONCILIATION_SUCCEEDED;
    let message = format!("Applied revision: {revision}");
    said.set_true(stamp, ConditionType::READY, reason, &message);
    let mut metadata: BTreeMap<String, String> = revision_metadata(revision, built.origin.as_deref());
    metadata.insert("commit_status".to_owned(), "update".to_owned());
    let message = format!("Revision {revision} changes no file that is read: nothing is to be done");
    let notice = Notice {
        severity: Severity::Info,
        reason,
        message,
        metadata,
    };
    (said, notice)
}

fn is_ready(object: &Kustomization) -> bool {
    let status = object.status.as_ref();
    status.is_some_and(|status| {
        status.is_true(ConditionType::READY) && status.observed_generation == object.metadata.generation
    })
}
