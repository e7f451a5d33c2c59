//! What belongs to a workload: found by owner references, adopted and released by labels.

use model::selector::LabelSelector;
use model::{Value, value};

use super::step::deleting;
use super::{Kind, Step};
use crate::metadata;
use crate::store::Key;

/// The reference that makes `owner` the controller of what has it.
pub(super) fn reference(owner: &Value) -> Value {
    value!({
        "apiVersion": (owner.str_at(&["apiVersion"])),
        "kind": (owner.str_at(&["kind"])),
        "name": (owner.str_at(&["metadata", "name"])),
        "uid": (owner.str_at(&["metadata", "uid"])),
        "controller": true,
        "blockOwnerDeletion": true,
    })
}

/// The objects of `kind` that belong to `owner`. Those that its selector no longer selects are released; those that it
/// selects and that nobody has are adopted.
pub(super) fn of(step: &Step<'_>, owner: &Value, kind: Kind, selector: &LabelSelector) -> Vec<Key> {
    let uid = owner.str_at(&["metadata", "uid"]);
    let selects = |key: &Key| {
        let object = step.find(kind, key);
        object.map(|object| {
            (
                selector.matches(|label| object.label(label)),
                object.meta.deleting,
            )
        })
    };
    let leaving = deleting(owner);
    let mut children = Vec::new();
    for key in step.index.children(uid, kind) {
        match selects(key) {
            Some((true, _)) => children.push(key.clone()),
            Some((false, false)) if !leaving => release(step, uid, kind, key),
            _ => {}
        }
    }
    if leaving {
        return children;
    }
    for key in step.index.orphans(kind, step.key.namespace()) {
        let done = kind == Kind::Pod && step.index.pod(key).is_some_and(|pod| pod.is_done());
        if !done && selects(key) == Some((true, false)) && adopt(step, owner, kind, key) {
            children.push(key.clone());
        }
    }
    children
}

fn adopt(step: &Step<'_>, owner: &Value, kind: Kind, key: &Key) -> bool {
    let reference = reference(owner);
    let adopted = step.change(kind, key, |object| {
        let owners = object.list_at(&["metadata", "ownerReferences"]);
        if owners
            .iter()
            .any(|other| other.get("controller") == Some(&true.into()))
        {
            return;
        }
        let mut owners = owners.to_vec();
        owners.push(reference.clone());
        object.set_at(&["metadata", "ownerReferences"], owners);
    });
    adopted.is_some_and(|object| {
        let owners = object.list_at(&["metadata", "ownerReferences"]);
        owners
            .iter()
            .any(|other| other.get("uid") == reference.get("uid"))
    })
}

fn release(step: &Step<'_>, uid: &str, kind: Kind, key: &Key) {
    step.change(kind, key, |object| {
        let metadata = metadata::of_mut(object);
        if let Some(owners) = metadata.get_mut("ownerReferences").and_then(Value::as_array_mut) {
            owners.retain(|owner| owner.str_at(&["uid"]) != uid);
            if owners.is_empty() {
                metadata.remove("ownerReferences");
            }
        }
    });
}
