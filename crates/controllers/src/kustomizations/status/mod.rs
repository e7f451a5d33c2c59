//! What the engine says of a unit, as the status and the events of its Kustomization.

mod beyond;
mod together;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use api::kustomize::{HistoryEntry, Kustomization, KustomizationStatus};
use api::{ConditionStatus, ConditionType, Reason, ReconcileStatus};
use engine::plan::{Action, Plan, Purpose, Step};
use engine::sync::{Outcome, StepResult};
use engine::unit::{OperationState, Phase, Status};
use kube::ResourceExt;
use model::event::Severity;
use model::{Inventory, Time};

use together::together;

use super::beyond::{Asks, Held, with_remedy};
use super::history;
use super::memory::{Attempt, Built, Stage};
use super::source::{revision_metadata, source_shown};
use super::store::stamp;
use super::unit;
use crate::kit::{Conditions, Failure, Notice, Shape, Stamp};

/// How a unit got to where it is.
pub(super) struct Course<'a> {
    /// What the engine says.
    pub(super) status: &'a Status,
    /// What was to be done by the operation.
    pub(super) plan: Plan,
    /// How far the last attempt got.
    pub(super) attempt: Option<Attempt>,
    /// Why nothing was built last.
    pub(super) failure: Option<Failure>,
    /// What was built last.
    pub(super) built: Option<Arc<Built>>,
    /// How long it was worked on.
    pub(super) took: Duration,
    /// Whether the operation has got to another phase since the status before.
    pub(super) is_new: bool,
    /// Whether somebody has asked for it.
    pub(super) is_asked: bool,
    /// The last request for a run that was taken note of.
    pub(super) requested: Option<String>,
    /// Whether a wait for health that something newer ends is told as such.
    pub(super) tells_canceled: bool,
    /// What the object asks for beyond Flux.
    pub(super) asks: Asks,
    /// What waits to be confirmed before it is pruned.
    pub(super) held: Option<Held>,
    /// Now.
    pub(super) now: Time,
}

/// What is to be told.
#[derive(Debug, Default)]
pub(super) struct News {
    /// Everywhere.
    pub(super) told: Vec<Notice>,
    /// To those who are notified alone: whoever has asked finds the answer in the status, and nothing else is new.
    pub(super) posted: Vec<Notice>,
    /// Whether what the status says is soon over, as a rule: nobody has to read it in the meantime.
    pub(super) is_passing: bool,
}

/// Brings a status to what the engine says, and says what is to be told.
pub(super) fn translate(object: &Kustomization, said: &mut KustomizationStatus, course: &Course<'_>) -> News {
    let stamp = stamp(object, course.now);
    let mut teller = Teller {
        object,
        stamp,
        course,
        news: News::default(),
    };
    match course.status.operation.as_deref() {
        Some(state) if course.is_new && state.phase == Phase::Superseded => teller.superseded(said, state),
        _ if !course.status.errors.is_empty() && !is_over(course.status) => teller.not_begun(said),
        _ if course.asks.observe => teller.observed(said),
        Some(state) if !state.phase.is_final() => teller.under_way(said, state),
        Some(state) if course.is_new => teller.ended(said, state),
        _ => teller.found(said),
    }
    teller.news
}

/// Whether the errors are those of an operation that has ended.
fn is_over(status: &Status) -> bool {
    let state = status.operation.as_ref();
    state.is_some_and(|state| state.phase == Phase::Failed && status.attempted == state.plan.revision)
}

struct Teller<'a> {
    object: &'a Kustomization,
    stamp: Stamp,
    course: &'a Course<'a>,
    news: News,
}

