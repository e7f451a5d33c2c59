//! What is compared of a Kustomization: its status, what was told of it, and what it has made.

use k8s_openapi::api::core::v1::Event;
use kube::core::DynamicObject;
use serde_json::Value;

use crate::deviations::{merge, times};

/// An object as lines, without what differs from run to run.
pub(super) fn lines(object: &DynamicObject, events: &[Event], made: &[DynamicObject]) -> Vec<String> {
    let mut lines = vec![format!("finalizers {:?}", object.metadata.finalizers)];
    flatten("status", &object.data["status"], &mut lines);
    for event in events
        .iter()
        .filter(|event| event.involved_object.name == object.metadata.name)
    {
        lines.push(told(event));
    }
    for object in made {
        let kind = object
            .types
            .as_ref()
            .map(|types| types.kind.clone())
            .unwrap_or_default();
        let name = object.metadata.name.clone().unwrap_or_default();
        let mut value = object.data.clone();
        if let Value::Object(fields) = &mut value {
            fields.remove("status");
        }
        lines.push(format!(
            "made {kind}/{name} {:?} {:?}",
            object.metadata.labels, object.metadata.annotations
        ));
        flatten(&format!("made {kind}/{name}"), &value, &mut lines);
    }
    merge(&mut lines);
    lines
}

fn told(event: &Event) -> String {
    let text = |field: &Option<String>| field.clone().unwrap_or_default();
    let kind = text(&event.type_);
    let message = match kind.as_str() {
        // What failed is said in other words, with the remedy.
        "Warning" => "…".to_owned(),
        _ => timeless(&text(&event.message)),
    };
    let facts = event.metadata.annotations.clone().unwrap_or_default();
    let reason = text(&event.reason);
    let times = match reason.as_str() {
        // Flux says so after each run that succeeds, ours after those that did something.
        "ReconciliationSucceeded" => String::new(),
        reason => times(&kind, reason, event.count.map(i64::from)),
    };
    format!("event {kind} {reason} {message:?} {facts:?}{times}")
}

/// A text without lengths of time that were measured.
fn timeless(text: &str) -> String {
    for verb in ["finished in ", "passed in "] {
        if let Some((before, after)) = text.split_once(verb) {
            let rest = after.find(',').map_or("", |at| &after[at..]);
            return format!("{before}{verb}…{rest}");
        }
    }
    text.to_owned()
}

fn flatten(path: &str, value: &Value, lines: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            let is_failure = matches!(value["type"].as_str(), Some("Ready" | "Healthy"))
                && value["status"] == "False"
                || value["type"] == "Stalled";
            for (key, field) in fields {
                match key.as_str() {
                    "message" if is_failure => {}
                    "lastTransitionTime"
                    | "firstReconciled"
                    | "lastReconciled"
                    | "lastReconciledDuration" => {}
                    // How often somebody looks is their own business.
                    "totalReconciliations" => {}
                    "message" => lines.push(format!(
                        "{path}.message = {:?}",
                        timeless(field.as_str().unwrap_or_default())
                    )),
                    _ => flatten(&format!("{path}.{key}"), field, lines),
                }
            }
        }
        Value::Array(items) => {
            for (number, item) in items.iter().enumerate() {
                let name = match item["type"].as_str() {
                    Some(name) => name.to_owned(),
                    None => number.to_string(),
                };
                flatten(&format!("{path}[{name}]"), item, lines);
            }
        }
        plain => lines.push(format!("{path} = {plain}")),
    }
}
