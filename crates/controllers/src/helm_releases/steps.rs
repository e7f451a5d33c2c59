//! One action after the other, until nothing is left to do: what is observed, what comes next, and what a run came to.

use api::helm::HelmReleaseStatus;
use api::{ConditionStatus, ConditionType, Reason};
use helm::decision::{
    self, Action, Decision, Digests, Drift, Next, Observed, Outcome, Run as Done, Stall, message,
};
use model::event::Severity;

use super::action::{Drifted, NotDone, Release, Rest};
use super::reconcile::again;
use super::{FORCE, asks, digests, status, target};
use crate::kit::{Conditions, Failure, Notice};

impl Release<'_, '_> {
    /// Does one action after the other.
    pub(super) async fn go_on(&mut self) -> Result<(), Failure> {
        let state_error = |problem: String| {
            let message = format!("Could not determine release state: {problem}");
            Failure::transient(Reason::STATE_ERROR, message)
        };
        let mut done = Done::default();
        let force = asks(
            self.run.object,
            FORCE,
            self.run.status.last_handled_force_at.as_deref(),
        );
        let mut is_forced = force.is_some();
        if force.is_some() {
            self.run.status.last_handled_force_at = force;
        }
        // Nobody else works on it meanwhile: from now on the records are what is written here.
        let records = self.storage.all(self.run.worker).await;
        self.records = records.map_err(|error| state_error(error.to_string()))?;
        self.note_own_records();
        loop {
            let mut compared = None;
            let decision = loop {
                let decided = self.decided(is_forced, compared.as_ref()).map_err(state_error)?;
                if decided.next != Next::Compare {
                    break decided;
                }
                compared = Some(self.drift().await);
            };
            self.history = decision.history;
            status::set_history(&mut self.run.status, &self.history);
            let action = match decision.next {
                Next::Do(action) => action,
                Next::Stall(stall) => return Err(self.stalled(stall)),
                Next::Nothing | Next::Compare => return self.settle(compared.as_ref()),
            };
            if let Some(Ok(drifted)) = &compared
                && action == Action::CorrectDrift
            {
                self.tell_drift(drifted);
            }
            let before = self.observing(is_forced, None, |observed| done.before(action, observed));
            if let Some(outcome) = before {
                return self.ended(outcome);
            }
            if action == Action::Unlock
                && let Some(failure) = self.worked_on_by_another().await
            {
                return Err(failure);
            }
            is_forced = false;
            if action == Action::Test {
                status::forget_remedy(self.run, self.history.latest());
            }
            self.show(action).await;
            let did = self.run(action).await;
            if let Some(newer) = self.superseded_by.take() {
                return Err(self.superseded(&newer));
            }
            if let Err(NotDone(problem)) = did {
                return Err(self.broke_off(problem));
            }
            let after = self.observing(false, None, |observed| done.after(action, observed));
            if let Some(outcome) = after {
                return self.ended(outcome);
            }
            self.run.write_progress().await;
        }
    }

    /// Takes the records into the history that were written for this object by whoever was ended before the status said so: with them the last release that
    /// went well stays known, and there is something to go back to.
    pub(super) fn note_own_records(&mut self) {
        let algorithm = self.settings.snapshot_digests;
        let known = self.history.latest().map(|latest| latest.version);
        for record in &self.records {
            let is_noted = known.is_some_and(|known| record.version <= known);
            // Without any history it is as if somebody else had made it, unless it was left in the middle of its work.
            let is_left = known.is_some() || record.info.status.is_pending();
            if !is_noted && is_left && self.storage.is_own(record.version) {
                self.history.record_left(record, &self.records, algorithm);
            }
        }
    }

    /// Why the newest record is not unlocked: whoever has left it pending is still at work on it.
    async fn worked_on_by_another(&self) -> Option<Failure> {
        let version = self.records.last()?.version;
        let operator = self.storage.other_operator(version)?;
        let left = operator.is_at_work(self.client).await?;
        let name = target::release_name(self.run.object);
        let message = format!("release {name}.v{version} is worked on by {operator}, which holds its lease");
        Some(Failure::waiting(left, Reason::PENDING_RELEASE, message))
    }

    /// There is something newer than what was waited for, which comes next. In the words of Flux.
    fn superseded(&mut self, newer: &str) -> Failure {
        let (status, stamp) = (&mut self.run.status, self.run.stamp);
        let canceled = Reason::HEALTH_CHECK_CANCELED;
        let message = format!("New reconciliation triggered by {newer}");
        status.set(
            stamp,
            ConditionType::READY,
            ConditionStatus::False,
            canceled.as_str(),
            &message,
        );
        self.run.tell(Notice {
            severity: Severity::Info,
            reason: canceled,
            message: format!("Health checks canceled due to new reconciliation triggered by {newer}"),
            metadata: Default::default(),
        });
        Failure::waiting(std::time::Duration::ZERO, canceled, "")
    }

    /// What comes next.
    fn decided(
        &self,
        is_forced: bool,
        compared: Option<&Result<Drifted, String>>,
    ) -> Result<Decision, String> {
        let (decision, _) = self.decided_with_reason(is_forced, compared)?;
        Ok(decision)
    }

