//! What is compared of a HelmRelease: its status, what was told of it, its records, and what it has made.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kube::core::DynamicObject;
use serde_json::Value;

use crate::deviations::{merge, times};

/// Values that no two runs have in common.
const TIMES: [&str; 12] = [
    "lastTransitionTime",
    "firstDeployed",
    "lastDeployed",
    "deleted",
    "lastStarted",
    "lastCompleted",
    "lastAttemptedReleaseActionDuration",
    "first_deployed",
    "last_deployed",
    "started_at",
    "completed_at",
    "creationTimestamp",
];

/// What a cluster has of one case.
pub(super) struct Found {
    /// The HelmRelease, unless it is gone.
    pub(super) object: Option<DynamicObject>,
    /// Whether nothing goes on with it but retries.
    pub(super) is_settled: bool,
    pub(super) events: Vec<DynamicObject>,
    /// The Secrets with the records of releases.
    pub(super) records: Vec<DynamicObject>,
    pub(super) made: Vec<DynamicObject>,
}

impl Found {
    /// All of it as lines, without what differs from run to run.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.is_settled {
            lines.push("not settled".to_owned());
        }
        match &self.object {
            None => lines.push("gone".to_owned()),
            Some(object) => {
                lines.push(format!("finalizers {:?}", object.metadata.finalizers));
                let mut status = object.data["status"].clone();
                if let Value::Object(fields) = &mut status
                    && is_tried_again(fields)
                {
                    // How often that was done by now is a matter of time.
                    fields.remove("failures");
                }
                flatten("status", &status, &mut lines);
                lines.extend(self.digests(object));
            }
        }
        lines.extend(self.events.iter().map(told));
        lines.extend(self.records.iter().flat_map(record));
        lines.extend(self.made.iter().flat_map(made));
        merge(&mut lines);
        lines
    }

    /// Whether each digest of the history is that of the record: these have times in them.
    fn digests(&self, object: &DynamicObject) -> Vec<String> {
        let history = object.data["status"]["history"].as_array().cloned();
        let told = history.unwrap_or_default().into_iter().map(|snapshot| {
            let text = |field: &str| snapshot[field].as_str().unwrap_or_default();
            let name = helm::record::name(text("name"), snapshot["version"].as_i64().unwrap());
            let mut records = self.records.iter();
            let stored = records.find(|secret| secret.metadata.name.as_deref() == Some(&*name));
            let matches = stored.map(|secret| {
                let object = model::convert::from_serde(secret).unwrap();
                let record = helm::record::from_object(&object).unwrap();
                helm::digest::record_matches(text("digest"), &record, text("ociDigest"))
            });
            format!("digest of {name} matches: {matches:?}")
        });
        told.collect()
    }

    /// What no controller that takes over may change: the records and the history.
    pub(super) fn released(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.records.iter().flat_map(record).collect();
        if let Some(object) = &self.object {
            flatten("history", &object.data["status"]["history"], &mut lines);
        }
        for object in &self.made {
            let name = object.metadata.name.clone().unwrap_or_default();
            lines.push(format!("{name} {:?}", object.metadata.uid));
            lines.extend(made(object));
        }
        lines.sort();
        lines
    }

    /// Whether it does well.
    pub(super) fn is_ready(&self) -> bool {
        let object = self.object.as_ref();
        let conditions = object.and_then(|object| object.data["status"]["conditions"].as_array());
        let mut conditions = conditions.into_iter().flatten();
        conditions.any(|one| one["type"] == "Ready" && one["status"] == "True")
    }
}

/// Whether something that left nothing behind is tried again and again.
fn is_tried_again(status: &serde_json::Map<String, Value>) -> bool {
    let conditions = status.get("conditions").and_then(Value::as_array);
    let mut conditions = conditions.into_iter().flatten();
    conditions.any(|one| one["type"] == "Reconciling" && one["reason"] == "Progressing")
}

fn told(event: &DynamicObject) -> String {
    let text = |field: &str| event.data[field].as_str().unwrap_or_default().to_owned();
    let facts = event.metadata.annotations.clone().unwrap_or_default();
    let message = without_cause(&text("message"));
    let kind = text("type");
    let times = times(&kind, &text("reason"), event.data["count"].as_i64());
    format!("event {kind} {} {message:?} {facts:?}{times}", text("reason"))
}

