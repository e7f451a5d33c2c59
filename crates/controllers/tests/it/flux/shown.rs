//! What is compared of an object.

use k8s_openapi::api::core::v1::Event;
use kube::core::DynamicObject;
use serde_json::Value;

/// An object as lines, without what differs from run to run.
pub(super) struct Shown {
    pub(super) lines: Vec<String>,
}

impl Shown {
    pub(super) fn of(object: &DynamicObject, events: &[Event]) -> Self {
        let mut lines = vec![format!("finalizers {:?}", object.metadata.finalizers)];
        flatten("status", &object.data["status"], &mut lines);
        for event in events {
            let involved = &event.involved_object;
            let kind = object.types.as_ref().map(|types| types.kind.as_str());
            if involved.name == object.metadata.name && involved.kind.as_deref() == kind {
                lines.extend(told(event));
            }
        }
        lines.sort();
        lines.dedup();
        Shown { lines }
    }
}

/// An Event, but for those that say that nothing happened, which leave no trace with us, as the README says; and for those
/// that depend on whether a chart or its source was looked at first, or on how long ago an artifact was replaced.
fn told(event: &Event) -> Option<String> {
    let text = |field: &Option<String>| field.clone().unwrap_or_default();
    let reason = text(&event.reason);
    let left_out = [
        "ArtifactUpToDate",
        "GitOperationSucceeded",
        "NoSourceArtifact",
        "GarbageCollectionSucceeded",
    ];
    if left_out.contains(&reason.as_str()) {
        return None;
    }
    let facts = event.metadata.annotations.clone().unwrap_or_default();
    let facts: Vec<String> = facts
        .iter()
        .map(|(key, value)| match key.ends_with("/digest") {
            true => format!("{key}=…"),
            false => format!("{key}={value}"),
        })
        .collect();
    let kind = text(&event.type_);
    let message = match kind.as_str() {
        // What failed is said in other words, with the remedy.
        "Warning" => "…".to_owned(),
        _ => text(&event.message),
    };
    Some(format!("event {kind} {reason} {message:?} {facts:?}"))
}

/// Whether a condition tells of a failure, so that its message is in words of our own.
fn is_failure(condition: &Value) -> bool {
    let text = |name: &str| condition[name].as_str().unwrap_or_default();
    match text("type") {
        "Ready" | "SourceVerified" => text("status") == "False",
        "ArtifactInStorage" => false,
        _ => text("status") == "True" && text("type") != "ArtifactOutdated",
    }
}

fn flatten(path: &str, value: &Value, lines: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (key, field) in fields {
                match key.as_str() {
                    "message" if is_failure(value) => {}
                    "lastTransitionTime" | "lastUpdateTime" => {}
                    // How an archive is compressed is not what users depend on.
                    "digest" | "size" => lines.push(format!("{path}.{key} is there")),
                    _ => flatten(&format!("{path}.{key}"), field, lines),
                }
            }
        }
        Value::Array(items) => {
            for (number, item) in items.iter().enumerate() {
                let name = match item["type"].as_str() {
                    Some(name) => format!("{number} {name}"),
                    None => number.to_string(),
                };
                flatten(&format!("{path}[{name}]"), item, lines);
            }
        }
        plain => lines.push(format!("{path} = {plain}")),
    }
}
