//! Volume claims: bound to a volume that suits or, after a while, to one made for them.

use model::selector::LabelSelector;
use model::{Value, value};

use super::event::Level;
use super::outcome::Outcome;
use super::step::deleting;
use super::{Kind, Step};
use crate::metadata;
use crate::store::Key;
use smd::go::Quantity;

/// Who makes volumes.
const PROVISIONER: &str = "simulator.sluice.dev";
const PROTECTION: &str = "kubernetes.io/pvc-protection";

pub(super) fn advance(step: &mut Step<'_>) {
    let Some(claim) = step.own() else { return };
    if deleting(&claim) {
        if step.index.users(step.key).all(|pod| pod.is_done()) {
            step.change(Kind::Claim, step.key, |claim| {
                metadata::retain_finalizers(claim, |name| name != PROTECTION);
            });
        }
        return;
    }
    if claim.str_at(&["status", "phase"]) == "Bound" {
        return follow(step, &claim);
    }
    let named = claim.str_at(&["spec", "volumeName"]);
    if !named.is_empty() {
        let volume = step.read(Kind::Volume, &Key::new("", named));
        return if let Some(volume) = volume.filter(|volume| is_free_for(volume, &claim)) {
            bind(step, &claim, &volume)
        };
    }
    let outcome = step.outcome(&claim);
    if step.complain(&claim, outcome) {
        return;
    }
    if outcome != Outcome::Fine {
        let message = "failed to provision volume: simulated";
        return step.event(&claim, Level::Warning, "ProvisioningFailed", message);
    }
    if let Some(volume) = suitable(step, &claim) {
        return bind(step, &claim, &volume);
    }
    if claim.at(&["spec", "storageClassName"]) == Some(&"".into()) {
        let message = "no persistent volumes available for this claim and no storage class is set";
        return step.event(&claim, Level::Normal, "FailedBinding", message);
    }
    let class = step.read(
        Kind::StorageClass,
        &Key::new("", claim.str_at(&["spec", "storageClassName"])),
    );
    let waits = class
        .as_ref()
        .is_some_and(|class| class.str_at(&["volumeBindingMode"]) == "WaitForFirstConsumer");
    if waits && step.index.users(step.key).next().is_none() {
        let message = "waiting for first consumer to be created before binding";
        return step.event(&claim, Level::Normal, "WaitForFirstConsumer", message);
    }
    if !step.lasts("provision", step.options.provision_delay) {
        provision(step, &claim, class.as_ref());
    }
}

/// Makes a volume for the claim.
fn provision(step: &mut Step<'_>, claim: &Value, class: Option<&Value>) {
    let name = format!("pvc-{}", claim.str_at(&["metadata", "uid"]));
    let reclaim = class.map_or("", |class| class.str_at(&["reclaimPolicy"]));
    let mut volume = value!({
        "metadata": {
            "name": (name.as_str()),
            "annotations": {"pv.kubernetes.io/provisioned-by": PROVISIONER},
        },
        "spec": {
            "accessModes": (claim.at(&["spec", "accessModes"]).cloned().unwrap_or_default()),
            "capacity": {"storage": (requested(claim))},
            "claimRef": (reference(claim)),
            "persistentVolumeReclaimPolicy": (if reclaim.is_empty() { "Delete" } else { reclaim }),
            "csi": {"driver": PROVISIONER, "volumeHandle": (name.as_str())},
        },
    });
    for field in ["storageClassName", "volumeMode"] {
        if let Some(value) = claim.at(&["spec", field]) {
            volume.set_at(&["spec", field], value.clone());
        }
    }
    match step.create(Kind::Volume, volume) {
        Ok(volume) => {
            let message = format!("Successfully provisioned volume {name}");
            step.event(claim, Level::Normal, "ProvisioningSucceeded", &message);
            bind(step, claim, &volume);
        }
        Err(error) => {
            let message = format!("failed to provision volume: {}", error.message);
            step.event(claim, Level::Warning, "ProvisioningFailed", &message);
        }
    }
}