/// A message without why something failed: that is said in other words, with the remedy.
fn without_cause(message: &str) -> String {
    let Some((before, after)) = message.split_once(" failed") else {
        return message.to_owned();
    };
    match after.split_once(": ") {
        Some((between, _)) => format!("{before} failed{between}: …"),
        None => message.to_owned(),
    }
}

/// What a Secret has of a release.
fn record(secret: &DynamicObject) -> Vec<String> {
    let name = secret.metadata.name.clone().unwrap_or_default();
    let namespace = secret.metadata.namespace.clone().unwrap_or_default();
    // What we say of records besides is our own.
    let annotations = secret.metadata.annotations.iter().flatten();
    let annotations: Vec<_> = annotations
        .filter(|(key, _)| !key.starts_with("sluice.dev/"))
        .collect();
    let kind = &secret.data["type"];
    let mut lines = vec![format!("record {namespace}/{name} {kind} {annotations:?}")];
    for (label, value) in secret.metadata.labels.iter().flatten() {
        lines.push(match label.as_str() {
            "createdAt" | "modifiedAt" => format!("record {name} label {label}"),
            _ => format!("record {name} label {label} = {value}"),
        });
    }
    flatten(&format!("record {name}"), &decoded(secret), &mut lines);
    lines
}

/// The JSON in it, as Helm packs it.
fn decoded(secret: &DynamicObject) -> Value {
    let text = secret.data["data"]["release"].as_str().unwrap();
    let packed = STANDARD.decode(STANDARD.decode(text).unwrap()).unwrap();
    serde_json::from_reader(flate2::read::GzDecoder::new(packed.as_slice())).unwrap()
}

fn made(object: &DynamicObject) -> Vec<String> {
    let types = object.types.clone().unwrap_or_default();
    let (kind, metadata) = (types.kind, &object.metadata);
    let name = format!(
        "made {kind} {}/{}",
        metadata.namespace.as_deref().unwrap_or_default(),
        metadata.name.as_deref().unwrap_or_default()
    );
    let mut value = object.data.clone();
    if let Value::Object(fields) = &mut value {
        fields.remove("status");
    }
    let fields = metadata.managed_fields.iter().flatten();
    let managers: BTreeSet<String> = fields
        .map(|one| format!("{:?} {:?} {:?}", one.manager, one.operation, one.subresource))
        .collect();
    let mut lines = vec![
        format!("{name} labels {:?}", metadata.labels),
        format!("{name} annotations {:?}", metadata.annotations),
        format!("{name} managers {managers:?}"),
    ];
    flatten(&name, &value, &mut lines);
    // Pods of Jobs are known by the identity of these.
    lines.retain(|line| !line.contains("controller-uid"));
    lines
}

fn flatten(path: &str, value: &Value, lines: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (key, field) in fields {
                match (key.as_str(), field) {
                    (time, _) if TIMES.contains(&time) => {
                        let is_zero = field
                            .as_str()
                            .is_none_or(|text| text.starts_with("0001-") || text.is_empty());
                        lines.push(format!(
                            "{path}.{key} = {}",
                            if is_zero { "nothing" } else { "some time" }
                        ));
                    }
                    // Times are in it; whether it is right is asked in another way.
                    ("digest", _) if path.starts_with("status.history") => {}
                    ("message" | "description", Value::String(text)) => {
                        lines.push(format!("{path}.{key} = {:?}", without_cause(text)));
                    }
                    _ => flatten(&format!("{path}.{key}"), field, lines),
                }
            }
        }
        Value::Array(items) => {
            for (number, item) in items.iter().enumerate() {
                let name = match item["type"].as_str() {
                    Some(name) if path.ends_with("conditions") => name.to_owned(),
                    _ => number.to_string(),
                };
                flatten(&format!("{path}[{name}]"), item, lines);
            }
        }
        plain => lines.push(format!("{path} = {plain}")),
    }
}
