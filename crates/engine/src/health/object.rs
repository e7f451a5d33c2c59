//! Reading what rules look at. A field of another type than it should be counts as missing.

use model::health::State;
use model::{Health, Value};

/// An object as rules read it.
#[derive(Clone, Copy)]
pub(super) struct Object<'o>(pub(super) &'o Value);

/// One of an object's conditions.
#[derive(Clone, Copy)]
pub(super) struct Condition<'o>(&'o Value);

impl<'o> Object<'o> {
    pub(super) fn int(self, path: &[&str]) -> Option<i64> {
        self.0.at(path)?.as_i64()
    }

    /// A number that is this where nobody has said anything.
    pub(super) fn int_or(self, path: &[&str], default: i64) -> i64 {
        self.int(path).unwrap_or(default)
    }

    pub(super) fn text(self, path: &[&str]) -> &'o str {
        self.0.str_at(path)
    }

    pub(super) fn is_true(self, path: &[&str]) -> bool {
        self.0.at(path).and_then(Value::as_bool).unwrap_or(false)
    }

    pub(super) fn list(self, path: &[&str]) -> &'o [Value] {
        self.0.list_at(path)
    }

    pub(super) fn conditions(self) -> impl Iterator<Item = Condition<'o>> {
        self.list(&["status", "conditions"]).iter().map(Condition)
    }

    pub(super) fn condition(self, kind: &str) -> Option<Condition<'o>> {
        self.conditions().find(|condition| condition.kind() == kind)
    }

    /// Group and kind: what rules are chosen by.
    pub(super) fn group_kind(self) -> (&'o str, &'o str) {
        let (group, _) = model::object_key::split_api_version(self.text(&["apiVersion"]));
        (group, self.text(&["kind"]))
    }

    pub(super) fn is_being_deleted(self) -> bool {
        !self.text(&["metadata", "deletionTimestamp"]).is_empty()
    }
}

impl<'o> Condition<'o> {
    pub(super) fn kind(self) -> &'o str {
        self.0.str_at(&["type"])
    }

    pub(super) fn status(self) -> &'o str {
        self.0.str_at(&["status"])
    }

    pub(super) fn is_true(self) -> bool {
        self.status() == "True"
    }

    pub(super) fn is_false(self) -> bool {
        self.status() == "False"
    }

    pub(super) fn reason(self) -> &'o str {
        self.0.str_at(&["reason"])
    }

    pub(super) fn message(self) -> &'o str {
        self.0.str_at(&["message"])
    }
}

pub(super) fn healthy(message: impl Into<String>) -> Health {
    Health::because(State::Healthy, message)
}

pub(super) fn progressing(message: impl Into<String>) -> Health {
    Health::because(State::Progressing, message)
}

pub(super) fn degraded(message: impl Into<String>) -> Health {
    Health::because(State::Degraded, message)
}

pub(super) fn suspended(message: impl Into<String>) -> Health {
    Health::because(State::Suspended, message)
}
