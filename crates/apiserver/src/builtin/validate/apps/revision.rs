//! Controller revisions.

use model::Value;

use super::super::at::At;
use super::super::errors::Errors;

/// A new revision.
pub(in super::super) fn revision(object: &At, errors: &mut Errors) {
    errors.not_negative(&object.num("revision"));
    let data = object.get("data");
    match data.value() {
        Value::Null => errors.required(&data, "data is mandatory"),
        Value::Object(_) => {}
        _ => errors.required(&data, "data must be a valid JSON object"),
    }
}

/// A changed revision.
pub(in super::super) fn revision_update(object: &At, old: &At, errors: &mut Errors) {
    errors.not_negative(&object.num("revision"));
    errors.immutable(&object.get("data"), &old.get("data"));
}
