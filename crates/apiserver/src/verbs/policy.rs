//! In what the verbs differ between resources.

use crate::catalog::{Origin, Resource};

/// Whether a deletion answers with the object instead of a `Status`.
pub(crate) fn returns_deleted_object(resource: &Resource) -> bool {
    resource.origin == Origin::Builtin
        && matches!(
            resource.plural.as_str(),
            "csidrivers"
                | "csinodes"
                | "namespaces"
                | "persistentvolumeclaims"
                | "persistentvolumes"
                | "pods"
                | "podtemplates"
                | "resourcequotas"
                | "serviceaccounts"
                | "services"
                | "storageclasses"
                | "volumeattachments"
                | "volumeattributesclasses"
        )
}

/// Whether dependents are left alone when a client says nothing about them.
pub(crate) fn orphans_by_default(resource: &Resource) -> bool {
    // Older versions of the workloads did; of what is served today only these two still do.
    matches!(
        (resource.group.as_str(), resource.plural.as_str()),
        ("", "replicationcontrollers") | ("batch", "jobs")
    )
}
