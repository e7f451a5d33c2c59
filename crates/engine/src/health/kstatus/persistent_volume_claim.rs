//! PersistentVolumeClaims: bound to a volume.

use model::Health;

use super::super::object::{Object, healthy, progressing};

pub(super) fn assess(object: Object<'_>) -> Health {
    match object.text(&["status", "phase"]) {
        "Bound" => healthy("PVC is Bound"),
        "" => progressing("PVC is not Bound. phase: unknown"),
        phase => progressing(format!("PVC is not Bound. phase: {phase}")),
    }
}
