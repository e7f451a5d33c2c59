//! CustomResourceDefinitions: named, established, served, and cleaned up after.

use std::collections::HashMap;
use std::sync::Arc;

use model::{Str, Value};

use crate::crd;
use crate::custom::Custom;
use crate::kinds::Served;
use crate::metadata;
use crate::server::State;
use crate::store::{Change, Key};
use crate::strategy::Part;
use crate::verbs::delete::{DeleteOptions, Propagation};

const GROUP: &str = "apiextensions.k8s.io";
const MANAGER: &str = "kube-apiserver";
/// Holds a definition until its objects are gone.
pub(crate) const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

pub(super) fn observe(state: &Arc<State>, change: &Change) {
    if change.storage.group == GROUP && change.storage.plural == "customresourcedefinitions" {
        if let Some(new) = &change.new {
            establish(state, &new.key);
        }
        serve(state);
        if change.new.as_ref().is_some_and(|new| new.meta.deleting) {
            clean_up(state, change.key());
        }
    } else if change.new.is_none() {
        // The last object of a definition that is being deleted may be gone.
        let name = format!("{}.{}", change.storage.plural, change.storage.group);
        let ending = |object: &Arc<crate::store::Object>| object.meta.deleting;
        let key = Key::new("", &name);
        if with_definitions(state, |served| {
            state.store.get(&served.resource.storage, &key).filter(ending)
        })
        .is_some()
        {
            clean_up(state, &key);
        }
    }
}

fn with_definitions<T>(state: &State, take: impl FnOnce(&Arc<Served>) -> Option<T>) -> Option<T> {
    let kinds = state.kinds();
    take(kinds.get(GROUP, "v1", "customresourcedefinitions")?)
}

/// Gives a definition the names it can have, and says so in its status.
fn establish(state: &Arc<State>, key: &Key) {
    with_definitions(state, |served| {
        let all = state.store.all(&served.resource.storage);
        let others: Vec<Value> = all
            .iter()
            .filter(|other| other.key != *key)
            .map(|other| other.value())
            .collect();
        let now = state.now_text();
        // The definition may be gone meanwhile, which is as good.
        let _ = state.update_inside(served, key, Part::Status, MANAGER, |crd| {
            if metadata::of(crd).contains_key("deletionTimestamp") {
                return;
            }
            crd::conditions(crd, &others, &now);
            add_stored_version(crd);
        });
        Some(())
    });
}

/// The version that objects are stored in counts among those that objects may be stored in.
fn add_stored_version(crd: &mut Value) {
    let versions = crd.list_at(&["spec", "versions"]).iter();
    let mut storage =
        versions.filter(|version| version.get("storage").and_then(Value::as_bool) == Some(true));
    let Some(name) = storage.next().map(|version| version.str_at(&["name"]).to_owned()) else {
        return;
    };
    let mut stored = crd.list_at(&["status", "storedVersions"]).to_vec();
    if stored.iter().all(|known| known.as_str() != Some(&name)) {
        stored.push(name.into());
        crd.set_at(&["status", "storedVersions"], stored);
    }
}

/// Serves all established definitions from now on.
fn serve(state: &Arc<State>) {
    let definitions = with_definitions(state, |served| {
        let mut definitions: HashMap<Str, Arc<Custom>> = HashMap::new();
        for object in state.store.all(&served.resource.storage) {
            let crd = served.show(&object);
            if crd::is_true(&crd, "Established") {
                let custom = Custom::read(&crd, &state.custom, &state.schema);
                definitions.insert(object.key.name().into(), Arc::new(custom));
            }
        }
        Some(definitions)
    });
    if let Some(definitions) = definitions {
        state.serve(definitions);
    }
}

/// Deletes the objects of a definition that is being deleted, and lets it go when they are gone.
fn clean_up(state: &Arc<State>, key: &Key) {
    let kinds = state.kinds();
    let objects = kinds.stored().find(|served| {
        served.definition.is_some()
            && key.name() == format!("{}.{}", served.resource.plural, served.resource.group)
    });
    let mut left = 0;
    if let Some(objects) = objects {
        for object in state.store.all(&objects.resource.storage) {
            if !object.meta.deleting {
                let options = DeleteOptions {
                    propagation: Some(Propagation::Background),
                    ..DeleteOptions::default()
                };
                state.delete_inside(objects, &object.key, &options);
            }
            left += usize::from(state.store.get(&objects.resource.storage, &object.key).is_some());
        }
    }
    if left > 0 {
        return;
    }
    with_definitions(state, |served| {
        let _ = state.update_inside(served, key, Part::Main, MANAGER, |crd| {
            metadata::retain_finalizers(crd, |finalizer| finalizer != CLEANUP);
        });
        Some(())
    });
}
