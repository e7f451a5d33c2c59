//! Where volumes are in containers.

use std::collections::HashSet;

use super::super::at::At;
use super::super::errors::Errors;
use super::super::text::goes_up;
use super::path;
use super::volume::{Use, Volumes};

/// The mounts of a container, each with the paths of volumes that are used as devices.
pub(super) fn mounts(container: &At, volumes: &Volumes, errors: &mut Errors) {
    let at = container.get("volumeMounts");
    let devices = pairs(&container.get("volumeDevices"), "devicePath");
    let privileged = container.get("securityContext").flag_of("privileged");
    let mut taken = HashSet::new();
    for mount in at.items() {
        let name_at = mount.txt("name");
        errors.require_text(&name_at);
        if !volumes.contains_key(name_at.text()) {
            errors.not_found(&name_at, "");
        }
        let path_at = mount.txt("mountPath");
        errors.require_text(&path_at);
        if !taken.insert(path_at.text()) {
            errors.invalid(&path_at, "must be unique");
        }
        if devices.names.contains(name_at.text()) {
            errors.invalid(&name_at, "must not already exist in volumeDevices");
        }
        if devices.paths.contains(path_at.text()) {
            errors.invalid(&path_at, "must not already exist as a path in volumeDevices");
        }
        part(&at, &mount, errors);
        // The real server leaves the number of the mount out of the rest of its messages.
        let here = at.with(mount.value());
        propagation(&here.get("mountPropagation"), privileged, errors);
        recursive(&here, errors);
    }
}

fn part(list: &At, mount: &At, errors: &mut Errors) {
    let here = list.with(mount.value());
    let (sub, expression) = (here.txt("subPath"), here.txt("subPathExpr"));
    if !sub.text().is_empty() {
        path::local(&sub, errors);
    }
    if !expression.text().is_empty() {
        if !sub.text().is_empty() {
            let detail = "subPathExpr and subPath are mutually exclusive";
            errors.invalid(&mount.txt("subPathExpr"), detail);
        }
        path::local(&expression, errors);
    }
}

fn propagation(at: &At, privileged: bool, errors: &mut Errors) {
    if !at.is_set() {
        return;
    }
    errors.one_of_if_set(at, &["Bidirectional", "HostToContainer", "None"]);
    if at.text() == "Bidirectional" && !privileged {
        errors.forbidden(
            at,
            "Bidirectional mount propagation is available only to privileged containers",
        );
    }
}

fn recursive(mount: &At, errors: &mut Errors) {
    let at = mount.get("recursiveReadOnly");
    match at.text() {
        _ if !at.is_set() => {}
        "Disabled" => {}
        "Enabled" | "IfPossible" => {
            if !mount.flag_of("readOnly") {
                errors.forbidden(&at, "may only be specified when readOnly is true");
            }
            if !matches!(mount.text_of("mountPropagation"), "" | "None") {
                let detail = "may only be specified when mountPropagation is None or not specified";
                errors.forbidden(&at, detail);
            }
        }
        _ => errors.not_supported(&at, &["Disabled", "Enabled", "IfPossible"]),
    }
}

/// The volumes that a container uses as devices.
pub(super) fn devices(container: &At, volumes: &Volumes, errors: &mut Errors) {
    let mounts = pairs(&container.get("volumeMounts"), "mountPath");
    let (mut names, mut paths) = (HashSet::new(), HashSet::new());
    for device in container.get("volumeDevices").items() {
        let (name_at, path_at) = (device.txt("name"), device.txt("devicePath"));
        let (name, path) = (name_at.text(), path_at.text());
        errors.require_text(&name_at);
        if names.contains(name) {
            errors.invalid(&name_at, "must be unique");
        }
        match volumes.get(name) {
            None => errors.not_found(&name_at, ""),
            Some(Use::Files) => errors.invalid(
                &name_at,
                "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode",
            ),
            Some(Use::Claim) => {}
        }
        errors.require_text(&path_at);
        if paths.contains(path) {
            errors.invalid(&path_at, "must be unique");
        }
        match goes_up(path) {
            true => errors.invalid(&path_at, "can not contain backsteps ('..')"),
            false => drop(paths.insert(path)),
        }
        if mounts.names.contains(name) {
            errors.invalid(&name_at, "must not already exist in volumeMounts");
        }
        if mounts.paths.contains(path) {
            errors.invalid(&path_at, "must not already exist as a path in volumeMounts");
        }
        if !name.is_empty() {
            names.insert(name);
        }
    }
}

/// Which volumes are used, and where.
struct Pairs<'v> {
    names: HashSet<&'v str>,
    paths: HashSet<&'v str>,
}

fn pairs<'v>(list: &At<'_, 'v>, path: &str) -> Pairs<'v> {
    Pairs {
        names: list.items().map(|item| item.text_of("name")).collect(),
        paths: list.items().map(|item| item.text_of(path)).collect(),
    }
}
