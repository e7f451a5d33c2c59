//! Volumes and claims start unbound.

use model::{Map, Value};

use crate::builtin::fields::Fields;

/// The status of a new volume.
pub(super) fn create_volume(object: &mut Map) {
    let now = object.make("metadata").text("creationTimestamp").to_owned();
    let status = object.make("status");
    status.insert("phase", "Pending");
    if !now.is_empty() {
        status.insert("lastPhaseTransitionTime", now);
    }
}

/// A volume whose status is written without telling since when it is in its phase.
///
/// **Deviation**: the real server also sets the time when the phase changes; here its writer must.
pub(super) fn update_volume_status(object: &mut Map, old: &Value) {
    let status = object.make("status");
    if status.text("phase") == old.str_at(&["status", "phase"])
        && let Some(since) = old.at(&["status", "lastPhaseTransitionTime"])
    {
        status.default("lastPhaseTransitionTime", since.clone());
    }
}

/// A new claim.
pub(super) fn create(object: &mut Map) {
    object.make("status").insert("phase", "Pending");
    let spec = object.make("spec");
    drop_unknown_source(spec);
    same_sources(spec);
}

/// A changed claim.
pub(super) fn update(object: &mut Map, old: &Value) {
    let spec = object.make("spec");
    if old.at(&["spec", "dataSource"]).is_none() && old.at(&["spec", "dataSourceRef"]).is_none() {
        drop_unknown_source(spec);
    }
    same_sources(spec);
}

/// The old field for the source of the data knows claims and snapshots only.
fn drop_unknown_source(spec: &mut Map) {
    if spec.contains_key("dataSourceRef") {
        return;
    }
    if let Some(source) = spec.get("dataSource") {
        let known = matches!(
            (source.str_at(&["apiGroup"]), source.str_at(&["kind"])),
            ("", "PersistentVolumeClaim") | ("snapshot.storage.k8s.io", "VolumeSnapshot")
        );
        if !known {
            spec.remove("dataSource");
        }
    }
}

/// Both fields for the source of the data say the same, unless it is in another namespace.
fn same_sources(spec: &mut Map) {
    let (source, reference) = (
        spec.get("dataSource").cloned(),
        spec.get("dataSourceRef").cloned(),
    );
    match (source, reference) {
        (Some(source), None) => drop(spec.insert("dataSourceRef", source)),
        (None, Some(reference)) if reference.str_at(&["namespace"]).is_empty() => {
            spec.insert("dataSource", reference);
        }
        _ => {}
    }
}
