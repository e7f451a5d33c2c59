//! PersistentVolumeClaims: bound to a volume that is still there.

use model::Health;
use model::health::State;

use super::super::object::Object;

pub(super) fn assess(object: Object<'_>) -> Health {
    Health::new(match object.text(&["status", "phase"]) {
        "Lost" => State::Degraded,
        "Pending" => State::Progressing,
        "Bound" => State::Healthy,
        _ => State::Unknown,
    })
}
