//! The volumes of a pod.

use std::collections::{HashMap, HashSet};

use super::super::amount::amount;
use super::super::at::At;
use super::super::errors::Errors;
use super::super::storage::{claim, disk};
use super::super::text::goes_up;
use super::super::{name, selector};
use super::projected::{downward_api, key_to_path, mode, projected};
use super::{Holder, container};

/// How volumes can be used by containers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// As a file system.
    Files,
    /// As a file system or as a device.
    Claim,
}

/// The volumes that are right, by name.
pub(super) type Volumes<'v> = HashMap<&'v str, Use>;

/// Checks the volumes of a pod and returns those that mounts may name.
pub(super) fn volumes<'v>(at: &At<'_, 'v>, holder: &Holder, errors: &mut Errors) -> Volumes<'v> {
    let mut known = Volumes::new();
    let made: HashSet<String> = match holder.pod_name() {
        Some(pod) => at
            .items()
            .filter(|volume| volume.has("ephemeral"))
            .map(|volume| format!("{pod}-{}", volume.text_of("name")))
            .collect(),
        None => HashSet::new(),
    };
    for volume in at.items() {
        let before = errors.len();
        source(&volume, holder, errors);
        let name_at = volume.txt("name");
        if errors.require_text(&name_at) {
            errors.each(&name_at, name::label(name_at.text()));
        }
        if known.contains_key(name_at.text()) {
            errors.duplicate(&name_at);
        }
        if errors.len() == before {
            let is_claim = volume.has("persistentVolumeClaim") || volume.has("ephemeral");
            let how = if is_claim { Use::Claim } else { Use::Files };
            known.insert(name_at.text(), how);
        }
        let claim = volume.get("persistentVolumeClaim");
        let claim_name = claim.txt("claimName");
        if claim.is_set() && made.contains(claim_name.text()) {
            errors.invalid(
                &claim_name,
                "must not reference a PVC that gets created for an ephemeral volume",
            );
        }
    }
    known
}

type Check = fn(&At, &mut Errors);

/// The kinds of volumes, each with the check of its settings. Those that need to know more are checked by [`source`].
const SOURCES: &[(&str, Check)] = &[
    ("emptyDir", empty_dir),
    ("hostPath", disk::host_path),
    ("gitRepo", git_repo),
    ("gcePersistentDisk", disk::gce),
    ("awsElasticBlockStore", disk::aws),
    ("secret", secret),
    ("nfs", disk::nfs),
    ("iscsi", disk::iscsi),
    ("glusterfs", disk::glusterfs),
    ("flocker", disk::flocker),
    ("persistentVolumeClaim", claim_volume),
    ("rbd", disk::rbd),
    ("cinder", disk::cinder),
    ("cephfs", disk::cephfs),
    ("quobyte", disk::quobyte),
    ("downwardAPI", downward_api),
    ("fc", disk::fibre_channel),
    ("flexVolume", disk::flex),
    ("configMap", config_map),
    ("azureFile", disk::azure_file),
    ("vsphereVolume", disk::vsphere),
    ("photonPersistentDisk", disk::photon),
    ("portworxVolume", disk::portworx),
    ("azureDisk", disk::azure_disk),
    ("storageos", disk::storage_os),
    ("projected", projected),
    ("scaleIO", disk::scale_io),
    ("csi", csi),
    ("ephemeral", ephemeral),
    ("image", |_, _| {}),
];

fn source(volume: &At, holder: &Holder, errors: &mut Errors) {
    let mut count = 0;
    for (field, check) in SOURCES {
        let at = volume.get(field);
        if !at.is_set() {
            continue;
        }
        if count > 0 {
            errors.forbidden(
                &at.called(second_name(field)),
                "may not specify more than 1 volume type",
            );
            continue;
        }
        count += 1;
        match *field {
            "gcePersistentDisk" => check(&at.called("persistentDisk"), errors),
            "image" => image(&at, holder, errors),
            "ephemeral" => {
                check(&at, errors);
                claim_of_ephemeral(volume, holder, errors);
            }
            _ => check(&at, errors),
        }
    }
    let portal = volume.get("iscsi");
    let name_at = volume.txt("name");
    if portal.has("initiatorName") && name_at.text().len() + 1 + portal.text_of("targetPortal").len() > 64 {
        errors.invalid(&name_at, disk::LONG_PORTAL);
    }
    if count == 0 {
        errors.required(volume, "must specify a volume type");
    }
}

