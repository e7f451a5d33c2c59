//! Garbage collection: dependents go when their owners are gone.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use model::{Str, Value};

use crate::catalog::StorageId;
use crate::kinds::Served;
use crate::metadata;
use crate::server::State;
use crate::store::{Change, Key, Object, Owner};
use crate::strategy::Part;
use crate::verbs::delete::{DeleteOptions, Propagation};

const MANAGER: &str = "kube-controller-manager";
const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

/// A place of an object.
type Place = (StorageId, Key);

/// Knows who depends on whom.
#[derive(Default)]
pub(super) struct Collector {
    /// Where the object with this uid is.
    places: HashMap<Str, Place>,
    /// Who names this uid as an owner.
    dependents: HashMap<Str, BTreeSet<Place>>,
}

impl Collector {
    pub(super) fn observe(&mut self, state: &Arc<State>, change: &Change) {
        let place = (change.storage.clone(), change.key().clone());
        self.index(change, &place);
        match &change.new {
            Some(new) => {
                let owners_changed = change
                    .old
                    .as_ref()
                    .is_none_or(|old| old.meta.owners != new.meta.owners);
                if owners_changed && !new.meta.owners.is_empty() {
                    self.judge(state, &place);
                }
                if new.meta.deleting {
                    self.process_deletion(state, new);
                }
            }
            None => {
                let Some(old) = &change.old else { return };
                for dependent in self.dependents_of(&old.meta.uid) {
                    self.judge(state, &dependent);
                }
                for owner in &old.meta.owners {
                    self.recheck_owner(state, owner);
                }
            }
        }
    }

    fn index(&mut self, change: &Change, place: &Place) {
        if let Some(old) = &change.old {
            for owner in &old.meta.owners {
                if let Some(set) = self.dependents.get_mut(&owner.uid) {
                    set.remove(place);
                    if set.is_empty() {
                        self.dependents.remove(&owner.uid);
                    }
                }
            }
            if change.new.is_none() {
                self.places.remove(&old.meta.uid);
            }
        }
        if let Some(new) = &change.new {
            self.places.insert(new.meta.uid.clone(), place.clone());
            for owner in &new.meta.owners {
                self.dependents
                    .entry(owner.uid.clone())
                    .or_default()
                    .insert(place.clone());
            }
        }
    }

    fn dependents_of(&self, uid: &str) -> Vec<Place> {
        self.dependents.get(uid).into_iter().flatten().cloned().collect()
    }

    /// Decides what becomes of an object that has owners.
    fn judge(&self, state: &Arc<State>, place: &Place) {
        let Some(served) = served_at(state, place) else {
            return;
        };
        let Some(object) = state.store.get(&place.0, &place.1) else {
            return;
        };
        if object.meta.owners.is_empty() || is_exempt(&place.0) {
            return;
        }
        let mut standing = Vec::new();
        let mut gone = Vec::new();
        let mut waiting = false;
        for owner in &object.meta.owners {
            match self.owner_object(state, owner, &object) {
                None => gone.push(owner.uid.clone()),
                Some(found) if waits_for_dependents(&served_value(state, &found, owner)) => {
                    waiting = true;
                    gone.push(owner.uid.clone());
                }
                Some(_) => standing.push(owner.uid.clone()),
            }
        }
        if gone.is_empty() {
            return;
        }
        if !standing.is_empty() {
            drop_owners(state, &served, &object.key, &gone);
            return;
        }
        // An owner that waits wants its dependents gone from the leaves up.
        let blocks = waiting && !self.dependents_of(&object.meta.uid).is_empty();
        let policy = if blocks {
            Propagation::Foreground
        } else {
            Propagation::Background
        };
        let value = served.show(&object);
        let asked = metadata::finalizers(&value).any(|name| matches!(name, ORPHAN | FOREGROUND));
        let propagation = if asked { None } else { Some(policy) };
        if !object.meta.deleting {
            let uid = Some(object.meta.uid.to_string());
            state.delete_inside(
                &served,
                &object.key,
                &DeleteOptions {
                    propagation,
                    uid,
                    ..DeleteOptions::default()
                },
            );
        }
    }

