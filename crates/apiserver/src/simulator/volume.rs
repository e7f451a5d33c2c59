//! Volumes: free, bound to a claim, or left over from one.

use model::Value;

use super::step::deleting;
use super::{Kind, Step};
use crate::metadata;
use crate::store::Key;
use crate::verbs::delete::DeleteOptions;

const PROTECTION: &str = "kubernetes.io/pv-protection";

pub(super) fn advance(step: &mut Step<'_>) {
    let Some(volume) = step.own() else { return };
    let phase = phase(step, &volume);
    if deleting(&volume) {
        if phase != "Bound" {
            step.change(Kind::Volume, step.key, |volume| {
                metadata::retain_finalizers(volume, |name| name != PROTECTION);
            });
        }
        return;
    }
    if volume.str_at(&["status", "phase"]) != phase {
        let now = step.now_text();
        step.change_status(|volume| {
            volume.set_at(&["status", "phase"], phase);
            volume.set_at(&["status", "lastPhaseTransitionTime"], now.as_str());
        });
    }
    let goes = volume.str_at(&["spec", "persistentVolumeReclaimPolicy"]) == "Delete";
    if phase == "Released" && goes {
        step.delete(Kind::Volume, step.key, &DeleteOptions::default());
    }
}

fn phase(step: &Step<'_>, volume: &Value) -> &'static str {
    let owner = |field: &str| volume.str_at(&["spec", "claimRef", field]);
    if owner("name").is_empty() {
        return "Available";
    }
    let key = Key::new(owner("namespace"), owner("name"));
    let claim = step.read(Kind::Claim, &key);
    let claim = claim.filter(|claim| {
        let uid = owner("uid");
        uid.is_empty() || uid == claim.str_at(&["metadata", "uid"])
    });
    match claim {
        Some(claim) if claim.str_at(&["spec", "volumeName"]) == step.key.name() => "Bound",
        // It is kept for a claim that is not there, or does not know it yet.
        Some(_) => "Available",
        None if owner("uid").is_empty() => "Available",
        None => "Released",
    }
}
