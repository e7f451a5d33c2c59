//! Claims for volumes.

use model::Value;

use super::super::amount::{amount, not_negative, positive};
use super::super::at::At;
use super::super::diff;
use super::super::errors::Errors;
use super::super::name;
use super::super::selector::{label_key, selector};

pub(super) const ACCESS_MODES: [&str; 4] = [
    "ReadOnlyMany",
    "ReadWriteMany",
    "ReadWriteOnce",
    "ReadWriteOncePod",
];
pub(super) const VOLUME_MODES: [&str; 2] = ["Block", "Filesystem"];
const OLD_CLASS: &str = "volume.beta.kubernetes.io/storage-class";

/// A new claim.
pub(in super::super) fn claim(object: &At, errors: &mut Errors) {
    spec(&object.get("spec"), errors);
}

/// The spec of a claim.
pub(in super::super) fn spec(at: &At, errors: &mut Errors) {
    let modes = at.get("accessModes");
    if modes.is_empty() {
        errors.required(&modes, "at least 1 access mode is required");
    }
    selector(&at.get("selector"), errors);
    access_modes(&modes, errors);
    let resources = at.get("resources");
    let asked = resources.get("requests");
    let size = resources.key("storage");
    let size = size.with(asked.key("storage").value());
    match size.is_set() {
        true => positive(&size, errors),
        false => errors.required(&size, ""),
    }
    let class = at.get("storageClassName");
    if !class.text().is_empty() {
        errors.each(&class, name::subdomain(class.text()));
    }
    errors.one_of_if_set(&at.get("volumeMode"), &VOLUME_MODES);
    sources(at, errors);
    let attributes = at.get("volumeAttributesClassName");
    if !attributes.text().is_empty() {
        errors.each(&attributes, name::subdomain(attributes.text()));
    }
}

/// Ways to use a volume; one of them goes with no other.
pub(super) fn access_modes(at: &At, errors: &mut Errors) {
    let (mut alone, mut shared) = (false, false);
    for mode in at.items() {
        if !ACCESS_MODES.contains(&mode.text()) {
            errors.not_supported(&at.with(mode.value()), &ACCESS_MODES);
        } else if mode.text() == "ReadWriteOncePod" {
            alone = true;
        } else {
            shared = true;
        }
    }
    if alone && shared {
        errors.forbidden(at, "may not use ReadWriteOncePod with other access modes");
    }
}

/// Where the data comes from.
fn sources(spec: &At, errors: &mut Errors) {
    let (source, reference) = (spec.get("dataSource"), spec.get("dataSourceRef"));
    for at in [&source, &reference] {
        if !at.is_set() {
            continue;
        }
        errors.require_text(&at.txt("name"));
        errors.require_text(&at.txt("kind"));
        let group = at.txt("apiGroup");
        if group.text().is_empty() && at.text_of("kind") != "PersistentVolumeClaim" {
            let detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
            errors.invalid_value(at, at.text_of("kind"), detail);
        }
        if !group.text().is_empty() {
            errors.each(&group, name::subdomain(group.text()));
        }
    }
    let namespace = reference.txt("namespace");
    if !namespace.text().is_empty() {
        errors.each(&namespace, name::label(namespace.text()));
    }
    if !source.is_set() || !reference.is_set() {
        return;
    }
    // The real server shows a part of its own here, which has nothing that JSON could show.
    let shown = Value::object();
    let here = spec.with(&shown);
    if !namespace.text().is_empty() {
        errors.invalid(
            &here,
            "may not be specified when dataSourceRef.namespace is specified",
        );
    } else if ["apiGroup", "kind", "name"]
        .iter()
        .any(|name| source.get(name).value() != reference.get(name).value())
    {
        errors.invalid(&here, "must match dataSourceRef");
    }
}

/// A changed claim.
pub(in super::super) fn claim_update(object: &At, old: &At, errors: &mut Errors) {
    claim(object, errors);
    let (new_spec, old_spec) = (object.get("spec"), old.get("spec"));
    let (mut new, mut before) = (new_spec.value().clone(), old_spec.value().clone());
    if before.str_at(&["volumeName"]).is_empty() {
        put(&mut before, "volumeName", new.get("volumeName").cloned());
    }
    class(object, old, &mut new, errors);
    let bound = object.get("status").text_of("phase") == "Bound";
    if bound {
        if let Some(size) = before.at(&["resources", "requests", "storage"]).cloned() {
            new.set_at(&["resources", "requests", "storage"], size);
        }
        let attributes = before.get("volumeAttributesClassName").cloned();
        put(&mut new, "volumeAttributesClassName", attributes);
    }
    if new != before {
        let difference = diff::of_values("core.PersistentVolumeClaimSpec", &before, &new);
        errors.forbidden(
            &new_spec,
            format!(
                "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound \
                 claims\n{difference}"
            ),
        );
    }
    let size = new_spec.deep("resources.requests.storage");
    let old_size = old_spec.deep("resources.requests.storage");
    let held = old.deep("status.capacity.storage");
    if amount(size.value()) < amount(old_size.value()) && amount(size.value()) <= amount(held.value()) {
        errors.forbidden(&size, "field can not be less than status.capacity");
    }
    let mode = new_spec.get("volumeMode");
    errors.immutable(
        &object.get("volumeMode").with(mode.value()),
        &old_spec.get("volumeMode"),
    );
    attributes(&new_spec, &old_spec, old, errors);
}

