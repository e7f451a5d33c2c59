//! Deleting objects, one or many: preconditions, grace, finalizers and what becomes of dependents.

use std::sync::Arc;

use model::{Value, json, value};

use super::Call;
pub(crate) use super::delete_options::{DeleteOptions, Propagation};
use super::options::WriteOptions;
use super::policy;
use super::selection::Selection;
use super::write::Writer;
use crate::answer::Answer;
use crate::collect::definitions::CLEANUP;
use crate::error::{Error, Result};
use crate::http::{Representation, negotiate};
use crate::kinds::Served;
use crate::metadata;
use crate::server::State;
use crate::store::{Object, Window};

const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

/// What came of a deletion.
pub(crate) enum Deleted {
    /// It is gone; its last state.
    Gone(Arc<Object>),
    /// It goes when its finalizers or its grace are done.
    Pending(Arc<Object>),
}

/// Answers a `DELETE` of one object.
pub(crate) fn delete(call: &Call<'_>) -> Result<Answer> {
    let representation = negotiate(call.request)?;
    let options = DeleteOptions::read(call.state, call.request)?;
    let object = super::read::find(call)?;
    let is_namespace = call.served.resource.group.is_empty() && call.served.resource.plural == "namespaces";
    if is_namespace && matches!(object.key.name(), "default" | "kube-system" | "kube-public") {
        return Err(Error::forbidden(
            "",
            "namespaces",
            object.key.name(),
            "this namespace may not be deleted",
        ));
    }
    let deleted = delete_object(call.state, &call.served, object, &options)?;
    match deleted {
        Deleted::Pending(object) => Answer::of(call, representation, 200, &object),
        Deleted::Gone(object) if policy::returns_deleted_object(&call.served.resource) => {
            Answer::of(call, representation, 200, &object)
        }
        Deleted::Gone(object) => {
            let resource = &call.served.resource;
            let mut details = value!({"name": (object.key.name()), "kind": (resource.plural.clone()), "uid": (object.meta.uid.clone())});
            if !resource.group.is_empty() {
                details.set_at(&["group"], resource.group.clone());
            }
            let status = value!({
                "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details,
            });
            Ok(Answer::json(200, json::to_vec(&status)))
        }
    }
}

/// Answers a `DELETE` of a collection with the list of what was deleted.
pub(crate) fn delete_collection(call: &Call<'_>) -> Result<Answer> {
    negotiate(call.request)?;
    let options = DeleteOptions::read(call.state, call.request)?;
    let selection = Selection::read(call)?;
    let prefix = match call.namespace() {
        "" => String::new(),
        namespace => format!("{namespace}/"),
    };
    let window = Window {
        prefix: &prefix,
        start: None,
        limit: 0,
        at: None,
    };
    let page = call
        .state
        .store
        .list(&call.served.resource.storage, &window, &|object| {
            selection.matches(object)
        });
    let page = page.map_err(|_| Error::internal("the newest revision is always there"))?;
    for object in &page.objects {
        match delete_object(call.state, &call.served, Arc::clone(object), &options) {
            Err(error) if error.code != 404 => return Err(error),
            _ => {}
        }
    }
    let meta = value!({"resourceVersion": (page.revision.to_string())});
    Answer::of_list(call, Representation::Object, &page.objects, meta)
}

/// Deletes an object or marks it for deletion.
pub(crate) fn delete_object(
    state: &Arc<State>,
    served: &Served,
    object: Arc<Object>,
    options: &DeleteOptions,
) -> Result<Deleted> {
    let resource = &served.resource;
    let mut object = object;
    loop {
        options.check(served, &object)?;
        let write_options = WriteOptions {
            dry_run: options.dry_run,
            ..WriteOptions::internal("")
        };
        let namespace = object.key.namespace().to_owned();
        let writer = Writer {
            state,
            served,
            namespace: &namespace,
            options: &write_options,
        };
        let is_pod = resource.group.is_empty() && resource.plural == "pods";
        let done = match marked(state, served, &object, options) {
            // A pod is marked even if nothing holds it, so that watchers see the grace it was given: none.
            None if is_pod && !object.meta.deleting => {
                let mut value = served.show(&object);
                mark(state, &mut value, 0, true);
                writer
                    .store(object.key.clone(), Some(object.revision), value)
                    .and_then(|marked| writer.remove(&marked).map(|_| Deleted::Gone(marked)))
            }
            Some(value) if value == served.show(&object) => return Ok(Deleted::Pending(object)),
            Some(value) => writer
                .store(object.key.clone(), Some(object.revision), value)
                .map(Deleted::Pending),
            None => writer.remove(&object).map(Deleted::Gone),
        };
        if let Ok(deleted) = done {
            return Ok(deleted);
        }
        // Lost a race: look again.
        match state.store.get(&resource.storage, &object.key) {
            Some(newer) => object = newer,
            None => {
                return Err(Error::not_found(
                    &resource.group,
                    &resource.plural,
                    object.key.name(),
                ));
            }
        }
    }
}

