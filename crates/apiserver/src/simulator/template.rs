//! Pods made from the templates of workloads.

use model::{Value, value};

use super::children;
use super::event::Level;
use super::{Kind, Step};
use crate::error::Error;
use crate::store::Key;
use crate::verbs::delete::DeleteOptions;

/// A pod of `owner` after `template`, its name left to be generated.
pub(super) fn pod(template: &Value, owner: &Value) -> Value {
    let name = owner.str_at(&["metadata", "name"]);
    let mut pod = value!({
        "metadata": {
            "generateName": (format!("{name}-")),
            "namespace": (owner.str_at(&["metadata", "namespace"])),
            "ownerReferences": [(children::reference(owner))],
        },
        "spec": (template.get("spec").cloned().unwrap_or_default()),
    });
    for field in ["labels", "annotations", "finalizers"] {
        if let Some(value) = template.at(&["metadata", field]) {
            pod.set_at(&["metadata", field], value.clone());
        }
    }
    pod
}

/// Creates a pod of `owner` and tells about it; returns why not where that is worth a new try.
pub(super) fn create(step: &mut Step<'_>, owner: &Value, pod: Value) -> Result<Option<Value>, Error> {
    match step.create(Kind::Pod, pod) {
        Ok(pod) => {
            let message = format!("Created pod: {}", pod.str_at(&["metadata", "name"]));
            step.event(owner, Level::Normal, "SuccessfulCreate", &message);
            Ok(Some(pod))
        }
        // Whatever is created in an ending namespace is refused, so there is nothing to tell and to try.
        Err(error) if is_ending_namespace(&error) => Ok(None),
        Err(error) => {
            let message = format!("Error creating: {}", error.message);
            step.event(owner, Level::Warning, "FailedCreate", &message);
            Err(error)
        }
    }
}

/// Deletes a pod of `owner` and tells about it.
pub(super) fn delete(step: &mut Step<'_>, owner: &Value, pod: &Key) {
    step.delete(Kind::Pod, pod, &DeleteOptions::default());
    let message = format!("Deleted pod: {}", pod.name());
    step.event(owner, Level::Normal, "SuccessfulDelete", &message);
}

/// Whether a creation was refused because the namespace is on its way out, or gone.
pub(super) fn is_ending_namespace(error: &Error) -> bool {
    let mut causes = error.details.causes.iter();
    causes.any(|cause| cause.reason == "NamespaceTerminating")
        || (error.code == 404 && error.details.kind == "namespaces")
}
