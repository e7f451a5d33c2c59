//! Volumes that outlive pods, and what provides them.

use model::{Map, Value};

use super::volume::network_source;
use super::{Fields, round_amounts};

pub(super) fn volume(object: &mut Map) {
    object.within("spec", |spec| {
        spec.default("persistentVolumeReclaimPolicy", "Retain");
        spec.default("volumeMode", "Filesystem");
        spec.within("hostPath", |path| path.default("type", ""));
        network_source(spec);
        round_amounts(spec, &["capacity"]);
    });
    object.make("status").default("phase", "Pending");
}

pub(super) fn claim(object: &mut Map) {
    object.within("spec", claim_spec);
    let status = object.make("status");
    status.default("phase", "Pending");
    round_amounts(status, &["capacity", "allocatedResources"]);
}

/// The spec of a claim, which also stands in templates of claims.
pub(super) fn claim_spec(spec: &mut Map) {
    spec.default("volumeMode", "Filesystem");
    spec.within("resources", |resources| {
        round_amounts(resources, &["limits", "requests"])
    });
}

pub(super) fn class(object: &mut Map) {
    object.default("reclaimPolicy", "Delete");
    object.default("volumeBindingMode", "Immediate");
}

pub(super) fn csi_driver(object: &mut Map) {
    object.within("spec", |spec| {
        spec.default("attachRequired", true);
        spec.default("podInfoOnMount", false);
        spec.default("storageCapacity", false);
        spec.default("fsGroupPolicy", "ReadWriteOnceWithFSType");
        spec.default("volumeLifecycleModes", vec![Value::str("Persistent")]);
        spec.default("requiresRepublish", false);
        spec.default("seLinuxMount", false);
    });
}
