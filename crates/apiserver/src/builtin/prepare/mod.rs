//! Readying objects to be stored: which part a write may change, how the generation counts, and what the server itself
//! adds to new objects.

mod affinity;
mod autoscaler;
mod certificate;
mod claim;
mod definition;
mod disabled;
mod job;
mod pod;
mod service;

use model::{Map, Value};
use smd::TypeId;
use smd::schema::Gvk;

use super::counter::TEMPLATE_GENERATION;
use super::fields::Fields;
use super::traits::{self, Keeps};
use crate::strategy::Part;
use smd::go::GoTypes;

/// Readies a new object. Its `metadata.name`, `uid` and `creationTimestamp` are set already.
pub fn create(types: &GoTypes, ty: TypeId, gvk: &Gvk, object: &mut Value) {
    let Some(object) = object.as_object_mut() else {
        return;
    };
    let traits = traits::of(&gvk.group, &gvk.kind);
    if traits.starts_generation {
        object.make("metadata").insert("generation", 1);
    }
    let class = pod::given_class(gvk, object);
    // What a node's status says it tells itself when it joins.
    if traits.has_status && gvk.kind != "Node" {
        reset_status(types, ty, object);
    }
    disabled::drop_fields(gvk, object, None);
    match (gvk.group.as_str(), gvk.kind.as_str()) {
        ("autoscaling", _) if gvk.version == "v1" => autoscaler::create(object),
        ("", "Pod") => {
            pod::create(object, class);
            affinity::expand_label_keys(object);
        }
        ("", "Namespace") => namespace(object),
        ("", "PersistentVolume") => claim::create_volume(object),
        ("", "PersistentVolumeClaim") => claim::create(object),
        ("", "ServiceAccount") => service_account(object),
        ("apps", "DaemonSet") => daemon_set(object),
        ("batch", "Job") => job::create(object),
        ("certificates.k8s.io", "CertificateSigningRequest") => certificate::create(object),
        ("discovery.k8s.io", "EndpointSlice") => endpoint_slice(object),
        ("apiregistration.k8s.io", "APIService") => service::create_api_service(object),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => definition::keep_stored_versions(object),
        _ => {}
    }
}

/// Readies an update of `part` of `old` to `object`.
pub fn update(gvk: &Gvk, part: Part, object: &mut Value, old: &Value) {
    if let Some(newer) = autoscaler::newer(gvk) {
        return autoscaler::update(&newer, part, object, old);
    }
    let Some(object) = object.as_object_mut() else {
        return;
    };
    let traits = traits::of(&gvk.group, &gvk.kind);
    object
        .make("metadata")
        .restore("generation", old.at(&["metadata", "generation"]));
    match part {
        Part::Main => {
            if traits.has_status {
                object.restore("status", old.get("status"));
            }
            update_any(gvk, object, old);
            update_main(gvk, object, old);
            let changed = |path: &&[&str]| at(object, path) != old.at(path);
            if traits.raises_generation.iter().any(changed) {
                let generation = old
                    .at(&["metadata", "generation"])
                    .and_then(Value::as_i64)
                    .unwrap_or_default();
                object.make("metadata").insert("generation", generation + 1);
            }
        }
        Part::Status => {
            keep_all_but_status(object, old);
            keep_metadata(traits.status_keeps, object.make("metadata"), old);
            update_any(gvk, object, old);
            match (gvk.group.as_str(), gvk.kind.as_str()) {
                ("", "Pod") => pod::update_status(object, old),
                ("", "PersistentVolume") => claim::update_volume_status(object, old),
                ("certificates.k8s.io", "CertificateSigningRequest") => {
                    certificate::update_status(object, old)
                }
                _ => {}
            }
        }
    }
}

/// What an update of either part does.
fn update_any(gvk: &Gvk, object: &mut Map, old: &Value) {
    match (gvk.group.as_str(), gvk.kind.as_str()) {
        ("apps", "DaemonSet") => update_daemon_set(object, old),
        ("batch", "Job") => job::own_labels(object),
        _ => {}
    }
}

