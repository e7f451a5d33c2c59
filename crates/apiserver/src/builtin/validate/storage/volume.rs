//! Persistent volumes.

use model::{Map, Value};

use super::super::amount::positive;
use super::super::at::At;
use super::super::diff;
use super::super::errors::{Errors, IMMUTABLE};
use super::super::name;
use super::super::pod::{node_selector, not_up};
use super::claim::{VOLUME_MODES, access_modes, basic};
use super::disk;

/// A new volume.
pub(in super::super) fn volume(object: &At, errors: &mut Errors) {
    check(object, errors);
    mount_options(object, errors);
}

fn check(object: &At, errors: &mut Errors) {
    let metadata = object.get("metadata");
    spec(&object.get("spec"), metadata.text_of("name"), errors);
}

/// Only some kinds of volumes take options from the annotation.
fn mount_options(object: &At, errors: &mut Errors) {
    const NAME: &str = "volume.beta.kubernetes.io/mount-options";
    let spec = object.get("spec");
    let takes_none = |name: &str| {
        matches!(
            name,
            "hostPath"
                | "flocker"
                | "fc"
                | "flexVolume"
                | "portworxVolume"
                | "scaleIO"
                | "local"
                | "storageos"
                | "csi"
        )
    };
    let takes = SOURCES
        .iter()
        .any(|(name, _)| spec.has(name) && !takes_none(name));
    let metadata = object.get("metadata");
    let notes = metadata.get("annotations");
    if notes.has(NAME) && !takes {
        errors.forbidden(
            &notes.get(NAME),
            "may not specify mount options for this volume type",
        );
    }
}

fn spec(at: &At, own_name: &str, errors: &mut Errors) {
    let modes = at.get("accessModes");
    if modes.is_empty() {
        errors.required(&modes, "");
    }
    access_modes(&modes, errors);
    capacity(&at.get("capacity"), errors);
    let policy = at.txt("persistentVolumeReclaimPolicy");
    if !policy.text().is_empty() {
        errors.one_of(&policy, &["Delete", "Recycle", "Retain"]);
    }
    node_affinity(&at.get("nodeAffinity"), errors);
    source(at, own_name, errors);
    let path = at.deep("hostPath.path");
    if path.is_set() && is_root(path.text()) && policy.text() == "Recycle" {
        errors.forbidden(&policy, "may not be 'recycle' for a hostPath mount of '/'");
    }
    let class = at.txt("storageClassName");
    if !class.text().is_empty() {
        errors.each(&class, name::subdomain(class.text()));
    }
    errors.one_of_if_set(&at.get("volumeMode"), &VOLUME_MODES);
    let attributes = at.get("volumeAttributesClassName");
    if attributes.is_set() {
        match attributes.text() {
            "" => errors.required(&attributes, "an empty string is disallowed"),
            text => errors.each(&attributes, name::subdomain(text)),
        }
        if !at.has("csi") {
            let detail = "has to be specified when using volumeAttributesClassName";
            errors.required(&at.get("csi"), detail);
        }
    }
}

fn capacity(at: &At, errors: &mut Errors) {
    if at.is_empty() {
        errors.required(at, "");
    }
    if !at.has("storage") || at.len() > 1 {
        errors.not_supported(at, &["storage"]);
    }
    for (_, size) in at.entries() {
        basic(&size, errors);
        positive(&size, errors);
    }
}

fn node_affinity(at: &At, errors: &mut Errors) {
    if !at.is_set() {
        return;
    }
    let required = at.get("required");
    match required.is_set() {
        true => node_selector(&required, errors),
        false => errors.required(&required, "must specify required node constraints"),
    }
}

/// Whether a path is that of the root in a roundabout way.
fn is_root(path: &str) -> bool {
    let depth = path.split('/').fold(0usize, |depth, part| match part {
        "" | "." => depth,
        ".." => depth.saturating_sub(1),
        _ => depth + 1,
    });
    path.starts_with('/') && depth == 0
}

type Check = fn(&At, &mut Errors);

/// The kinds of volumes in the order in which they are looked at.
pub(super) const SOURCES: &[(&str, Check)] = &[
    ("hostPath", disk::host_path),
    ("gcePersistentDisk", disk::gce),
    ("awsElasticBlockStore", disk::aws),
    ("glusterfs", glusterfs),
    ("flocker", disk::flocker),
    ("nfs", disk::nfs),
    ("rbd", disk::rbd),
    ("quobyte", disk::quobyte),
    ("cephfs", disk::cephfs),
    ("iscsi", disk::iscsi),
    ("cinder", cinder),
    ("fc", disk::fibre_channel),
    ("flexVolume", disk::flex),
    ("azureFile", azure_file),
    ("vsphereVolume", disk::vsphere),
    ("photonPersistentDisk", disk::photon),
    ("portworxVolume", disk::portworx),
    ("azureDisk", disk::azure_disk),
    ("scaleIO", disk::scale_io),
    ("local", local),
    ("storageos", storage_os),
    ("csi", csi),
];

fn source(spec: &At, own_name: &str, errors: &mut Errors) {
    let mut count = 0;
    for (field, check) in SOURCES {
        let at = spec.get(field);
        if !at.is_set() {
            continue;
        }
        if count > 0 && *field != "flexVolume" {
            let shown = if *field == "cephfs" { "cephFS" } else { field };
            errors.forbidden(&at.called(shown), "may not specify more than 1 volume type");
            continue;
        }
        count += 1;
        match *field {
            "gcePersistentDisk" => check(&at.called("persistentDisk"), errors),
            "iscsi" => disk::iscsi_volume(&at, own_name, errors),
            _ => check(&at, errors),
        }
        if *field == "local" && !spec.has("nodeAffinity") {
            errors.required(&spec.get("nodeAffinity"), "Local volume requires node affinity");
        }
    }
    if count == 0 {
        errors.required(spec, "must specify a volume type");
    }
}

