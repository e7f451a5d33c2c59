//! `coordination.k8s.io`: who leads.

use super::at::At;
use super::errors::Errors;

/// A lease. Fields for coordinated elections are behind a feature gate that is off, and so left alone.
pub(super) fn lease(object: &At, errors: &mut Errors) {
    let spec = object.get("spec");
    let duration = spec.get("leaseDurationSeconds");
    if duration.is_set() && duration.int() <= 0 {
        errors.invalid(&duration, "must be greater than 0");
    }
    errors.not_negative(&spec.num("leaseTransitions"));
}
