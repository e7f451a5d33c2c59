//! Deployments: one ReplicaSet per template, exchanged step by step.
//!
//! As in the real controller: the ReplicaSet whose template is the Deployment's is the new one, all others are old and
//! kept for going back. One look scales at most in one direction; the ReplicaSets' answers bring the next.

mod history;
mod progress;
mod rollout;
mod scale;
mod set;

use model::Value;

use super::step::{deleting, flag};
use super::{Step, selectors};
use progress::Progress;
use set::Sets;

pub(super) fn advance(step: &mut Step<'_>) {
    let Some(deployment) = step.own() else { return };
    let Some(selector) = selectors::of_object(step.kind, &deployment) else {
        return;
    };
    let mut sets = Sets::of(step, &deployment, &selector);
    let mut status = deployment.get("status").cloned().unwrap_or_else(Value::object);
    let mut view = View {
        deployment: &deployment,
        status: &mut status,
        revision: None,
    };
    let progress = if deleting(&deployment) {
        Progress::Ignored
    } else {
        view.tell_pause(&step.now_text());
        if flag(&deployment, &["spec", "paused"]) {
            history::sync(step, &mut view, &mut sets);
            scale::proportionally(step, &view, &mut sets);
            history::clean_up(step, &view, &sets);
            Progress::Ignored
        } else if scale::is_wanted(&view, &sets) {
            history::sync(step, &mut view, &mut sets);
            scale::proportionally(step, &view, &mut sets);
            Progress::Ignored
        } else {
            rollout::advance(step, &mut view, &mut sets);
            Progress::Estimated
        }
    };
    progress::write(step, view, &sets, progress);
}

/// A Deployment while it is looked at: its new status is collected here and written once at the end.
struct View<'a> {
    deployment: &'a Value,
    /// The status as it shall be.
    status: &'a mut Value,
    /// The revision that the Deployment's annotation shall tell.
    revision: Option<String>,
}