/// The object marked for deletion, where something keeps it from going at once.
fn marked(state: &State, served: &Served, object: &Object, options: &DeleteOptions) -> Option<Value> {
    let mut value = served.show(object);
    let resource = &served.resource;
    set_propagation(served, &mut value, options);
    if resource.group == "apiextensions.k8s.io"
        && resource.plural == "customresourcedefinitions"
        && !object.meta.deleting
    {
        metadata::add_finalizer(&mut value, CLEANUP);
    }
    let is_namespace = resource.group.is_empty() && resource.plural == "namespaces";
    let grace = match (resource.group.as_str(), resource.plural.as_str()) {
        ("", "pods") => pod_grace(&value, options),
        _ => 0,
    };
    let held = metadata::finalizers(&value).next().is_some()
        || grace > 0
        || (is_namespace && !value.list_at(&["spec", "finalizers"]).is_empty());
    if !held {
        return None;
    }
    let first = !object.meta.deleting;
    let shortened =
        !first && metadata::number(&value, "deletionGracePeriodSeconds") > grace && options.grace.is_some();
    if first || shortened {
        mark(state, &mut value, grace, first);
    }
    if is_namespace && first {
        // Namespaces have no grace period to tell about.
        metadata::of_mut(&mut value).remove("deletionGracePeriodSeconds");
        value.set_at(&["status", "phase"], "Terminating");
    }
    Some(value)
}

/// Sets when and with how much grace an object goes.
fn mark(state: &State, value: &mut Value, grace: i64, first: bool) {
    let when = state.now_after(grace);
    let generation = metadata::number(value, "generation");
    let metadata = metadata::of_mut(value);
    metadata.insert("deletionTimestamp", when);
    metadata.insert("deletionGracePeriodSeconds", grace);
    if first && generation > 0 {
        metadata.insert("generation", generation + 1);
    }
}

/// How long a pod has to end: nothing where it runs on no node or has ended.
fn pod_grace(pod: &Value, options: &DeleteOptions) -> i64 {
    let ended = matches!(pod.str_at(&["status", "phase"]), "Failed" | "Succeeded");
    if pod.str_at(&["spec", "nodeName"]).is_empty() || ended {
        return 0;
    }
    let own = pod
        .at(&["spec", "terminationGracePeriodSeconds"])
        .and_then(Value::as_i64);
    let pending = pod
        .at(&["metadata", "deletionGracePeriodSeconds"])
        .and_then(Value::as_i64);
    options.grace.or(pending).or(own).unwrap_or(30).max(0)
}

/// Sets the finalizers that make garbage collection orphan or wait for dependents.
fn set_propagation(served: &Served, value: &mut Value, options: &DeleteOptions) {
    let has = |name: &str| metadata::finalizers(value).any(|finalizer| finalizer == name);
    let orphan = match options.propagation {
        Some(policy) => policy == Propagation::Orphan,
        None if has(ORPHAN) => true,
        None if has(FOREGROUND) => false,
        None => policy::orphans_by_default(&served.resource),
    };
    let foreground = match options.propagation {
        Some(policy) => policy == Propagation::Foreground,
        None => has(FOREGROUND),
    };
    metadata::retain_finalizers(value, |name| !matches!(name, ORPHAN | FOREGROUND));
    if orphan {
        metadata::add_finalizer(value, ORPHAN);
    }
    if foreground {
        metadata::add_finalizer(value, FOREGROUND);
    }
}
