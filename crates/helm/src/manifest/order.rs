//! The order of kinds.

use crate::version::HelmVersion;

/// The order in which objects are installed; kinds that are not listed come last, by name.
#[rustfmt::skip]
pub const INSTALL: &[&str] = &[
    "PriorityClass", "Namespace", "NetworkPolicy", "ResourceQuota", "LimitRange", "PodSecurityPolicy",
    "PodDisruptionBudget", "ServiceAccount", "Secret", "SecretList", "ConfigMap", "StorageClass", "PersistentVolume",
    "PersistentVolumeClaim", "CustomResourceDefinition", "ClusterRole", "ClusterRoleList", "ClusterRoleBinding",
    "ClusterRoleBindingList", "Role", "RoleList", "RoleBinding", "RoleBindingList", "Service", "DaemonSet", "Pod",
    "ReplicationController", "ReplicaSet", "Deployment", "HorizontalPodAutoscaler", "StatefulSet", "Job", "CronJob",
    "IngressClass", "Ingress", "APIService",
    // The last two are new in Helm 4.
    "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration",
];

/// The order in which objects are uninstalled; kinds that are not listed come last, by name.
#[rustfmt::skip]
pub const UNINSTALL: &[&str] = &[
    // The first two are new in Helm 4: a webhook must not block what follows.
    "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration",
    "APIService", "Ingress", "IngressClass", "Service", "CronJob", "Job", "StatefulSet", "HorizontalPodAutoscaler",
    "Deployment", "ReplicaSet", "ReplicationController", "Pod", "DaemonSet", "RoleBindingList", "RoleBinding",
    "RoleList", "Role", "ClusterRoleBindingList", "ClusterRoleBinding", "ClusterRoleList", "ClusterRole",
    "CustomResourceDefinition", "PersistentVolumeClaim", "PersistentVolume", "StorageClass", "ConfigMap",
    "SecretList", "Secret", "ServiceAccount", "PodDisruptionBudget", "PodSecurityPolicy", "LimitRange",
    "ResourceQuota", "NetworkPolicy", "Namespace", "PriorityClass",
];

/// How many kinds at the end of [`INSTALL`], and at the beginning of [`UNINSTALL`], Helm 3 does not list.
const NEW_IN_4: usize = 2;

/// The place of a kind in the order of installation; nothing for those that are not listed.
pub fn install_rank(kind: &str, version: HelmVersion) -> Option<usize> {
    let known = match version {
        HelmVersion::V4 => INSTALL,
        HelmVersion::V3 => &INSTALL[..INSTALL.len() - NEW_IN_4],
    };
    known.iter().position(|known| *known == kind)
}

/// The place of a kind in the order in which objects are uninstalled; nothing for those that are not listed.
pub fn uninstall_rank(kind: &str, version: HelmVersion) -> Option<usize> {
    let known = match version {
        HelmVersion::V4 => UNINSTALL,
        HelmVersion::V3 => &UNINSTALL[NEW_IN_4..],
    };
    known.iter().position(|known| *known == kind)
}

/// Sorts by kind in the order of installation; what is of the same kind stays in order.
pub(super) fn sort<T>(items: &mut [T], kind: impl Fn(&T) -> &String, version: HelmVersion) {
    sort_by(items, kind, |kind| install_rank(kind, version));
}

/// Sorts by kind in some order; what is of the same kind stays in order.
pub(super) fn sort_by<T>(
    items: &mut [T],
    kind: impl Fn(&T) -> &String,
    rank: impl Fn(&str) -> Option<usize>,
) {
    items.sort_by_cached_key(|item| {
        let kind = kind(item);
        match rank(kind) {
            Some(rank) => (rank, String::new()),
            None => (usize::MAX, kind.clone()),
        }
    });
}
