//! Paths in volumes and containers.

use super::super::at::At;
use super::super::errors::Errors;
use super::super::text::{goes_up, is_absolute};

/// A path that leads neither up nor to the root.
pub(super) fn local(at: &At, errors: &mut Errors) {
    if is_absolute(at.text()) {
        errors.invalid(at, "must be a relative path");
    }
    not_up(at, errors);
}

/// A path that does not lead up.
pub(in super::super) fn not_up(at: &At, errors: &mut Errors) {
    if goes_up(at.text()) {
        errors.invalid(at, "must not contain '..'");
    }
}

/// As [`local`], and its name is not one that the kubelet uses for itself.
pub(super) fn local_not_reserved(at: &At, errors: &mut Errors) {
    local(at, errors);
    if at.text().starts_with("..") && !at.text().starts_with("../") {
        errors.invalid(at, "must not start with '..'");
    }
}
