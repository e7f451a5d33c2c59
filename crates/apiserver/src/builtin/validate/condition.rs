//! Conditions in the form that newer kinds share.

use std::collections::HashSet;

use super::at::At;
use super::errors::Errors;
use super::selector::label_key;

/// A list of conditions.
pub(super) fn conditions(at: &At, errors: &mut Errors) {
    let mut kinds = HashSet::new();
    for one in at.items() {
        let kind = one.txt("type");
        if !kinds.insert(kind.text()) {
            errors.duplicate(&kind);
        }
        condition(&one, errors);
    }
}

fn condition(at: &At, errors: &mut Errors) {
    label_key(&at.txt("type"), errors);
    let status = at.txt("status");
    if !matches!(status.text(), "True" | "False" | "Unknown") {
        errors.not_supported(&status, &["False", "True", "Unknown"]);
    }
    let generation = at.num("observedGeneration");
    if generation.int() < 0 {
        errors.invalid(&generation, "must be greater than or equal to zero");
    }
    let time = at.get("lastTransitionTime");
    if !time.is_set() {
        errors.required(&time, "");
    }
    let reason = at.txt("reason");
    if errors.require_text(&reason) {
        if !is_reason(reason.text()) {
            errors.invalid(
                &reason,
                "a condition reason must start with alphabetic character, optionally followed by a string of \
                 alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. \
                 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for \
                 validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')",
            );
        }
        if reason.text().len() > 1024 {
            errors.too_long(&reason, 1024);
        }
    }
    let message = at.txt("message");
    if message.text().len() > 32 * 1024 {
        errors.too_long(&message, 32 * 1024);
    }
}

fn is_reason(text: &str) -> bool {
    let last = text.bytes().next_back();
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && last.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b',' | b':'))
}
