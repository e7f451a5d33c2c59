//! Events, which two groups show with different names of their fields.

use jiff::Timestamp;
use model::Value;

use crate::table::column::{Layout, WIDE_NAME, text, wide};
use crate::table::{cell, duration};

/// Events of the core group.
pub(super) const CORE: Layout = Layout {
    columns: COLUMNS,
    cells: |event, now| cells(event, &CORE_FIELDS, now),
};
/// Events of `events.k8s.io`.
pub(super) const NEW: Layout = Layout {
    columns: COLUMNS,
    cells: |event, now| cells(event, &NEW_FIELDS, now),
};

const COLUMNS: &[crate::table::column::Column] = &[
    text("Last Seen"),
    text("Type"),
    text("Reason"),
    text("Object"),
    wide("Subobject"),
    wide("Source"),
    text("Message"),
    wide("First Seen"),
    wide("Count"),
    WIDE_NAME,
];

/// Where a group keeps what it calls differently.
struct Fields {
    object: &'static str,
    message: &'static str,
    source: &'static str,
    first: &'static str,
    last: &'static str,
    count: &'static str,
    controller: &'static str,
}

const CORE_FIELDS: Fields = Fields {
    object: "involvedObject",
    message: "message",
    source: "source",
    first: "firstTimestamp",
    last: "lastTimestamp",
    count: "count",
    controller: "reportingComponent",
};

const NEW_FIELDS: Fields = Fields {
    object: "regarding",
    message: "note",
    source: "deprecatedSource",
    first: "deprecatedFirstTimestamp",
    last: "deprecatedLastTimestamp",
    count: "deprecatedCount",
    controller: "reportingController",
};

fn cells(event: &Value, fields: &Fields, now: Timestamp) -> Vec<Value> {
    let time = |field: &str| event.get(field).filter(|time| !time.is_null());
    let first = duration::since(time(fields.first).or_else(|| time("eventTime")), now);
    let mut last = match time(fields.last) {
        Some(time) => duration::since(Some(time), now),
        None => first.clone(),
    };
    let mut count = cell::int(event, &[fields.count]);
    if let Some(series) = event.get("series").filter(|series| !series.is_null()) {
        last = duration::since(series.get("lastObservedTime"), now);
        count = cell::int(series, &["count"]);
    } else if count == 0 {
        count = 1;
    }
    vec![
        Value::from(last),
        cell::text(event, &["type"]),
        cell::text(event, &["reason"]),
        Value::from(target(event, fields)),
        cell::text(event, &[fields.object, "fieldPath"]),
        Value::from(source(event, fields)),
        Value::str(event.str_at(&[fields.message]).trim()),
        Value::from(first),
        Value::Int(count),
        cell::name(event),
    ]
}

fn target(event: &Value, fields: &Fields) -> String {
    let kind = event.str_at(&[fields.object, "kind"]).to_lowercase();
    match event.str_at(&[fields.object, "name"]) {
        "" => kind,
        name => format!("{kind}/{name}"),
    }
}

fn source(event: &Value, fields: &Fields) -> String {
    let or = |path: &[&str], other: &str| match event.str_at(path) {
        "" => event.str_at(&[other]).to_owned(),
        text => text.to_owned(),
    };
    let component = or(&[fields.source, "component"], fields.controller);
    let instance = or(&[fields.source, "host"], "reportingInstance");
    match instance.is_empty() {
        true => component,
        false => format!("{component}, {instance}"),
    }
}
