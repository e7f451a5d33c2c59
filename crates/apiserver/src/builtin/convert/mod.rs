//! Objects that are served in several versions or groups, turned from one form into the other.

pub(super) mod autoscaler;
mod event;
mod metric;

use model::Value;
use smd::schema::Gvk;

/// Turns `object`, which is of the kind `from`, into `to`, another version or group that serves the same objects, and
/// sets its `apiVersion`. Both forms are decoded and defaulted ones.
///
/// Returns whether there is such a way; most kinds are served in one version only.
pub fn convert(object: &mut Value, from: &Gvk, to: &Gvk) -> bool {
    if from.kind != to.kind {
        return false;
    }
    let Some(map) = object.as_object_mut() else {
        return false;
    };
    match (from.kind.as_str(), key(from), key(to)) {
        (_, from, to) if from == to => {}
        ("HorizontalPodAutoscaler", ("autoscaling", "v1"), ("autoscaling", "v2")) => autoscaler::to_v2(map),
        ("HorizontalPodAutoscaler", ("autoscaling", "v2"), ("autoscaling", "v1")) => autoscaler::to_v1(map),
        ("Event", ("", "v1"), ("events.k8s.io", "v1")) => event::to_events(map),
        ("Event", ("events.k8s.io", "v1"), ("", "v1")) => event::to_core(map),
        _ => return false,
    }
    map.insert("apiVersion", api_version(to));
    true
}

/// The group and version in which objects of a kind are kept, where that is another than the one asked for.
pub fn stored_as(gvk: &Gvk) -> Gvk {
    let (group, version) = match (key(gvk), gvk.kind.as_str()) {
        (("autoscaling", "v1"), "HorizontalPodAutoscaler") => ("autoscaling", "v2"),
        (("events.k8s.io", "v1"), "Event") => ("", "v1"),
        (same, _) => same,
    };
    Gvk {
        group: group.into(),
        version: version.into(),
        kind: gvk.kind.clone(),
    }
}

fn key(gvk: &Gvk) -> (&str, &str) {
    (&gvk.group, &gvk.version)
}

fn api_version(gvk: &Gvk) -> String {
    match gvk.group.as_str() {
        "" => gvk.version.to_string(),
        group => format!("{group}/{}", gvk.version),
    }
}
