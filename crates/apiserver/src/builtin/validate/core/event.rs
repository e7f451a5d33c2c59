//! Events, of the core group and of `events.k8s.io`, which calls some fields otherwise.

use super::super::at::At;
use super::super::errors::Errors;
use super::super::name;
use super::super::selector::label_key;

/// The fields of an event under the names of its group.
struct Event<'p, 'v> {
    object: &'p At<'p, 'v>,
    is_new: bool,
}

impl<'p, 'v> Event<'p, 'v> {
    /// The field that the core group calls `name`.
    fn get(&self, name: &'p str) -> At<'p, 'v> {
        let own = match (self.is_new, name) {
            (true, "involvedObject") => "regarding",
            (true, "message") => "note",
            (true, "source") => "deprecatedSource",
            (true, "firstTimestamp") => "deprecatedFirstTimestamp",
            (true, "lastTimestamp") => "deprecatedLastTimestamp",
            (true, "count") => "deprecatedCount",
            (false, "reportingController") => "reportingComponent",
            (_, name) => name,
        };
        let found = self.object.get(own);
        self.object.get(name).with(found.value())
    }
}

/// A new event of `group`.
pub(in super::super) fn event(group: &str, object: &At, errors: &mut Errors) {
    let event = Event {
        object,
        is_new: !group.is_empty(),
    };
    old_rules(&event, errors);
    if !event.is_new {
        return;
    }
    series(object, errors);
    let time = object.get("eventTime");
    if !time.is_set() {
        errors.required(&time, "");
    }
    let kind = object.txt("type");
    if !matches!(kind.text(), "Normal" | "Warning") {
        errors.invalid_value(&kind, "", format!("has invalid value: {}", kind.text()));
    }
    for field in ["firstTimestamp", "lastTimestamp"] {
        if event.get(field).is_set() {
            errors.invalid_value(&event.get(field), "", "needs to be unset");
        }
    }
    if event.get("count").int() != 0 {
        errors.invalid_value(&event.get("count"), "", "needs to be unset");
    }
    let source = event.get("source");
    if !source.text_of("component").is_empty() || !source.text_of("host").is_empty() {
        errors.invalid_value(&source, "", "needs to be unset");
    }
}

fn series(object: &At, errors: &mut Errors) {
    let at = object.get("series");
    if !at.is_set() {
        return;
    }
    if at.int_of("count") < 2 {
        errors.invalid_value(&at.get("count"), "", "should be at least 2");
    }
    let last = at.get("lastObservedTime");
    if !last.is_set() {
        errors.required(&last, "");
    }
}

fn old_rules(event: &Event, errors: &mut Errors) {
    let object = event.object;
    let namespace = object.deep("metadata.namespace").text();
    let about = event.get("involvedObject");
    let their = about.txt("namespace");
    let timed = object.get("eventTime").is_set();
    let matches = match (timed, their.text()) {
        (false, "") => matches!(namespace, "" | "default"),
        (false, their) => their == namespace,
        (true, "") => matches!(namespace, "default" | "kube-system"),
        (true, _) => true,
    };
    if !matches {
        errors.invalid(&their, "does not match event.namespace");
    }
    if timed {
        reporter(event, errors);
    }
    for problem in name::subdomain(namespace) {
        errors.invalid_value(&object.get("namespace"), namespace, problem);
    }
}

/// Who tells about what.
fn reporter(event: &Event, errors: &mut Errors) {
    let object = event.object;
    let controller = match event.is_new {
        true => object.txt("reportingController"),
        false => object.txt("reportingComponent"),
    };
    errors.require_text(&controller);
    label_key(&controller, errors);
    for (field, most) in [("reportingInstance", 128), ("action", 128), ("reason", 128)] {
        let at = object.txt(field);
        errors.require_text(&at);
        if at.text().len() > most {
            errors.invalid_value(&at, "", format!("can have at most {most} characters"));
        }
    }
    let message = event.get("message");
    if message.text().len() > 1024 {
        errors.invalid_value(&message, "", "can have at most 1024 characters");
    }
}

/// A changed event of `group`.
pub(in super::super) fn event_update(group: &str, object: &At, old: &At, errors: &mut Errors) {
    let is_new = !group.is_empty();
    let (event, before) = (Event { object, is_new }, Event { object: old, is_new });
    old_rules(&event, errors);
    if !is_new {
        return;
    }
    if object.get("series").value() != old.get("series").value() {
        series(object, errors);
    }
    let shown = |field: &str| match field {
        "involvedObject" => "core.ObjectReference",
        "related" => "*core.ObjectReference",
        "source" => "core.EventSource",
        "firstTimestamp" | "lastTimestamp" | "eventTime" => "t",
        "count" => "i",
        _ => "s",
    };
    for field in [
        "involvedObject",
        "reason",
        "message",
        "source",
        "firstTimestamp",
        "lastTimestamp",
        "count",
        "reason",
        "type",
        "eventTime",
        "action",
        "related",
        "reportingController",
        "reportingInstance",
    ] {
        errors.immutable_as(&event.get(field), &before.get(field), shown(field));
    }
}
