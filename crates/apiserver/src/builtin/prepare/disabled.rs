//! Fields of features that are off by default: they are dropped, unless the object has them already.

use model::{Map, Value};
use smd::schema::Gvk;

use crate::builtin::fields::Fields;

/// Drops what `object` may not have; `old` is what it was before, if it was.
pub(super) fn drop_fields(gvk: &Gvk, object: &mut Map, old: Option<&Value>) {
    if gvk.group == "apps" && gvk.kind == "StatefulSet" {
        let path = ["spec", "updateStrategy", "rollingUpdate"];
        let field = [path[0], path[1], path[2], "maxUnavailable"];
        if old.and_then(|old| old.at(&field)).is_none() {
            at(object, &path, |rolling| drop(rolling.remove("maxUnavailable")));
        }
    }
    let path: &[&str] = match (gvk.group.as_str(), gvk.kind.as_str()) {
        ("", "Pod") => &["spec"],
        ("", "PodTemplate") => &["template", "spec"],
        ("apps", _) | ("batch", "Job") | ("", "ReplicationController") => &["spec", "template", "spec"],
        ("batch", "CronJob") => &["spec", "jobTemplate", "spec", "template", "spec"],
        _ => return,
    };
    let old = old.and_then(|old| old.at(path));
    at(object, path, |spec| pod_spec(spec, old));
}

fn pod_spec(spec: &mut Map, old: Option<&Value>) {
    if old.and_then(|old| old.get("workloadRef")).is_none() {
        spec.remove("workloadRef");
    }
    if !old.is_some_and(has_stop_signal) {
        for list in ["containers", "initContainers", "ephemeralContainers"] {
            spec.each(list, drop_stop_signal);
        }
    }
    for source in ["clusterTrustBundle", "podCertificate"] {
        if !old.is_some_and(|old| has_projection(old, source)) {
            spec.each("volumes", |volume| {
                volume.within("projected", |projected| {
                    projected.each("sources", |one| drop(one.remove(source)))
                });
            });
        }
    }
}

/// A lifecycle that says nothing else goes with it.
fn drop_stop_signal(container: &mut Map) {
    let Some(lifecycle) = container.child("lifecycle") else {
        return;
    };
    if lifecycle.remove("stopSignal").is_some() && lifecycle.is_empty() {
        container.remove("lifecycle");
    }
}

fn has_stop_signal(spec: &Value) -> bool {
    let lists = ["containers", "initContainers", "ephemeralContainers"];
    lists
        .iter()
        .flat_map(|list| spec.list_at(&[list]))
        .any(|one| one.at(&["lifecycle", "stopSignal"]).is_some())
}

fn has_projection(spec: &Value, source: &str) -> bool {
    let volumes = spec.list_at(&["volumes"]).iter();
    volumes
        .flat_map(|volume| volume.list_at(&["projected", "sources"]))
        .any(|one| one.get(source).is_some())
}

/// Does `change` to the map at the end of `path`, if there is one.
fn at(object: &mut Map, path: &[&str], change: impl FnOnce(&mut Map)) {
    match path.split_first() {
        None => change(object),
        Some((first, rest)) => {
            if let Some(child) = object.child(first) {
                at(child, rest, change);
            }
        }
    }
}