/// Ties a claim and a volume together.
fn bind(step: &Step<'_>, claim: &Value, volume: &Value) {
    let name = volume.str_at(&["metadata", "name"]);
    let reference = reference(claim);
    step.change(Kind::Volume, &Key::new("", name), |volume| {
        if volume.str_at(&["spec", "claimRef", "uid"]).is_empty() {
            volume.set_at(&["spec", "claimRef"], reference.clone());
            volume.set_at(
                &["metadata", "annotations", "pv.kubernetes.io/bound-by-controller"],
                "yes",
            );
        }
    });
    let provisioner = volume.str_at(&["metadata", "annotations", "pv.kubernetes.io/provisioned-by"]);
    step.change(Kind::Claim, step.key, |claim| {
        claim.set_at(&["spec", "volumeName"], name);
        let mut annotate = |key: &str, text: &str| claim.set_at(&["metadata", "annotations", key], text);
        annotate("pv.kubernetes.io/bind-completed", "yes");
        annotate("pv.kubernetes.io/bound-by-controller", "yes");
        if !provisioner.is_empty() {
            annotate("volume.kubernetes.io/storage-provisioner", provisioner);
        }
    });
    let take = |field: &str| volume.at(&["spec", field]).cloned().unwrap_or_default();
    let (capacity, modes) = (take("capacity"), take("accessModes"));
    step.change_status(|claim| {
        claim.set_at(&["status", "phase"], "Bound");
        claim.set_at(&["status", "capacity"], capacity.clone());
        claim.set_at(&["status", "accessModes"], modes.clone());
    });
}

/// Goes on with a claim that is bound: it grows when asked to, and is lost with its volume.
fn follow(step: &mut Step<'_>, claim: &Value) {
    let key = Key::new("", claim.str_at(&["spec", "volumeName"]));
    if step.find(Kind::Volume, &key).is_none() {
        step.change_status(|claim| claim.set_at(&["status", "phase"], "Lost"));
        let message = "Bound claim has lost its PersistentVolume. Data on the volume is lost!";
        return step.event(claim, Level::Warning, "ClaimLost", message);
    }
    let has = claim.str_at(&["status", "capacity", "storage"]);
    let wants = requested(claim);
    if amount(&wants) > amount(has) {
        step.change(Kind::Volume, &key, |volume| {
            volume.set_at(&["spec", "capacity", "storage"], wants.as_str());
        });
        step.change_status(|claim| {
            claim.set_at(&["status", "capacity", "storage"], wants.as_str());
        });
    }
}

/// The smallest volume that is free and is what the claim asks for, or one that waits for this claim.
fn suitable(step: &Step<'_>, claim: &Value) -> Option<Value> {
    let reserved = step.index.reserved(step.key);
    let mut reserved = reserved.filter_map(|key| step.read(Kind::Volume, key));
    if let Some(volume) = reserved.find(|volume| is_free_for(volume, claim)) {
        return Some(volume);
    }
    let selector = claim.at(&["spec", "selector"]);
    let selector = selector.and_then(|selector| LabelSelector::from_value(selector).ok());
    let wants = amount(&requested(claim));
    let text = |object: &Value, field: &str| object.str_at(&["spec", field]).to_owned();
    let suits = |volume: &Value| {
        let modes = volume.list_at(&["spec", "accessModes"]);
        let mut wanted = claim.list_at(&["spec", "accessModes"]).iter();
        is_free_for(volume, claim)
            && text(volume, "storageClassName") == text(claim, "storageClassName")
            && text(volume, "volumeMode") == text(claim, "volumeMode")
            && wanted.all(|mode| modes.contains(mode))
            && selector
                .as_ref()
                .is_none_or(|selector| selector.matches_object(volume))
            && capacity(volume) >= wants
    };
    let free = step.index.available();
    let free = free.filter_map(|key| step.read(Kind::Volume, key));
    free.filter(|volume| suits(volume)).min_by_key(capacity)
}

fn is_free_for(volume: &Value, claim: &Value) -> bool {
    let owner = |field: &str| volume.str_at(&["spec", "claimRef", field]);
    let own = |field: &str| claim.str_at(&["metadata", field]);
    let free = owner("name").is_empty();
    let ours = owner("name") == own("name")
        && owner("namespace") == own("namespace")
        && (owner("uid").is_empty() || owner("uid") == own("uid"));
    !deleting(volume) && (free || ours)
}

fn requested(claim: &Value) -> String {
    claim
        .str_at(&["spec", "resources", "requests", "storage"])
        .to_owned()
}

fn capacity(volume: &Value) -> Option<Quantity> {
    amount(volume.str_at(&["spec", "capacity", "storage"]))
}

fn amount(text: &str) -> Option<Quantity> {
    Quantity::parse(text).ok()
}

fn reference(claim: &Value) -> Value {
    let own = |field: &str| claim.str_at(&["metadata", field]);
    value!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "name": (own("name")), "namespace": (own("namespace")),
        "uid": (own("uid")), "resourceVersion": (own("resourceVersion")),
    })
}
