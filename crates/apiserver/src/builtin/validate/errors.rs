//! The list that checks add to.

use model::{Value, json};

use super::at::At;
use super::internal;
use crate::field::{self, Kind};

pub(super) const IMMUTABLE: &str = "field is immutable";
pub(super) const NOT_NEGATIVE: &str = "must be greater than or equal to 0";

const MOST: usize = 1000;

/// What was found to be wrong so far.
#[derive(Default)]
pub(super) struct Errors(Vec<field::Error>);

impl Errors {
    /// The list itself.
    pub(super) fn into_vec(self) -> Vec<field::Error> {
        self.0
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Adds a failure that was made elsewhere.
    ///
    /// **Deviation**: there are at most a thousand of them, so that a bad object does not keep the server busy.
    pub(super) fn push(&mut self, error: field::Error) {
        if self.0.len() < MOST {
            self.0.push(error);
        }
    }

    /// It must be there.
    pub(super) fn required(&mut self, at: &At, detail: impl Into<String>) {
        self.push(field::Error::required(at.to_string(), detail));
    }

    /// It must be there and not be empty.
    pub(super) fn require_text(&mut self, at: &At) -> bool {
        let missing = at.text().is_empty();
        if missing {
            self.required(at, "");
        }
        !missing
    }

    /// It may not be there.
    pub(super) fn forbidden(&mut self, at: &At, detail: impl Into<String>) {
        self.push(field::Error::forbidden(at.to_string(), detail));
    }

    /// Its value is not allowed.
    pub(super) fn invalid(&mut self, at: &At, detail: impl Into<String>) {
        self.push(field::Error::invalid(at.to_string(), at.value(), detail));
    }

    /// Its value is not allowed, and `value` is shown instead of it.
    pub(super) fn invalid_value(&mut self, at: &At, value: impl Into<Value>, detail: impl Into<String>) {
        self.push(field::Error::invalid(at.to_string(), &value.into(), detail));
    }

    /// Its value is not allowed; it is shown as the server's own type `ty`.
    pub(super) fn invalid_as(&mut self, at: &At, ty: &str, detail: impl Into<String>) {
        self.show(Kind::Invalid, at, internal::compact(ty, at.value()), detail);
    }

    /// Its value is not allowed and not shown.
    pub(super) fn invalid_hidden(&mut self, at: &At, detail: impl Into<String>) {
        self.show(Kind::Invalid, at, "", detail);
    }

    /// One failure for each of `problems`.
    pub(super) fn each(&mut self, at: &At, problems: Vec<String>) {
        for problem in problems {
            self.invalid(at, problem);
        }
    }

    /// Its value is none of those that are `supported`.
    pub(super) fn not_supported(&mut self, at: &At, supported: &[&str]) {
        self.unsupported(at, json::to_string(at.value()), supported);
    }

    /// Its value is none of those that are `supported`; it is shown as the server's own type `ty`.
    pub(super) fn not_supported_as(&mut self, at: &At, ty: &str, supported: &[&str]) {
        self.unsupported(at, internal::compact(ty, at.value()), supported);
    }

    fn unsupported(&mut self, at: &At, shown: String, supported: &[&str]) {
        let mut error = field::Error::not_supported(at.to_string(), &Value::Null, supported);
        error.value = shown;
        self.push(error);
    }

    /// It must be one of `supported`; without a value where it must have one.
    pub(super) fn one_of(&mut self, at: &At, supported: &[&str]) {
        match at.text() {
            "" => self.required(at, ""),
            text if supported.contains(&text) => {}
            _ => self.not_supported(at, supported),
        }
    }

    /// Where it has a value, that must be one of `supported`.
    pub(super) fn one_of_if_set(&mut self, at: &At, supported: &[&str]) {
        if at.is_set() && !supported.contains(&at.text()) {
            self.not_supported(at, supported);
        }
    }

    /// Its value stands there already.
    pub(super) fn duplicate(&mut self, at: &At) {
        self.push(field::Error::duplicate(at.to_string(), at.value()));
    }

    /// `value`, which it has, stands there already.
    pub(super) fn duplicate_value(&mut self, at: &At, value: impl Into<Value>) {
        self.push(field::Error::duplicate(at.to_string(), &value.into()));
    }

    /// It is there already; it is shown as the server's own type `ty`.
    pub(super) fn duplicate_as(&mut self, at: &At, ty: &str, detail: &str) {
        self.show(Kind::Duplicate, at, internal::compact(ty, at.value()), detail);
    }

    /// What it refers to is not there.
    pub(super) fn not_found(&mut self, at: &At, detail: impl Into<String>) {
        let shown = field::Error::invalid("", at.value(), "").value;
        self.show(Kind::NotFound, at, shown, detail);
    }

    /// It has more than `most` bytes.
    pub(super) fn too_long(&mut self, at: &At, most: usize) {
        self.push(field::Error::too_long(at.to_string(), most as i64));
    }

    /// It has more than `most` elements.
    pub(super) fn too_many(&mut self, at: &At, most: usize) {
        self.push(field::Error::too_many(
            at.to_string(),
            at.len() as i64,
            most as i64,
        ));
    }

    fn show(&mut self, kind: Kind, at: &At, shown: impl Into<String>, detail: impl Into<String>) {
        self.push(field::Error::new(kind, at.to_string(), shown, detail));
    }

    /// A number that is not below zero.
    pub(super) fn not_negative(&mut self, at: &At) {
        if at.int() < 0 {
            self.invalid(at, NOT_NEGATIVE);
        }
    }

    /// A number that is above zero.
    pub(super) fn positive(&mut self, at: &At) {
        if at.int() <= 0 {
            self.invalid(at, "must be greater than zero");
        }
    }

    /// It may not change.
    pub(super) fn immutable(&mut self, at: &At, old: &At) {
        if at.value() != old.value() {
            self.invalid(at, IMMUTABLE);
        }
    }

    /// It may not change; it is shown as the server's own type `ty`.
    pub(super) fn immutable_as(&mut self, at: &At, old: &At, ty: &str) {
        if at.value() != old.value() {
            self.invalid_as(at, ty, IMMUTABLE);
        }
    }
}
