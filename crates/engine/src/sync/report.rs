//! What has become of a plan.

use model::ObjectKey;
use serde::{Deserialize, Serialize};

use crate::plan::{Plan, Purpose, Wait};

use super::inventory::{Had, inventory};
use super::progress::{Outcome, Progress, StepResult};
use super::wait::{Found, told};

/// What has become of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// How it ended.
    pub ending: Ending,
    /// What has become of each step, in the order they ended.
    pub results: Vec<StepResult>,
    /// All that went wrong.
    pub errors: Vec<String>,
    /// What the unit has applied now.
    pub inventory: Had,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ending {
    /// All is as it should be.
    Succeeded,
    /// The server refused something, or could not be asked.
    ApplyFailed,
    /// Something could not be deleted.
    PruneFailed,
    /// Something did not become healthy.
    HealthFailed,
    /// Somebody has ended it.
    Terminated,
    /// Something newer is to be applied.
    Superseded,
    /// Somebody has deleted what it counted on.
    Lost,
    /// Its cluster is not there any more.
    Left,
}

impl Report {
    pub(super) fn ended(plan: &Plan, progress: &Progress) -> Self {
        let ending = match progress.terminated {
            true => Ending::Terminated,
            false => ending(plan, progress),
        };
        Report::new(ending, plan, progress)
    }

    pub(super) fn superseded(plan: &Plan, progress: &Progress) -> Self {
        Report::new(Ending::Superseded, plan, progress)
    }

    pub(super) fn lost(plan: &Plan, progress: &Progress) -> Self {
        Report::new(Ending::Lost, plan, progress)
    }

    pub(super) fn new(ending: Ending, plan: &Plan, progress: &Progress) -> Self {
        let failed = progress
            .results
            .iter()
            .filter(|result| result.outcome == Outcome::Failed);
        let errors = failed.map(|result| result.message.clone());
        let problems = progress.problems.iter().cloned();
        Report {
            ending,
            errors: errors.chain(problems).collect(),
            inventory: inventory(ending, plan, progress),
            results: progress.results.clone(),
        }
    }

    /// One line for each object that was changed, as Flux's event lists them: `Deployment/shop/web configured`.
    pub fn changes(&self) -> Vec<String> {
        let changed = self.results.iter().filter(|result| result.outcome.changed());
        let line = |result: &StepResult| format!("{} {}", result.key, result.outcome.word());
        changed.map(line).collect()
    }
}

/// The worst that happened, in the order that stages have: what was applied decides before what was pruned, and that before
/// health.
fn ending(plan: &Plan, progress: &Progress) -> Ending {
    let failed: Vec<&ObjectKey> = progress
        .results
        .iter()
        .filter(|result| result.outcome == Outcome::Failed)
        .map(|result| &result.key)
        .collect();
    let failed_in = |prunes: bool| {
        let mut stages = plan
            .stages
            .iter()
            .filter(|stage| (stage.purpose == Purpose::Prune) == prunes);
        stages.any(|stage| stage.steps.iter().any(|step| failed.contains(&&step.key)))
    };
    if failed_in(false) {
        Ending::ApplyFailed
    } else if failed_in(true) {
        Ending::PruneFailed
    } else if !progress.problems.is_empty() {
        Ending::HealthFailed
    } else {
        Ending::Succeeded
    }
}

/// What went wrong with a wait, in Flux's words; nothing if all is well.
pub(super) fn wait_failed(wait: &Wait, found: &Found) -> Option<String> {
    if !found.failed.is_empty() && (wait.fail_fast || found.pending.is_empty()) {
        let objects = told(&found.failed);
        return Some(format!("failed early due to stalled resources: {objects}"));
    }
    if found.pending.is_empty() {
        return None;
    }
    let late: Vec<_> = found.failed.iter().chain(&found.pending).cloned().collect();
    Some(format!("timeout waiting for: {}", told(&late)))
}
