//! How objects are told apart.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Str, Value};

/// Which object: its group, kind, namespace and name. The version is not part of it, for the same object is served in
/// several.
///
/// Keys sort by group, then kind, namespace and name. They print as people name objects: `Deployment/shop/web`, or
/// `Namespace/shop` without a namespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ObjectKey {
    /// The API group; empty for the core group.
    #[serde(default, skip_serializing_if = "Str::is_empty")]
    pub group: Str,
    /// The kind.
    pub kind: Str,
    /// The namespace; empty for objects of the whole cluster.
    #[serde(default, skip_serializing_if = "Str::is_empty")]
    pub namespace: Str,
    /// The name.
    pub name: Str,
}

impl ObjectKey {
    /// The key of an object; what is missing in it is empty.
    pub fn of(object: &Value) -> Self {
        let (group, _) = split_api_version(object.str_at(&["apiVersion"]));
        ObjectKey {
            group: Str::new(group),
            kind: Str::new(object.str_at(&["kind"])),
            namespace: Str::new(object.str_at(&["metadata", "namespace"])),
            name: Str::new(object.str_at(&["metadata", "name"])),
        }
    }
}

/// Splits an `apiVersion` into group and version: `apps/v1` into `apps` and `v1`, `v1` into nothing and `v1`.
pub fn split_api_version(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ObjectKey {
            kind,
            namespace,
            name,
            ..
        } = self;
        match namespace.as_str() {
            "" => write!(f, "{kind}/{name}"),
            namespace => write!(f, "{kind}/{namespace}/{name}"),
        }
    }
}
