//! What happened, for notifications.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{ObjectKey, Time, Value};

/// Something that happened to an object, as the controllers tell it and `notify` passes it on. Its JSON is what Flux's
/// controllers post.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// The object.
    pub involved_object: ObjectReference,
    /// How grave it is.
    pub severity: Severity,
    /// When it happened.
    pub timestamp: Time,
    /// What happened, for people.
    pub message: String,
    /// What happened, for programs: `ReconciliationSucceeded`.
    pub reason: String,
    /// Further facts, such as the revision, under names with a group: `kustomize.toolkit.fluxcd.io/revision`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// The controller that tells it: `kustomize-controller`.
    pub reporting_controller: String,
    /// Which of its instances.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reporting_instance: String,
}

/// How grave an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// A step that is of no interest to anyone but who looks at the object. It is never posted.
    Trace,
    /// A change.
    Info,
    /// A failure.
    Error,
}

/// Which object an event is about, as Kubernetes refers to one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ObjectReference {
    /// The kind.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// The namespace.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// The name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The unique identifier.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// Group and version.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub api_version: String,
    /// The version of the object that was seen.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub resource_version: String,
    /// The part of the object that is meant.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub field_path: String,
}

impl ObjectReference {
    /// The reference to an object; what is missing in it is empty.
    pub fn to(object: &Value) -> Self {
        let text = |path: &[&str]| object.str_at(path).to_owned();
        ObjectReference {
            kind: text(&["kind"]),
            namespace: text(&["metadata", "namespace"]),
            name: text(&["metadata", "name"]),
            uid: text(&["metadata", "uid"]),
            api_version: text(&["apiVersion"]),
            resource_version: text(&["metadata", "resourceVersion"]),
            field_path: String::new(),
        }
    }

    /// Which object it is.
    pub fn key(&self) -> ObjectKey {
        ObjectKey {
            group: crate::object_key::split_api_version(&self.api_version).0.into(),
            kind: self.kind.as_str().into(),
            namespace: self.namespace.as_str().into(),
            name: self.name.as_str().into(),
        }
    }
}

impl Severity {
    /// The `type` of the Kubernetes event that tells the same.
    pub fn event_type(self) -> &'static str {
        match self {
            Severity::Trace | Severity::Info => "Normal",
            Severity::Error => "Warning",
        }
    }
}
