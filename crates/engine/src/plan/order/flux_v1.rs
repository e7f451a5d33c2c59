//! The order of Flux v1: five ranks of kinds, then the name.

use std::cmp::Ordering;

use model::ObjectKey;

/// The lower, the earlier.
pub(super) fn rank(key: &ObjectKey) -> u8 {
    match key.kind.to_lowercase().as_str() {
        "namespace" => 0,
        "customresourcedefinition"
        | "serviceaccount"
        | "clusterrole"
        | "role"
        | "persistentvolume"
        | "service" => 1,
        "resourcequota"
        | "limitrange"
        | "secret"
        | "configmap"
        | "rolebinding"
        | "clusterrolebinding"
        | "persistentvolumeclaim"
        | "ingress" => 2,
        "daemonset"
        | "deployment"
        | "replicationcontroller"
        | "replicaset"
        | "job"
        | "cronjob"
        | "statefulset" => 3,
        _ => 4,
    }
}

/// Flux v1 leaves the order of equal names to chance; here the rest of the key decides.
pub(super) fn compare(a: &ObjectKey, b: &ObjectKey) -> Ordering {
    let by_name = || a.name.cmp(&b.name).then_with(|| a.cmp(b));
    rank(a).cmp(&rank(b)).then_with(by_name)
}
