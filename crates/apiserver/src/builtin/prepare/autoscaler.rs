//! Version 1 of autoscalers keeps part of its spec and status in annotations, so that what a write may change can only be
//! told in version 2.

use model::{Map, Value, value};
use smd::schema::Gvk;

use crate::builtin::convert::autoscaler::{to_v1, to_v2};
use crate::builtin::fields::Fields;
use crate::strategy::Part;

/// The kind in which a version 1 is to be prepared.
pub(super) fn newer(gvk: &Gvk) -> Option<Gvk> {
    let old = gvk.group == "autoscaling" && gvk.version == "v1" && gvk.kind == "HorizontalPodAutoscaler";
    old.then(|| Gvk {
        version: "v2".into(),
        ..gvk.clone()
    })
}

/// Drops the status of a new version 1, wherever it stands.
pub(super) fn create(object: &mut Map) {
    to_v2(object);
    object.insert("status", value!({ "desiredReplicas": 0 }));
    to_v1(object);
}

/// Prepares an update as `newer`.
pub(super) fn update(newer: &Gvk, part: Part, object: &mut Value, old: &Value) {
    let mut old = old.clone();
    to_v2(old.make_object());
    to_v2(object.make_object());
    super::update(newer, part, object, &old);
    to_v1(object.make_object());
    // Both are empty where nothing was scaled yet.
    object.make_object().make("status").fill("desiredReplicas", 0);
}
