//! Deployments: all replicas are of the newest kind and available. A paused one is suspended.

use model::Health;
use model::health::State;

use super::super::object::{Object, degraded, progressing, suspended};
use super::is_behind;

pub(super) fn assess(object: Object<'_>) -> Health {
    if object.is_true(&["spec", "paused"]) {
        return suspended("Deployment is paused");
    }
    if is_behind(object) {
        return progressing("the newest version was not observed yet");
    }
    let progress = object.condition("Progressing");
    if progress.is_some_and(|condition| condition.reason() == "ProgressDeadlineExceeded") {
        return degraded("the deadline for progress was exceeded");
    }
    let status = |name: &str| object.int_or(&["status", name], 0);
    let (updated, there) = (status("updatedReplicas"), status("replicas"));
    let wanted = object.int_or(&["spec", "replicas"], 0);
    let available = status("availableReplicas");
    if updated < wanted {
        progressing(format!("{updated} of {wanted} replicas are updated"))
    } else if there > updated {
        progressing(format!(
            "{} old replicas are pending termination",
            there.saturating_sub(updated)
        ))
    } else if available < updated {
        progressing(format!("{available} of {updated} updated replicas are available"))
    } else {
        Health::new(State::Healthy)
    }
}
