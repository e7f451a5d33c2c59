//! Volumes that are attached to nodes.

use super::super::at::At;
use super::super::errors::Errors;
use super::super::name;
use super::claim::access_modes;
use super::disk::driver_name;

/// A new attachment.
pub(in super::super) fn attachment(object: &At, errors: &mut Errors) {
    check(object, errors);
    let spec = object.get("spec");
    driver_name(&spec.txt("attacher"), errors);
    let source = spec.get("source");
    let volume = source.get("persistentVolumeName");
    if volume.is_set() {
        errors.each(&volume, name::subdomain(volume.text()));
    }
}

fn check(object: &At, errors: &mut Errors) {
    let spec = object.get("spec");
    errors.require_text(&spec.txt("attacher"));
    source(&spec.get("source"), errors);
    let node = spec.txt("nodeName");
    errors.each(&node, name::subdomain(node.text()));
    let status = object.get("status");
    const MOST_BYTES: usize = 256 * 1024;
    let notes = status.get("attachmentMetadata");
    let size: usize = notes
        .entries()
        .map(|(key, value)| key.len() + value.text().len())
        .sum();
    if size > MOST_BYTES {
        errors.too_long(&notes, MOST_BYTES);
    }
    for name in ["attachError", "detachError"] {
        let error = status.get(name);
        if error.text_of("message").len() > 1024 {
            errors.too_long(&error.txt("message"), MOST_BYTES);
        }
        let code = error.num("errorCode");
        if code.int() < 0 {
            errors.invalid(&code, super::super::text::range(0, i64::from(i32::MAX)));
        }
    }
}

/// **Deviation**: of a volume that is written out in the attachment only the parts that such volumes may not have are
/// looked at, and its ways of use.
fn source(at: &At, errors: &mut Errors) {
    let (inline, named) = (at.get("inlineVolumeSpec"), at.get("persistentVolumeName"));
    let detail = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
    match (inline.is_set(), named.is_set()) {
        (false, false) => errors.required(at, detail),
        (true, true) => errors.forbidden(at, detail),
        (false, true) => {
            if named.text().is_empty() {
                errors.required(&named, "must specify non empty persistentVolumeName");
            }
        }
        (true, false) => inline_volume(&inline, errors),
    }
}

fn inline_volume(at: &At, errors: &mut Errors) {
    const DETAIL: &str = "may not be specified in the context of inline volumes";
    for field in ["claimRef", "capacity"] {
        if at.has(field) {
            errors.forbidden(&at.get(field), DETAIL);
        }
    }
    let csi = at.get("csi");
    if !csi.is_set() {
        errors.required(&csi, "has to be specified in the context of inline volumes");
    }
    let modes = at.get("accessModes");
    if modes.is_empty() {
        errors.required(&modes, "");
    }
    access_modes(&modes, errors);
    let policy = at.txt("persistentVolumeReclaimPolicy");
    if !matches!(policy.text(), "" | "Retain") {
        errors.forbidden(&policy, "may only be Retain in the context of inline volumes");
    }
    for field in ["nodeAffinity", "storageClassName"] {
        if at.has(field) {
            errors.forbidden(&at.get(field), DETAIL);
        }
    }
    let mode = at.get("volumeMode");
    if mode.is_set() && mode.text() != "Filesystem" {
        let detail = "may not specify volumeMode other than Filesystem in the context of inline volumes";
        errors.forbidden(&mode, detail);
    }
}

/// A changed attachment.
pub(in super::super) fn attachment_update(object: &At, old: &At, errors: &mut Errors) {
    check(object, errors);
    errors.immutable_as(
        &object.get("spec"),
        &old.get("spec"),
        "storage.VolumeAttachmentSpec",
    );
}