/// What the real server calls a second source, misspellings among it.
fn second_name(field: &str) -> &str {
    match field {
        "cephfs" => "cephFS",
        "downwardAPI" => "downwarAPI",
        field => field,
    }
}

fn empty_dir(at: &At, errors: &mut Errors) {
    let size = at.get("sizeLimit");
    if amount(size.value()).is_negative() {
        errors.forbidden(&size, "SizeLimit field must be a valid resource quantity");
    }
}

fn git_repo(at: &At, errors: &mut Errors) {
    errors.require_text(&at.txt("repository"));
    super::path::local(&at.txt("directory"), errors);
}

fn secret(at: &At, errors: &mut Errors) {
    errors.require_text(&at.txt("secretName"));
    files(at, errors);
}

fn config_map(at: &At, errors: &mut Errors) {
    errors.require_text(&at.txt("name"));
    files(at, errors);
}

fn files(at: &At, errors: &mut Errors) {
    mode(&at.get("defaultMode"), errors);
    for item in at.get("items").items() {
        key_to_path(&item, errors);
    }
}

fn claim_volume(at: &At, errors: &mut Errors) {
    errors.require_text(&at.txt("claimName"));
}

fn csi(at: &At, errors: &mut Errors) {
    disk::driver_name(&at.txt("driver"), errors);
    let secret = at.get("nodePublishSecretRef");
    if secret.is_set() {
        let name_at = secret.txt("name");
        if errors.require_text(&name_at) {
            for problem in name::subdomain(name_at.text()) {
                errors.invalid_value(&at.txt("name"), name_at.text(), problem);
            }
        }
    }
}

fn ephemeral(at: &At, errors: &mut Errors) {
    let template = at.get("volumeClaimTemplate");
    if !template.is_set() {
        errors.required(&template, "");
        return;
    }
    let metadata = template.get("metadata");
    selector::annotations(&metadata.get("annotations"), errors);
    selector::labels(&metadata.get("labels"), errors);
    for (field, _) in metadata.entries() {
        if !matches!(field, "annotations" | "labels" | "creationTimestamp") {
            errors.forbidden(&metadata.get(field), "cannot be set");
        }
    }
    claim::spec(&template.get("spec"), errors);
}

/// The claim that is made for the volume is named after the pod and the volume.
fn claim_of_ephemeral(volume: &At, holder: &Holder, errors: &mut Errors) {
    let name_at = volume.txt("name");
    if let Some(pod) = holder.pod_name()
        && !name_at.text().is_empty()
    {
        let claim = format!("{pod}-{}", name_at.text());
        for problem in name::subdomain(&claim) {
            errors.invalid(&name_at, format!("PVC name {claim:?}: {problem}"));
        }
    }
}

fn image(at: &At, holder: &Holder, errors: &mut Errors) {
    if holder.is_pod() {
        errors.require_text(&at.txt("reference"));
    }
    container::pull_policy(&at.txt("pullPolicy"), errors);
}

/// What environment variables take from a file must be in a volume that starts empty.
pub(super) fn variable_files(spec: &At, errors: &mut Errors) {
    let volumes = spec.get("volumes");
    super::each_container(spec, &mut |container| {
        for variable in container.get("env").items() {
            let file = variable.get("valueFrom");
            let file = file.get("fileKeyRef");
            if !file.is_set() {
                continue;
            }
            let name_at = file.txt("volumeName");
            let named = |volume: &At| volume.text_of("name") == name_at.text();
            match volumes.items().filter(named).last() {
                None => errors.not_found(&name_at, ""),
                Some(volume) if !volume.has("emptyDir") => {
                    errors.invalid(&name_at, "referenced volume must be of type emptyDir");
                }
                Some(_) => {}
            }
        }
    });
}

/// A path to a file of a variable.
pub(super) fn file_key(at: &At, errors: &mut Errors) {
    let key = at.txt("key");
    if errors.require_text(&key) {
        errors.each(
            &key,
            super::super::text::variable(key.text()).into_iter().collect(),
        );
    }
    let volume = at.txt("volumeName");
    if errors.require_text(&volume) {
        errors.each(&volume, name::label(volume.text()));
    }
    let path = at.txt("path");
    if errors.require_text(&path) && goes_up(path.text()) {
        errors.invalid(&path, "must not contain '..'");
    }
}
