//! Ports by number or by name.

use model::Value;

use super::at::At;
use super::errors::Errors;
use super::text::{port_name, port_number};

pub(super) const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];

/// The number of a port.
pub(super) fn number(at: &At, errors: &mut Errors) {
    if let Some(problem) = port_number(at.int()) {
        errors.invalid(at, problem);
    }
}

/// A port by number or by name.
pub(super) fn number_or_name(at: &At, errors: &mut Errors) {
    match at.value() {
        Value::Str(text) => errors.each(at, port_name(text)),
        _ => number(at, errors),
    }
}

/// The protocol of a port, which must be there.
pub(super) fn protocol(at: &At, errors: &mut Errors) {
    errors.one_of(at, &PROTOCOLS);
}