fn glusterfs(at: &At, errors: &mut Errors) {
    disk::glusterfs(at, errors);
    let namespace = at.get("endpointsNamespace");
    match namespace.text() {
        _ if !namespace.is_set() => {}
        "" => {
            let detail = "if the endpointnamespace is set, it must be a valid namespace name";
            errors.invalid(&namespace, detail);
        }
        text => errors.each(&namespace, name::label(text)),
    }
}

fn cinder(at: &At, errors: &mut Errors) {
    disk::cinder(at, errors);
    let secret = at.get("secretRef");
    if secret.is_set() {
        errors.require_text(&secret.txt("namespace"));
    }
}

fn storage_os(at: &At, errors: &mut Errors) {
    disk::storage_os(at, errors);
    let secret = at.get("secretRef");
    if secret.is_set() {
        errors.require_text(&secret.txt("namespace"));
    }
}

fn azure_file(at: &At, errors: &mut Errors) {
    disk::azure_file(at, errors);
    let namespace = at.get("secretNamespace");
    if namespace.is_set() {
        errors.require_text(&namespace);
    }
}

fn local(at: &At, errors: &mut Errors) {
    let path = at.txt("path");
    if errors.require_text(&path) {
        not_up(&path, errors);
    }
}

fn csi(at: &At, errors: &mut Errors) {
    disk::driver_name(&at.txt("driver"), errors);
    errors.require_text(&at.txt("volumeHandle"));
    for secret in [
        "controllerPublishSecretRef",
        "controllerExpandSecretRef",
        "nodePublishSecretRef",
        "nodeExpandSecretRef",
    ] {
        let secret = at.get(secret);
        if !secret.is_set() {
            continue;
        }
        let (name_at, namespace) = (secret.txt("name"), secret.txt("namespace"));
        if errors.require_text(&name_at) {
            errors.each(&name_at, name::subdomain(name_at.text()));
        }
        if errors.require_text(&namespace) {
            errors.each(&namespace, name::label(namespace.text()));
        }
    }
}

/// A changed volume.
pub(in super::super) fn volume_update(object: &At, old: &At, errors: &mut Errors) {
    volume(object, errors);
    check(object, errors);
    let (new_spec, old_spec) = (object.get("spec"), old.get("spec"));
    let (mut source, old_source) = (source_of(&new_spec), source_of(&old_spec));
    let secret = ["csi", "controllerExpandSecretRef"];
    if old_source.at(&["csi"]).is_some() && old_source.at(&secret).is_none() {
        source.remove_at(&secret);
    }
    if source != old_source {
        let difference = diff::of_values("core.PersistentVolumeSource", &old_source, &source);
        let detail = format!("spec.persistentvolumesource is immutable after creation\n{difference}");
        errors.forbidden(&new_spec.get("persistentvolumesource"), detail);
    }
    let mode = new_spec.get("volumeMode");
    errors.immutable(
        &object.get("volumeMode").with(mode.value()),
        &old_spec.get("volumeMode"),
    );
    let (nodes, old_nodes) = (new_spec.get("nodeAffinity"), old_spec.get("nodeAffinity"));
    if old_nodes.is_set() && with_new_labels(old_nodes.value(), nodes.value()) != *nodes.value() {
        let here = object.get("nodeAffinity");
        let detail = format!("{IMMUTABLE}, except for updating from beta label to GA");
        errors.invalid_as(&here.with(nodes.value()), "*core.VolumeNodeAffinity", detail);
    }
    let (class, old_class) = (
        new_spec.get("volumeAttributesClassName"),
        old_spec.get("volumeAttributesClassName"),
    );
    if old_class.is_set() && !class.is_set() {
        errors.forbidden(&class, "update from non-nil value to nil is forbidden");
    }
}

/// What the volume is on.
fn source_of(spec: &At) -> Value {
    let parts = SOURCES.iter().filter(|(name, _)| spec.has(name));
    let parts: Map = parts
        .map(|(name, _)| (*name, spec.get(name).value().clone()))
        .collect();
    parts.into()
}

/// The old choice of nodes with the names that labels of nodes have by now, where the new choice uses them.
fn with_new_labels(old: &Value, new: &Value) -> Value {
    const RENAMED: [(&str, &str); 5] = [
        (
            "failure-domain.beta.kubernetes.io/zone",
            "topology.kubernetes.io/zone",
        ),
        (
            "failure-domain.beta.kubernetes.io/region",
            "topology.kubernetes.io/region",
        ),
        ("beta.kubernetes.io/os", "kubernetes.io/os"),
        ("beta.kubernetes.io/arch", "kubernetes.io/arch"),
        (
            "beta.kubernetes.io/instance-type",
            "node.kubernetes.io/instance-type",
        ),
    ];
    let mut old = old.clone();
    let new_terms = new.list_at(&["required", "nodeSelectorTerms"]);
    let terms = old
        .at_mut(&["required", "nodeSelectorTerms"])
        .and_then(Value::as_array_mut);
    for (term, new_term) in terms.into_iter().flatten().zip(new_terms) {
        for list in ["matchExpressions", "matchFields"] {
            let new_list = new_term.list_at(&[list]);
            let requirements = term.get_mut(list).and_then(Value::as_array_mut);
            for (requirement, new) in requirements.into_iter().flatten().zip(new_list) {
                let renamed = (requirement.str_at(&["key"]), new.str_at(&["key"]));
                if RENAMED.contains(&renamed) {
                    requirement.set_at(&["key"], renamed.1);
                }
            }
        }
    }
    old
}
