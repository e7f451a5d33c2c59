//! Drivers of volumes.

use std::collections::{HashMap, HashSet};

use model::Value;

use super::super::amount::not_negative;
use super::super::at::At;
use super::super::errors::Errors;
use super::super::name;
use super::super::selector::{label_key, selector};
use super::disk::driver_name;

/// A new driver.
pub(in super::super) fn driver(object: &At, errors: &mut Errors) {
    let spec = object.get("spec");
    for (field, shown) in [
        ("attachRequired", "attachedRequired"),
        ("podInfoOnMount", "podInfoOnMount"),
        ("storageCapacity", "storageCapacity"),
    ] {
        if !spec.has(field) {
            errors.required(&spec.get(shown), "");
        }
    }
    errors.one_of_if_set(
        &spec.get("fsGroupPolicy"),
        &["File", "None", "ReadWriteOnceWithFSType"],
    );
    token_requests(&spec.get("tokenRequests"), errors);
    let modes = spec.get("volumeLifecycleModes");
    for mode in modes.items() {
        errors.one_of_if_set(&modes.with(mode.value()), &["Persistent", "Ephemeral"]);
    }
    if !spec.has("seLinuxMount") {
        errors.required(&spec.get("seLinuxMount"), "");
    }
    let period = spec.get("nodeAllocatableUpdatePeriodSeconds");
    if period.is_set() && period.int() < 10 {
        errors.invalid(&period, "must be greater than or equal to 10 seconds");
    }
    let secrets = spec.get("serviceAccountTokenInSecrets");
    if secrets.is_set() && spec.get("tokenRequests").is_empty() {
        let detail = "serviceAccountTokenInSecrets is set but no tokenRequests are specified";
        errors.invalid(&secrets, detail);
    }
}

fn token_requests(at: &At, errors: &mut Errors) {
    let mut audiences = HashSet::new();
    for request in at.items() {
        if !audiences.insert(request.text_of("audience")) {
            errors.duplicate(&request.txt("audience"));
            continue;
        }
        let seconds = request.get("expirationSeconds");
        if seconds.is_set() && seconds.int() < 600 {
            errors.invalid(&seconds, "may not specify a duration less than 10 minutes");
        }
        if seconds.int() > 1 << 32 {
            errors.invalid(&seconds, "may not specify a duration larger than 2^32 seconds");
        }
    }
}

/// A changed driver.
pub(in super::super) fn driver_update(object: &At, old: &At, errors: &mut Errors) {
    driver(object, errors);
    let (spec, old_spec) = (object.get("spec"), old.get("spec"));
    let attach = spec.get("attachRequired");
    errors.immutable(
        &attach.called("attachedRequired"),
        &old_spec.get("attachRequired"),
    );
    errors.immutable(
        &spec.get("volumeLifecycleModes"),
        &old_spec.get("volumeLifecycleModes"),
    );
}

/// The drivers on a node.
pub(in super::super) fn node(object: &At, errors: &mut Errors) {
    let mut names = HashSet::new();
    for one in object.deep("spec.drivers").items() {
        let (name_at, id) = (one.txt("name"), one.txt("nodeID"));
        driver_name(&name_at, errors);
        errors.require_text(&id);
        if id.text().len() > 256 {
            errors.invalid(&id, "must be 256 characters or less");
        }
        let allocatable = one.get("allocatable");
        errors.not_negative(&allocatable.num("count"));
        if !names.insert(name_at.text()) {
            errors.duplicate(&name_at);
        }
        let mut keys = HashSet::new();
        for key in one.get("topologyKeys").items() {
            let here = one.with(key.value());
            errors.require_text(&here);
            if !keys.insert(key.text()) {
                errors.duplicate(&here);
            }
            label_key(&here, errors);
        }
    }
}

/// Changed drivers on a node. The real server checks them twice.
pub(in super::super) fn node_update(object: &At, old: &At, errors: &mut Errors) {
    node(object, errors);
    node(object, errors);
    let drivers = object.deep("spec.drivers");
    let without_count = |driver: &Value| {
        let mut driver = driver.clone();
        driver.remove_at(&["allocatable"]);
        driver
    };
    let old_drivers = old.deep("spec.drivers");
    let by_name: HashMap<&str, &Value> = old_drivers
        .list()
        .iter()
        .map(|driver| (driver.str_at(&["name"]), driver))
        .collect();
    for driver in drivers.items() {
        let Some(old) = by_name.get(driver.text_of("name")) else {
            continue;
        };
        let (new, old) = (without_count(driver.value()), without_count(old));
        if new != old {
            let here = drivers.with(&new);
            errors.invalid_as(&here, "storage.CSINodeDriver", super::super::errors::IMMUTABLE);
        }
    }
}

/// How much room there is for volumes.
pub(in super::super) fn capacity(object: &At, errors: &mut Errors) {
    selector(&object.get("nodeTopology"), errors);
    let class = object.txt("storageClassName");
    errors.each(&class, name::subdomain(class.text()));
    not_negative(&object.get("capacity"), errors);
}

/// Changed room for volumes.
pub(in super::super) fn capacity_update(object: &At, old: &At, errors: &mut Errors) {
    capacity(object, errors);
    errors.immutable_as(
        &object.get("nodeTopology"),
        &old.get("nodeTopology"),
        "*meta.LabelSelector",
    );
    errors.immutable(&object.txt("storageClassName"), &old.txt("storageClassName"));
}
