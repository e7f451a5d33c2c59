//! Jobs find their pods by labels that the server makes up.

use model::{Map, Value};

use crate::builtin::fields::Fields;

const UID: &str = "batch.kubernetes.io/controller-uid";

/// Gives a new job its selector, and the pods that it will make the labels for it, unless its maker does so.
pub(super) fn create(object: &mut Map) {
    let metadata = object.make("metadata");
    let (name, uid) = (metadata.text("name").to_owned(), metadata.text("uid").to_owned());
    let spec = object.make("spec");
    if !spec.flag("manualSelector") {
        let labels = spec.make("template").make("metadata").make("labels");
        for label in ["job-name", "batch.kubernetes.io/job-name"] {
            labels.default(label, name.as_str());
        }
        for label in ["controller-uid", UID] {
            labels.default(label, uid.as_str());
        }
        spec.make("selector").make("matchLabels").default(UID, uid);
    }
    own_labels(object);
}

/// A job without labels has those of its pods.
///
/// This is a default, but on a new job the real server applies it again after the labels above are made.
pub(super) fn own_labels(object: &mut Map) {
    let labels = object
        .get("spec")
        .and_then(|spec| spec.at(&["template", "metadata", "labels"]))
        .cloned();
    if let Some(labels @ Value::Object(_)) = labels {
        object.make("metadata").default("labels", labels);
    }
}
