//! Jobs find their pods by labels that the server makes up.

use model::Map;

use crate::builtin::fields::Fields;

const UID: &str = "batch.kubernetes.io/controller-uid";

/// Gives a new job its selector, and the pods that it will make the labels for it, unless its maker does so.
pub(super) fn create(object: &mut Map) {
    let metadata = object.make("metadata");
    let (name, uid) = (metadata.text("name").to_owned(), metadata.text("uid").to_owned());
    let spec = object.make("spec");
    if spec.flag("manualSelector") {
        return;
    }
    let labels = spec.make("template").make("metadata").make("labels");
    for label in ["job-name", "batch.kubernetes.io/job-name"] {
        labels.default(label, name.as_str());
    }
    for label in ["controller-uid", UID] {
        labels.default(label, uid.as_str());
    }
    spec.make("selector").make("matchLabels").default(UID, uid);
}