fn update_main(gvk: &Gvk, object: &mut Map, old: &Value) {
    disabled::drop_fields(gvk, object, Some(old));
    match (gvk.group.as_str(), gvk.kind.as_str()) {
        ("", "Namespace") => object
            .make("spec")
            .restore("finalizers", old.at(&["spec", "finalizers"])),
        ("", "PersistentVolumeClaim") => claim::update(object, old),
        ("", "Service") => service::update(object, old),
        ("", "ServiceAccount") => service_account(object),
        ("certificates.k8s.io", "CertificateSigningRequest") => object.restore("spec", old.get("spec")),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => definition::keep_stored_versions(object),
        _ => {}
    }
}

fn at<'a>(object: &'a Map, path: &[&str]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    object.get(first)?.at(rest)
}

fn reset_status(types: &GoTypes, ty: TypeId, object: &mut Map) {
    match types.zero(ty).get("status") {
        Some(zero) => drop(object.insert("status", zero.clone())),
        None => drop(object.remove("status")),
    }
}

/// Everything but metadata and status is as it was.
fn keep_all_but_status(object: &mut Map, old: &Value) {
    object.retain(|key, _| matches!(key, "apiVersion" | "kind" | "metadata" | "status"));
    for (key, value) in old.as_object().into_iter().flat_map(Map::iter) {
        if !matches!(key, "apiVersion" | "kind" | "metadata" | "status") {
            object.insert(key, value.clone());
        }
    }
}

fn keep_metadata(keeps: Keeps, metadata: &mut Map, old: &Value) {
    let keys: &[&str] = match keeps {
        Keeps::Nothing => &[],
        Keeps::Labels => &["labels"],
        Keeps::Owners => &["ownerReferences", "deletionTimestamp"],
        Keeps::Metadata => &[
            "labels",
            "annotations",
            "finalizers",
            "ownerReferences",
            "deletionTimestamp",
        ],
    };
    for key in keys {
        metadata.restore(key, old.at(&["metadata", key]));
    }
}

/// A namespace is deleted in two steps, of which the second is the server's.
fn namespace(object: &mut Map) {
    object.make("status").insert("phase", "Active");
    let finalizers = object.make("spec").entry("finalizers");
    if finalizers.as_array().is_none() {
        *finalizers = Value::from(Vec::new());
    }
    if let Some(finalizers) = finalizers.as_array_mut()
        && !finalizers.iter().any(|name| name.as_str() == Some("kubernetes"))
    {
        finalizers.push(Value::str("kubernetes"));
    }
}

/// Secrets are referred to by name alone.
fn service_account(object: &mut Map) {
    object.each("secrets", |reference| reference.retain(|key, _| key == "name"));
}

/// How often the template of pods changed is counted in an annotation.
fn daemon_set(object: &mut Map) {
    let annotations = object.make("metadata").make("annotations");
    let count = annotations
        .text(TEMPLATE_GENERATION)
        .parse()
        .unwrap_or(0i64)
        .max(1);
    annotations.insert(TEMPLATE_GENERATION, count.to_string());
}

fn update_daemon_set(object: &mut Map, old: &Value) {
    let mut count = old
        .str_at(&["metadata", "annotations", TEMPLATE_GENERATION])
        .parse()
        .unwrap_or(0i64);
    if at(object, &["spec", "template"]) != old.at(&["spec", "template"]) {
        count += 1;
    }
    object
        .make("metadata")
        .make("annotations")
        .insert(TEMPLATE_GENERATION, count.to_string());
}

/// The version served has no place for this old field.
fn endpoint_slice(object: &mut Map) {
    object.each("endpoints", |endpoint| {
        drop(endpoint.remove("deprecatedTopology"))
    });
}
