//! Conditions in statuses.

use model::{Value, value};

/// The condition of this type.
pub(super) fn find<'a>(status: &'a Value, kind: &str) -> Option<&'a Value> {
    let all = status.list_at(&["conditions"]);
    all.iter().find(|condition| condition.str_at(&["type"]) == kind)
}

/// Whether the condition of this type is `True`.
pub(super) fn holds(status: &Value, kind: &str) -> bool {
    find(status, kind).is_some_and(|condition| condition.str_at(&["status"]) == "True")
}

/// What a condition says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Condition<'a> {
    pub kind: &'a str,
    pub status: &'a str,
    pub reason: &'a str,
    pub message: &'a str,
}

impl Condition<'_> {
    /// Whether `other` says the same, but for the message.
    fn is_said_by(&self, other: &Value) -> bool {
        other.str_at(&["status"]) == self.status && other.str_at(&["reason"]) == self.reason
    }

    /// The condition in its plain form, with the time of its last transition.
    pub(super) fn value(&self, since: &str) -> Value {
        let mut condition = value!({
            "type": (self.kind), "status": (self.status), "lastTransitionTime": since,
        });
        for (field, text) in [("reason", self.reason), ("message", self.message)] {
            if !text.is_empty() {
                condition.set_at(&[field], text);
            }
        }
        condition
    }

    /// Since when it has its status.
    pub(super) fn since<'a>(&self, before: Option<&'a Value>, now: &'a str) -> &'a str {
        match before {
            Some(before) if before.str_at(&["status"]) == self.status => {
                before.str_at(&["lastTransitionTime"])
            }
            _ => now,
        }
    }

    /// Puts it at the end of the list, as the controllers of workloads do; one that says the same stays as it is.
    /// `extra` adds the fields that only some kinds have.
    pub(super) fn append(&self, status: &mut Value, now: &str, extra: impl Fn(&mut Value)) {
        let before = find(status, self.kind);
        if before.is_some_and(|before| self.is_said_by(before)) {
            return;
        }
        let mut condition = self.value(self.since(before, now));
        extra(&mut condition);
        remove(status, self.kind);
        let mut all = status.list_at(&["conditions"]).to_vec();
        all.push(condition);
        status.set_at(&["conditions"], all);
    }

    /// Puts it where the one of its type is, or at the end.
    pub(super) fn replace(&self, status: &mut Value, now: &str, extra: impl Fn(&mut Value)) {
        let before = find(status, self.kind);
        let mut condition = self.value(self.since(before, now));
        extra(&mut condition);
        let mut all = status.list_at(&["conditions"]).to_vec();
        match all.iter_mut().find(|other| other.str_at(&["type"]) == self.kind) {
            Some(place) => *place = condition,
            None => all.push(condition),
        }
        status.set_at(&["conditions"], all);
    }
}

/// Takes the condition of this type away.
pub(super) fn remove(status: &mut Value, kind: &str) {
    let Some(all) = status.get_mut("conditions").and_then(Value::as_array_mut) else {
        return;
    };
    all.retain(|condition| condition.str_at(&["type"]) != kind);
    if all.is_empty() {
        status.remove_at(&["conditions"]);
    }
}
