//! DaemonSets: every node that is to have a pod has an available one of the newest kind.

use model::Health;
use model::health::State;

use super::super::object::{Object, healthy, progressing};
use super::is_behind;

pub(super) fn assess(object: Object<'_>) -> Health {
    if is_behind(object) {
        return progressing("the newest version was not observed yet");
    }
    let status = |name: &str| object.int_or(&["status", name], 0);
    let wanted = status("desiredNumberScheduled");
    let (updated, available) = (status("updatedNumberScheduled"), status("numberAvailable"));
    if object.text(&["spec", "updateStrategy", "type"]) == "OnDelete" {
        healthy(format!("{updated} of {wanted} pods are updated"))
    } else if updated < wanted {
        progressing(format!("{updated} of {wanted} pods are updated"))
    } else if available < wanted {
        progressing(format!("{available} of {wanted} updated pods are available"))
    } else {
        Health::new(State::Healthy)
    }
}
