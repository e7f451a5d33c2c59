//! What is compared of an object: its status, what was told of it, and what its artifact holds.

use std::io::Read;
use std::path::Path;

use k8s_openapi::api::core::v1::Event;
use kube::core::DynamicObject;
use serde_json::Value;

use crate::deviations::{merge, times};

/// An object as lines, without what differs from run to run.
pub(super) struct Shown {
    pub(super) lines: Vec<String>,
}

impl Shown {
    /// `store` is where the files of artifacts are; `is_last` whether all that was replaced must have been collected.
    pub(super) fn of(object: &DynamicObject, events: &[Event], store: &Path, is_last: bool) -> Self {
        let mut lines = vec![format!("finalizers {:?}", object.metadata.finalizers)];
        if let Some(path) = object.data["status"]["artifact"]["path"].as_str() {
            lines.extend(held(&store.join(path)));
        }
        flatten("status", &object.data["status"], &mut lines);
        for event in events {
            let involved = &event.involved_object;
            let kind = object.types.as_ref().map(|types| types.kind.as_str());
            if involved.name == object.metadata.name && involved.kind.as_deref() == kind {
                lines.extend(told(event, is_last));
            }
        }
        merge(&mut lines);
        Shown { lines }
    }
}

/// What an artifact holds: the entries of an archive with their modes and content, or else the bytes of the file.
fn held(file: &Path) -> Vec<String> {
    let content = match std::fs::read(file) {
        Ok(content) => content,
        Err(error) => return vec![format!("file cannot be read: {error}")],
    };
    if !content.starts_with(&[0x1f, 0x8b]) {
        return vec![format!("file {:?}", String::from_utf8_lossy(&content))];
    }
    let is_chart = file.extension().is_some_and(|extension| extension == "tgz");
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(&content[..]));
    let entries = archive.entries().unwrap().map(Result::unwrap);
    let shown = entries.map(|mut entry| {
        let mut content = String::new();
        // All files of these servers are text, or compared by their length.
        let length = entry.size();
        if entry.read_to_string(&mut content).is_err() {
            content = format!("{length} bytes");
        }
        let (path, mode) = (
            entry.path().unwrap().display().to_string(),
            entry.header().mode().unwrap(),
        );
        let (kind, owner) = (
            entry.header().entry_type(),
            entry.header().uid().unwrap_or_default(),
        );
        // Helm packs charts with the time of now.
        let time = entry.header().mtime().unwrap_or_default();
        let time = if is_chart { 0 } else { time };
        format!("file {path:?} {kind:?} {mode:o} {owner} {time} {content:?}")
    });
    shown.collect()
}

/// An Event, but for those that say that nothing happened, which leave no trace with us, as the README says; and for those
/// that depend on whether a chart or its source was looked at first.
fn told(event: &Event, is_last: bool) -> Option<String> {
    let text = |field: &Option<String>| field.clone().unwrap_or_default();
    let reason = text(&event.reason);
    let left_out = ["ArtifactUpToDate", "GitOperationSucceeded", "NoSourceArtifact"];
    // One more run, for which there may be a reason on one side only, collects what another replaced.
    let is_early = reason == "GarbageCollectionSucceeded" && !is_last;
    if left_out.contains(&reason.as_str()) || is_early {
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
    let times = times(&kind, &reason, event.count.map(i64::from));
    Some(format!("event {kind} {reason} {message:?} {facts:?}{times}"))
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