    /// The owner, if it is there under that uid and where the dependent may refer to it.
    fn owner_object(&self, state: &State, owner: &Owner, dependent: &Object) -> Option<Arc<Object>> {
        let (storage, key) = self.places.get(&owner.uid)?;
        let reachable = key.namespace().is_empty() || key.namespace() == dependent.key.namespace();
        if !reachable || key.name() != owner.name {
            return None;
        }
        state.store.get(storage, key)
    }

    /// Does what the finalizers of an object under deletion ask of garbage collection.
    fn process_deletion(&self, state: &Arc<State>, object: &Object) {
        let Some(place) = self.places.get(&object.meta.uid) else {
            return;
        };
        let Some(served) = served_at(state, place) else {
            return;
        };
        let value = served.show(object);
        let has = |name: &str| metadata::finalizers(&value).any(|finalizer| finalizer == name);
        if has(ORPHAN) {
            for (storage, key) in self.dependents_of(&object.meta.uid) {
                if let Some(served) = served_at(state, &(storage, key.clone())) {
                    drop_owners(state, &served, &key, std::slice::from_ref(&object.meta.uid));
                }
            }
            remove_finalizer(state, &served, &object.key, ORPHAN);
        } else if has(FOREGROUND) {
            let dependents = self.dependents_of(&object.meta.uid);
            for dependent in &dependents {
                self.judge(state, dependent);
            }
            if !self.is_blocked(state, &object.meta.uid) {
                remove_finalizer(state, &served, &object.key, FOREGROUND);
            }
        }
    }

    /// Whether a dependent that blocks the owner's deletion is still there.
    fn is_blocked(&self, state: &State, uid: &str) -> bool {
        self.dependents_of(uid).iter().any(|(storage, key)| {
            let object = state.store.get(storage, key);
            object.is_some_and(|object| {
                object
                    .meta
                    .owners
                    .iter()
                    .any(|owner| owner.uid == uid && owner.blocks)
            })
        })
    }

    fn recheck_owner(&self, state: &Arc<State>, owner: &Owner) {
        let Some((storage, key)) = self.places.get(&owner.uid) else {
            return;
        };
        if let Some(object) = state
            .store
            .get(storage, key)
            .filter(|object| object.meta.deleting)
        {
            self.process_deletion(state, &object);
        }
    }
}

/// Events are not collected by their owners.
fn is_exempt(storage: &StorageId) -> bool {
    storage.plural == "events"
}

fn served_at(state: &State, place: &Place) -> Option<Arc<Served>> {
    let kinds = state.kinds();
    kinds
        .stored()
        .find(|served| served.resource.storage == place.0)
        .cloned()
}

fn served_value(_state: &State, object: &Object, _owner: &Owner) -> Value {
    object.value()
}

fn waits_for_dependents(owner: &Value) -> bool {
    metadata::of(owner).contains_key("deletionTimestamp")
        && metadata::finalizers(owner).any(|name| name == FOREGROUND)
}

fn drop_owners(state: &Arc<State>, served: &Served, key: &Key, uids: &[Str]) {
    // The dependent may be gone meanwhile, which is as good.
    let _ = state.update_inside(served, key, Part::Main, MANAGER, |object| {
        let metadata = metadata::of_mut(object);
        if let Some(owners) = metadata.get_mut("ownerReferences").and_then(Value::as_array_mut) {
            owners.retain(|owner| !uids.iter().any(|uid| uid == owner.str_at(&["uid"])));
            if owners.is_empty() {
                metadata.remove("ownerReferences");
            }
        }
    });
}

fn remove_finalizer(state: &Arc<State>, served: &Served, key: &Key, name: &str) {
    // The object may be gone meanwhile, which is as good.
    let _ = state.update_inside(served, key, Part::Main, MANAGER, |object| {
        metadata::retain_finalizers(object, |finalizer| finalizer != name);
    });
}
