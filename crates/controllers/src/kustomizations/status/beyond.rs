//! What is told of objects that ask for more than Flux.

use api::kustomize::KustomizationStatus;
use api::{ConditionType, Reason, ReconcileStatus as _};
use model::event::Severity;

use super::super::beyond::observed;
use super::Teller;
use crate::kit::Conditions as _;

impl Teller<'_> {
    /// What is said of an object that is ready.
    pub(super) fn applied(&self, revision: &str) -> String {
        let pin = self.course.asks.pin.as_ref();
        let is_pinned = pin.is_some_and(|pin| pin.revision.to_string() == revision);
        let pinned = if is_pinned { " (pinned)" } else { "" };
        format!("Applied revision: {revision}{pinned}")
    }

    /// Whether all is done but a prune that waits to be confirmed, which is told then.
    pub(super) fn is_held(&mut self, said: &mut KustomizationStatus) -> bool {
        let Some(held) = &self.course.held else {
            return false;
        };
        let (reason, message) = (Reason::PRUNE_BUDGET_EXCEEDED, held.to_string());
        let before = said.condition(ConditionType::READY);
        let is_news = before.is_none_or(|before| before.message != message);
        said.set_false(self.stamp, ConditionType::READY, reason, &message);
        if is_news {
            self.tell(said, Severity::Error, message);
        }
        true
    }

    /// The object is only observed: what would change is told.
    pub(super) fn observed(&mut self, said: &mut KustomizationStatus) {
        let Some(found) = observed(self.course.status, self.course.is_new) else {
            return;
        };
        let revision = self.shown(&found.revision);
        said.last_attempted_revision = Some(revision.clone());
        said.remove(ConditionType::HEALTHY);
        let before = said
            .condition(ConditionType::READY)
            .map(|ready| ready.message.clone());
        match found.would_change {
            None => {
                let message = format!("Observed revision: {revision}, nothing would change");
                let reason = Reason::RECONCILIATION_SUCCEEDED;
                said.last_applied_revision = Some(revision);
                said.set_true(self.stamp, ConditionType::READY, reason, &message);
            }
            Some(would) => {
                let message = format!("Observed revision: {revision}, {would}");
                said.set_false(self.stamp, ConditionType::READY, Reason::DRIFT_DETECTED, &message);
            }
        }
        let after = said
            .condition(ConditionType::READY)
            .map(|ready| ready.message.clone());
        if let Some(message) = after.filter(|after| before.as_ref() != Some(after)) {
            self.tell(said, Severity::Info, message);
        }
        said.remove(ConditionType::RECONCILING);
        said.remove(ConditionType::STALLED);
        said.set_observed_generation(self.stamp.generation);
        self.is_answered(said);
    }

    /// The revision of the source that is known to be the same as what was applied.
    pub(super) fn shown(&self, revision: &str) -> String {
        let built = self.course.built.as_ref();
        let built = built.filter(|built| built.revision == revision);
        built.map_or_else(|| revision.to_owned(), |built| built.source.clone())
    }
}