/// The class of a claim may be filled in, or move from its old place to the field.
fn class(object: &At, old: &At, new: &mut Value, errors: &mut Errors) {
    let (notes, old_notes) = (
        object.deep("metadata.annotations"),
        old.deep("metadata.annotations"),
    );
    let (note, old_note) = (notes.key(OLD_CLASS), old_notes.key(OLD_CLASS));
    let (class, old_class) = (
        object.deep("spec.storageClassName"),
        old.deep("spec.storageClassName"),
    );
    let fills = class.is_set() && !old_class.is_set();
    let same = class.value() == old_note.value();
    if fills && old_note.is_set() && same && (!note.is_set() || note.value() == old_note.value()) {
        new.remove_at(&["storageClassName"]);
        return;
    }
    if note.text() != old_note.text() {
        let metadata = object.get("metadata");
        let here = metadata.get("annotations");
        errors.invalid_value(&here.get(OLD_CLASS), note.text(), super::super::errors::IMMUTABLE);
    }
    if fills && (!old_note.is_set() || same) {
        new.remove_at(&["storageClassName"]);
    }
}

fn attributes(spec: &At, old_spec: &At, old: &At, errors: &mut Errors) {
    let at = spec.get("volumeAttributesClassName");
    let current = old.deep("status.currentVolumeAttributesClassName");
    if at.value() == old_spec.get("volumeAttributesClassName").value() || !current.is_set() {
        return;
    }
    let what = match at.text() {
        _ if !at.is_set() => "nil",
        "" => "empty string",
        _ => return,
    };
    let detail =
        format!("update to {what} is forbidden when status.currentVolumeAttributesClassName is not nil");
    errors.forbidden(&at, detail);
}

fn put(object: &mut Value, name: &str, value: Option<Value>) {
    match value {
        Some(value) => object.set_at(&[name], value),
        None => drop(object.remove_at(&[name])),
    }
}

/// A changed status.
pub(in super::super) fn claim_status(object: &At, _old: &At, errors: &mut Errors) {
    let modes = object.deep("spec.accessModes");
    if modes.is_empty() {
        errors.required(&modes.called("Spec.accessModes"), "");
    }
    let status = object.get("status");
    for (_, held) in status.get("capacity").entries() {
        basic(&held, errors);
    }
    const STATUSES: [&str; 5] = [
        "ControllerResizeInProgress",
        "ControllerResizeInfeasible",
        "NodeResizeInProgress",
        "NodeResizeInfeasible",
        "NodeResizePending",
    ];
    let statuses = status.get("allocatedResourceStatuses");
    for (name, one) in statuses.entries() {
        let shown = Value::str(name);
        resource_key(&statuses.with(&shown), errors);
        if !STATUSES.contains(&one.text()) {
            errors.not_supported(&statuses.with(&shown), &STATUSES);
        }
    }
    let allocated = status.get("allocatedResources");
    for (name, one) in allocated.entries() {
        let shown = Value::str(name);
        if resource_key(&allocated.with(&shown), errors) && basic(&one, errors) {
            not_negative(&one, errors);
        }
    }
}

/// The name of a resource that volumes have. Returns whether it is right.
fn resource_key(at: &At, errors: &mut Errors) -> bool {
    let before = errors.len();
    label_key(at, errors);
    let name = at.text();
    let native = !name.contains('/') || name.contains("kubernetes.io/");
    if errors.len() == before && native && name != "storage" {
        errors.not_supported(at, &["storage"]);
    }
    errors.len() == before
}

/// An amount that is not negative. Returns whether it is right.
pub(super) fn basic(at: &At, errors: &mut Errors) -> bool {
    let amount = amount(at.value());
    if amount.is_negative() {
        let whole = amount.as_f64().floor() as i64;
        errors.invalid_value(at, whole, "must be a valid resource quantity");
    }
    !amount.is_negative()
}