impl Teller<'_> {
    /// The unit could not be looked at: its source, a dependency, the build, the cluster.
    fn not_begun(&mut self, said: &mut KustomizationStatus) {
        let text = with_remedy(&together(&self.course.status.errors));
        let known = self
            .course
            .failure
            .clone()
            .filter(|failure| failure.message == text);
        let failure = known.unwrap_or_else(|| Failure::transient(Reason::RECONCILIATION_FAILED, text));
        self.tell_progress(said);
        match failure.shape {
            Shape::Stalled => {
                said.set_stalled(self.stamp, failure.reason, &failure.message);
                said.set_observed_generation(self.stamp.generation);
            }
            Shape::Waiting(_) | Shape::Transient => said.remove(ConditionType::STALLED),
        }
        said.set_false(self.stamp, ConditionType::READY, failure.reason, &failure.message);
        let told = match failure.shape {
            Shape::Waiting(wait) if failure.reason == Reason::DEPENDENCY_NOT_READY => Some((
                Severity::Info,
                format!(
                    "Dependencies do not meet ready condition, retrying in {}",
                    api::Duration::from(wait)
                ),
            )),
            Shape::Waiting(_) => {
                self.news.is_passing = true;
                None
            }
            Shape::Stalled | Shape::Transient => Some((Severity::Error, failure.message.clone())),
        };
        if let Some((severity, message)) = told {
            self.tell(said, severity, message);
        }
        let attempt = self.course.attempt.as_ref();
        if let Some(attempt) = attempt.filter(|attempt| attempt.stage == Stage::Built) {
            self.record(said, failure.reason, &attempt.revision);
        }
        self.conclude(said);
    }

    /// Says how far an attempt got that failed.
    fn tell_progress(&self, said: &mut KustomizationStatus) {
        let Some(attempt) = &self.course.attempt else {
            return;
        };
        let what = match attempt.stage {
            Stage::Found => return,
            Stage::Fetching => "Fetching manifests",
            Stage::Building => "Building manifests",
            Stage::Built => "Detecting drift",
        };
        if attempt.stage >= Stage::Building {
            said.last_attempted_revision = Some(attempt.revision.clone());
        }
        let message = self.progress(what, &attempt.revision);
        said.set_reconciling(self.stamp, Reason::PROGRESSING, &message);
    }

    fn progress(&self, what: &str, revision: &str) -> String {
        let timeout = api::Duration::from(unit::timeout(&self.object.spec));
        format!("{what} for revision {revision} with a timeout of {timeout}")
    }

    /// The operation goes on.
    fn under_way(&mut self, said: &mut KustomizationStatus, state: &OperationState) {
        self.news.is_passing = true;
        // What changes nothing is over in no time: nobody is told that it has begun.
        let waits = state.progress.stage > 0 && unit::waits(&self.object.spec);
        if !state.plan.changes_anything() && !waits {
            return;
        }
        // What is about to be made is written down before it is: whoever comes after a crash prunes it, too.
        self.keep_inventory(said);
        let revision = &self.shown(&state.plan.revision);
        said.last_attempted_revision = Some(revision.clone());
        let what = match waits {
            true => "Running health checks",
            false => "Detecting drift",
        };
        let message = self.progress(what, revision);
        said.set(
            self.stamp,
            ConditionType::READY,
            ConditionStatus::Unknown,
            Reason::PROGRESSING.as_str(),
            "Reconciliation in progress",
        );
        said.set_reconciling(self.stamp, Reason::PROGRESSING, &message);
        if waits {
            let (kind, reason) = (ConditionType::HEALTHY, Reason::PROGRESSING.as_str());
            said.set(self.stamp, kind, ConditionStatus::Unknown, reason, &message);
        }
    }

    /// The operation has ended.
    fn ended(&mut self, said: &mut KustomizationStatus, state: &OperationState) {
        said.last_attempted_revision = Some(self.shown(&state.plan.revision));
        self.tell_changes(state);
        match state.phase {
            Phase::Succeeded => self.succeeded(said, state),
            _ => self.failed(said, state),
        }
        self.conclude(said);
    }

    /// Something newer begins at once: what was done so far is told, and how it went will be.
    fn superseded(&mut self, said: &mut KustomizationStatus, state: &OperationState) {
        self.tell_changes(state);
        said.inventory = Some(self.course.status.inventory.clone());
        let was_waiting = said.condition(ConditionType::HEALTHY);
        let was_waiting = was_waiting.is_some_and(|healthy| healthy.status == ConditionStatus::Unknown);
        if self.course.tells_canceled && was_waiting {
            self.canceled(said, state);
        }
    }

    /// The wait for health was ended by something newer.
    fn canceled(&mut self, said: &mut KustomizationStatus, state: &OperationState) {
        let by = match &self.course.attempt {
            Some(attempt) if attempt.revision != state.plan.revision => source_shown(self.object),
            _ => {
                let namespace = self.object.namespace().unwrap_or_default();
                format!("Kustomization/{namespace}/{}", self.object.name_any())
            }
        };
        let message = format!("New reconciliation triggered by {by}");
        let reason = Reason::HEALTH_CHECK_CANCELED;
        said.set_false(self.stamp, ConditionType::READY, reason, &message);
        let told = format!("Health checks canceled due to new reconciliation triggered by {by}");
        self.tell(said, Severity::Info, told);
    }

    fn succeeded(&mut self, said: &mut KustomizationStatus, state: &OperationState) {
        let revision = self.shown(&state.plan.revision);
        let revision = revision.as_str();
        let was_healthy = self.was_healthy();
        match unit::waits(&self.object.spec) {
            false => said.remove(ConditionType::HEALTHY),
            true => {
                let took = api::Duration::from(self.course.took);
                let message = format!("Health check passed in {took}");
                said.set_true(self.stamp, ConditionType::HEALTHY, Reason::SUCCEEDED, &message);
                let is_new_revision = said.last_applied_revision.as_deref() != Some(revision);
                let has_applied = state.progress.results.iter().any(|one| one.outcome.applied());
                if !was_healthy || (is_new_revision && has_applied) {
                    self.tell_as(Reason::PROGRESSING, Severity::Info, message, self.metadata());
                }
            }
        }
        said.inventory = Some(self.course.status.inventory.clone());
        if self.is_held(said) {
            return self.record(said, Reason::PRUNE_BUDGET_EXCEEDED, revision);
        }
        said.last_applied_revision = Some(revision.to_owned());
        said.last_applied_origin_revision = self.origin();
        let reason = Reason::RECONCILIATION_SUCCEEDED;
        said.set_true(self.stamp, ConditionType::READY, reason, &self.applied(revision));
        self.record(said, reason, revision);
    }

    fn failed(&mut self, said: &mut KustomizationStatus, state: &OperationState) {
        let reason = reason_of(&self.course.plan, state);
        let text = with_remedy(&together(&self.course.status.errors));
        let message = match reason == Reason::HEALTH_CHECK_FAILED {
            true => {
                said.set_false(self.stamp, ConditionType::HEALTHY, reason, &text);
                format!(
                    "health check failed after {}: {text}",
                    api::Duration::from(self.course.took)
                )
            }
            false => text,
        };
        self.keep_inventory(said);
        said.set_false(self.stamp, ConditionType::READY, reason, &message);
        self.record(said, reason, &self.shown(&state.plan.revision));
        self.tell(said, Severity::Error, message);
    }

    fn keep_inventory(&self, said: &mut KustomizationStatus) {
        let has = &self.course.status.inventory;
        if said.inventory.as_ref().unwrap_or(&Inventory::default()) != has {
            said.inventory = Some(has.clone());
        }
    }

    /// Nothing was to be done.
    fn found(&mut self, said: &mut KustomizationStatus) {
        let health = self.course.status.health.as_ref();
        let has_failed = health.is_some_and(|health| health.state == model::health::State::Degraded);
        if unit::waits(&self.object.spec) && has_failed {
            let message = health
                .map(|health| health.message.to_string())
                .unwrap_or_default();
            let message = format!("failed early due to stalled resources: [{message}]");
            for kind in [ConditionType::HEALTHY, ConditionType::READY] {
                said.set_false(self.stamp, kind, Reason::HEALTH_CHECK_FAILED, &message);
            }
            self.tell(said, Severity::Error, message);
            return self.conclude(said);
        }
        let revision = self.shown(&self.course.status.revision);
        if revision.is_empty() || !self.course.status.errors.is_empty() {
            return;
        }
        if self.is_held(said) {
            return self.conclude(said);
        }
        if !unit::waits(&self.object.spec) {
            said.remove(ConditionType::HEALTHY);
        }
        let reason = Reason::RECONCILIATION_SUCCEEDED;
        let message = self.applied(&revision);
        said.set_true(self.stamp, ConditionType::READY, reason, &message);
        self.finish(said);
        // What was asked for meanwhile is about to begin.
        if !self.course.is_asked {
            self.is_answered(said);
        }
    }

    /// Tells of what was applied, and then of what was pruned, in the words of Flux's change log.
    fn tell_changes(&mut self, state: &OperationState) {
        let lines = |is_wanted: &dyn Fn(&StepResult) -> bool| {
            let results = state.progress.results.iter().filter(|result| is_wanted(result));
            let lines: Vec<String> = results
                .map(|result| format!("{} {}", result.key, result.outcome.word()))
                .collect();
            lines.join("\n")
        };
        let applied = lines(&|result| result.outcome.applied());
        let inventory = &self.course.status.inventory;
        let pruned = lines(&|result| match result.outcome {
            Outcome::Deleted => true,
            // What was to be pruned and asks to be kept is not ours any more; what is left alone otherwise is.
            Outcome::Skipped => !inventory.contains(&result.key),
            _ => false,
        });
        for text in [applied, pruned] {
            if !text.is_empty() {
                self.tell_as(Reason::PROGRESSING, Severity::Info, text, self.metadata());
            }
        }
    }

    /// Whether the health was good at the end of the run before.
    fn was_healthy(&self) -> bool {
        let status = self.object.status.as_ref();
        let healthy = status.and_then(|status| status.condition(ConditionType::HEALTHY));
        healthy.is_some_and(|healthy| healthy.status == ConditionStatus::True)
            || status.is_some_and(|status| status.history.first().is_some_and(is_success))
                && healthy.is_some_and(|healthy| healthy.status == ConditionStatus::Unknown)
    }

    /// What is true however a run ends.
    fn conclude(&mut self, said: &mut KustomizationStatus) {
        self.finish(said);
        self.is_answered(said);
    }

    /// The same, but for whoever has asked for it.
    fn finish(&mut self, said: &mut KustomizationStatus) {
        if said.is_true(ConditionType::READY) {
            said.remove(ConditionType::RECONCILING);
            said.remove(ConditionType::STALLED);
            said.set_observed_generation(self.stamp.generation);
            let (took, next) = (api::Duration::from(self.course.took), self.object.spec.interval);
            let message = format!("Reconciliation finished in {took}, next run in {next}");
            let mut metadata = self.metadata();
            metadata.insert("commit_status".to_owned(), "update".to_owned());
            if self.course.is_asked || self.course.is_new {
                let is_as_before = self.is_as_before(said);
                self.tell_with(said, Severity::Info, message, metadata);
                if is_as_before {
                    self.news.posted.append(&mut self.news.told);
                }
            }
        } else if let Some(reconciling) = said.condition(ConditionType::RECONCILING) {
            let message = reconciling.message.clone();
            said.set_true(
                self.stamp,
                ConditionType::RECONCILING,
                Reason::PROGRESSING_WITH_RETRY,
                &message,
            );
        }
    }

    /// Whoever has asked for a run has had it. Who asks while something else is told has not.
    fn is_answered(&self, said: &mut KustomizationStatus) {
        let requested = crate::kit::requested_at(self.object);
        if let Some(token) = requested.filter(|token| self.course.requested.as_deref() == Some(token)) {
            said.set_last_handled_reconcile_at(token);
        }
    }

    /// Whether a run has come to what was so before it, and has changed nothing.
    fn is_as_before(&self, said: &KustomizationStatus) -> bool {
        let before = self.object.status.as_ref();
        let is_as_before = before.is_some_and(|before| {
            before.is_true(ConditionType::READY)
                && before.observed_generation == said.observed_generation
                && before.last_applied_revision == said.last_applied_revision
        });
        is_as_before && self.news.told.is_empty()
    }

    fn record(&self, said: &mut KustomizationStatus, reason: Reason, revision: &str) {
        let Some(built) = &self.course.built else {
            return;
        };
        let attempt = history::Attempt {
            digest: built.digest.clone(),
            status: reason,
            at: self.stamp.now,
            took: self.course.took,
            metadata: revision_metadata(revision, built.origin.as_deref()),
        };
        history::record(&mut said.history, attempt);
    }

    fn origin(&self) -> Option<String> {
        self.course.built.as_ref().and_then(|built| built.origin.clone())
    }

    fn metadata(&self) -> BTreeMap<String, String> {
        match &self.course.attempt {
            Some(attempt) => revision_metadata(&attempt.revision, attempt.origin.as_deref()),
            None => BTreeMap::new(),
        }
    }

    fn tell(&mut self, said: &KustomizationStatus, severity: Severity, message: String) {
        let metadata = self.metadata();
        self.tell_with(said, severity, message, metadata);
    }

    /// The reason of an event is that of `Ready` at the time.
    fn tell_with(
        &mut self,
        said: &KustomizationStatus,
        severity: Severity,
        message: String,
        metadata: BTreeMap<String, String>,
    ) {
        let ready = said.condition(ConditionType::READY);
        let reason = ready.and_then(|ready| Reason::ALL.iter().find(|one| one.as_str() == ready.reason));
        self.tell_as(
            *reason.unwrap_or(&Reason::PROGRESSING),
            severity,
            message,
            metadata,
        );
    }

    fn tell_as(
        &mut self,
        reason: Reason,
        severity: Severity,
        message: String,
        metadata: BTreeMap<String, String>,
    ) {
        self.news.told.push(Notice {
            severity,
            reason,
            message,
            metadata,
        });
    }
}

fn is_success(entry: &HistoryEntry) -> bool {
    entry.last_reconciled_status == Reason::RECONCILIATION_SUCCEEDED.as_str()
}

/// Why an operation failed, by what the first stage was for that has something undone. Where nothing has, it was the wait at the end.
fn reason_of(plan: &Plan, state: &OperationState) -> Reason {
    let is_done = |step: &Step| {
        let mut results = state.progress.results.iter();
        let result = results.find(|result| result.key == step.key);
        let is_nothing = !step.action.writes() && !matches!(step.action, Action::Fail { .. });
        is_nothing || result.is_some_and(|result| result.outcome != Outcome::Failed)
    };
    let undone = plan.stages.iter().find(|stage| !stage.steps.iter().all(is_done));
    match undone.map(|stage| stage.purpose) {
        Some(Purpose::Prune) => Reason::PRUNE_FAILED,
        None => Reason::HEALTH_CHECK_FAILED,
        Some(_) => Reason::RECONCILIATION_FAILED,
    }
}