    /// What comes next, and why.
    pub(super) fn decided_with_reason(
        &self,
        is_forced: bool,
        compared: Option<&Result<Drifted, String>>,
    ) -> Result<(Decision, String), String> {
        self.observing(is_forced, compared, |observed| {
            let state = decision::determine(observed).map_err(|error| error.to_string())?;
            tracing::debug!(
                state = state.name(),
                reason = state.reason(),
                "the state of the release"
            );
            Ok((decision::decide(&state, observed), state.reason().to_owned()))
        })
    }

    /// Looks at all that decisions are made of.
    fn observing<T>(
        &self,
        is_forced: bool,
        compared: Option<&Result<Drifted, String>>,
        look: impl FnOnce(&Observed<'_>) -> T,
    ) -> T {
        let status = &self.run.status;
        let (renderers, common) = digests(&self.run.object.spec);
        let drift = match compared {
            None => Drift::NotCompared,
            Some(Err(problem)) => Drift::Failed(problem),
            Some(Ok(drifted)) if drifted.changes.is_empty() => Drift::None,
            Some(Ok(_)) => Drift::Found,
        };
        look(&Observed {
            releases: &self.records,
            history: &self.history,
            chart_name: &self.chart.metadata.name,
            chart_version: &self.chart.metadata.version,
            values: &self.values_over(self.last()),
            is_new_generation: status.observed_generation != Some(self.run.stamp.generation),
            post_renderers: Digests {
                wanted: &renderers,
                observed: status
                    .observed_post_renderers_digest
                    .as_deref()
                    .unwrap_or_default(),
            },
            common_metadata: Digests {
                wanted: &common,
                observed: status
                    .observed_common_metadata_digest
                    .as_deref()
                    .unwrap_or_default(),
            },
            policy: &self.policy,
            last_action: status::last_action(status),
            counters: status::counters(status),
            force: is_forced,
            drift,
        })
    }

    /// An action is about to be done.
    async fn show(&mut self, action: Action) {
        let timeout = api::Duration::from(target::timeout_of(self.run.object, action));
        let message = message::running(action, &timeout.to_string());
        let stamp = self.run.stamp;
        self.run
            .status
            .set_reconciling(stamp, Reason::PROGRESSING, &message);
        if action.kind() == decision::ActionKind::Release {
            let reason = Reason::PROGRESSING.as_str();
            let unknown = ConditionStatus::Unknown;
            self.run
                .status
                .set(stamp, ConditionType::READY, unknown, reason, &message);
        }
        self.run.show_progress().await;
    }

    /// Nothing is left to do.
    fn settle(&mut self, compared: Option<&Result<Drifted, String>>) -> Result<(), Failure> {
        match compared {
            Some(Ok(drifted)) if !drifted.changes.is_empty() => self.tell_drift(drifted),
            Some(Ok(_)) => {
                status::set(&mut self.run.status, self.run.stamp, &message::no_drift());
                self.rest = Some(Rest::Compared);
            }
            _ => self.rest = Some(Rest::Uncompared),
        }
        if let Some(latest) = self.history.latest().cloned() {
            status::settle(self.run, &latest);
        }
        self.run.status.remove(ConditionType::RECONCILING);
        status::summarise(self.run, &self.policy.tests);
        Ok(())
    }

    pub(super) fn tell_drift(&mut self, drifted: &Drifted) {
        let Some(latest) = self.history.latest() else {
            return;
        };
        let told = message::drift_detected(latest, &drifted.changes);
        status::set(&mut self.run.status, self.run.stamp, &told);
        self.run.tell(status::notice(&told, Default::default()));
    }

    /// A run that has come to this end.
    fn ended(&mut self, outcome: Outcome) -> Result<(), Failure> {
        let stamp = self.run.stamp;
        let status: &mut HelmReleaseStatus = &mut self.run.status;
        match outcome {
            Outcome::Done => {
                status.remove(ConditionType::RECONCILING);
                Ok(())
            }
            Outcome::Requeue => {
                let ready = api::ReconcileStatus::condition(status, ConditionType::READY);
                let message = ready.map(|ready| ready.message.clone()).unwrap_or_default();
                status.set_reconciling(stamp, Reason::PROGRESSING_WITH_RETRY, &message);
                Err(again())
            }
            Outcome::RetryAfter(interval) => {
                let message = message::retrying_after(&api::Duration::from(interval).to_string());
                status.set_reconciling(stamp, Reason::PROGRESSING_WITH_RETRY, &message);
                Err(Failure::waiting(interval, Reason::PROGRESSING_WITH_RETRY, ""))
            }
            Outcome::Stall(stall) => Err(self.stalled(stall)),
        }
    }

    fn stalled(&mut self, stall: Stall) -> Failure {
        self.rest = Some(Rest::Uncompared);
        let status = &self.run.status;
        let message = message::stalled(stall, status::last_action(status), &status::counters(status));
        Failure::stalled(status::reason(stall.reason()), message)
    }

    /// An action that was not done.
    fn broke_off(&mut self, problem: String) -> Failure {
        let problem = self.hidden.mask(&problem);
        let outcome = self.observing(false, None, Done::after_error);
        if let Some(outcome) = outcome
            && let Err(failure) = self.ended(outcome)
        {
            return failure;
        }
        let ready = api::ReconcileStatus::condition(&self.run.status, ConditionType::READY);
        let is_ready = ready.is_some_and(|ready| ready.status == ConditionStatus::True);
        match is_ready {
            true => Failure::transient(Reason::RECONCILE_ERROR, problem),
            // What is wrong has been told already.
            false => again(),
        }
    }
}
