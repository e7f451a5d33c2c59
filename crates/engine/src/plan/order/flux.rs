//! Flux's order: stages, and within each the kinds that others need first.

use std::cmp::Ordering;

use model::ObjectKey;

use super::{GroupKind, position};

/// The kinds that come first, in order. Only the kind counts, whatever its group.
const FIRST: [&str; 23] = [
    "CustomResourceDefinition",
    "Namespace",
    "ClusterRole",
    "ClusterClass",
    "RuntimeClass",
    "PriorityClass",
    "StorageClass",
    "VolumeSnapshotClass",
    "IngressClass",
    "GatewayClass",
    "ClusterRoleBinding",
    "ResourceQuota",
    "ServiceAccount",
    "Role",
    "RoleBinding",
    "ConfigMap",
    "Secret",
    "Service",
    "LimitRange",
    "Deployment",
    "StatefulSet",
    "CronJob",
    "PodDisruptionBudget",
];

/// The kinds that come last.
const LAST: [&str; 2] = ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];

/// Where a kind stands; all that are not named share one place.
pub(super) fn rank(key: &ObjectKey) -> usize {
    let last = || position(&LAST, &key.kind).map(|place| FIRST.len() + 1 + place);
    position(&FIRST, &key.kind).or_else(last).unwrap_or(FIRST.len())
}

pub(super) fn compare(a: &ObjectKey, b: &ObjectKey) -> Ordering {
    rank(a).cmp(&rank(b)).then_with(|| a.cmp(b))
}

/// Which stage of Flux an object is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::plan) enum Stage {
    Definitions,
    Classes,
    Custom,
    Rest,
}

impl Stage {
    pub(in crate::plan) const ALL: [Stage; 4] =
        [Stage::Definitions, Stage::Classes, Stage::Custom, Stage::Rest];

    pub(in crate::plan) fn of(key: &ObjectKey, custom: &[GroupKind]) -> Self {
        let custom_kind = |known: &GroupKind| known.group == key.group && known.kind == key.kind;
        if is_definition(key) || is_cluster_role(key) {
            Stage::Definitions
        } else if key.kind.ends_with("Class") {
            Stage::Classes
        } else if custom.iter().any(custom_kind) {
            Stage::Custom
        } else {
            Stage::Rest
        }
    }

    pub(in crate::plan) fn name(self) -> &'static str {
        match self {
            Stage::Definitions => "definitions",
            Stage::Classes => "classes",
            Stage::Custom => "custom kinds",
            Stage::Rest => "objects",
        }
    }

    /// Whether the next stage begins only when what is in this one is ready.
    pub(in crate::plan) fn is_waited_for(self) -> bool {
        matches!(self, Stage::Definitions | Stage::Classes)
    }
}

/// Whether other objects cannot be applied before it is there: a definition of a kind, or a namespace.
pub(in crate::plan) fn is_definition(key: &ObjectKey) -> bool {
    let kind = key.kind.to_lowercase();
    (kind == "customresourcedefinition" && key.group == "apiextensions.k8s.io")
        || (kind == "namespace" && key.group.is_empty())
}

fn is_cluster_role(key: &ObjectKey) -> bool {
    key.kind.to_lowercase() == "clusterrole" && key.group == "rbac.authorization.k8s.io"
}
