//! ReplicaSets: all replicas are available. One that cannot make them is degraded.

use model::Health;
use model::health::State;

use super::super::object::{Object, degraded, progressing};
use super::is_behind;

pub(super) fn assess(object: Object<'_>) -> Health {
    if is_behind(object) {
        return progressing("the newest version was not observed yet");
    }
    let failure = object.condition("ReplicaFailure");
    if let Some(failure) = failure.filter(|condition| condition.is_true()) {
        return degraded(failure.message());
    }
    let wanted = object.int_or(&["spec", "replicas"], 0);
    let available = object.int_or(&["status", "availableReplicas"], 0);
    match available < wanted {
        true => progressing(format!("{available} of {wanted} replicas are available")),
        false => Health::new(State::Healthy),
    }
}
