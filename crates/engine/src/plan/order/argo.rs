//! Argo CD's order within a wave, and what is pulled forward because others need it.

use std::cmp::Ordering;
use std::collections::HashMap;

use model::{ObjectKey, Value};

use super::position;
use crate::plan::task::Task;

/// The kinds in the order they are applied; all others come after them.
const KINDS: [&str; 35] = [
    "Namespace",
    "NetworkPolicy",
    "ResourceQuota",
    "LimitRange",
    "PodSecurityPolicy",
    "PodDisruptionBudget",
    "ServiceAccount",
    "Secret",
    "SecretList",
    "ConfigMap",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "CustomResourceDefinition",
    "ClusterRole",
    "ClusterRoleList",
    "ClusterRoleBinding",
    "ClusterRoleBindingList",
    "Role",
    "RoleList",
    "RoleBinding",
    "RoleBindingList",
    "Service",
    "DaemonSet",
    "Pod",
    "ReplicationController",
    "ReplicaSet",
    "Deployment",
    "HorizontalPodAutoscaler",
    "StatefulSet",
    "Job",
    "CronJob",
    "IngressClass",
    "Ingress",
    "APIService",
];

/// Argo CD leaves the order of equal kinds and names to chance; here the rest of the key decides.
pub(super) fn compare(a: &ObjectKey, b: &ObjectKey) -> Ordering {
    let place = |key: &ObjectKey| position(&KINDS, &key.kind).unwrap_or(KINDS.len());
    let by_name = || a.name.cmp(&b.name).then_with(|| a.cmp(b));
    place(a).cmp(&place(b)).then_with(by_name)
}

/// Puts each Namespace in front of the first task in that namespace, and then each definition in front of the first object
/// of its kind. What is pulled forward gets the phase and the wave of the task that needs it.
pub(in crate::plan) fn pull_dependencies_forward(tasks: &mut Vec<Task>) {
    pull_forward(
        tasks,
        |key, _| (key.group.is_empty() && key.kind == "Namespace").then(|| key.name.to_string()),
        |key| (!key.namespace.is_empty()).then(|| key.namespace.to_string()),
    );
    pull_forward(
        tasks,
        |_, object| defined_kind(object).map(|(group, kind)| format!("{group}/{kind}")),
        |key| Some(format!("{}/{}", key.group, key.kind)),
    );
}

/// The group and kind that an object defines, if it is a CustomResourceDefinition.
pub(in crate::plan) fn defined_kind(object: &Value) -> Option<(&str, &str)> {
    let api_version = object.str_at(&["apiVersion"]);
    let group = object.str_at(&["spec", "group"]);
    let kind = object.str_at(&["spec", "names", "kind"]);
    let is_definition = object.str_at(&["kind"]) == "CustomResourceDefinition"
        && api_version.starts_with("apiextensions.k8s.io/");
    (is_definition && !group.is_empty() && !kind.is_empty()).then_some((group, kind))
}

fn pull_forward(
    tasks: &mut Vec<Task>,
    provides: impl Fn(&ObjectKey, &Value) -> Option<String>,
    needs: impl Fn(&ObjectKey) -> Option<String>,
) {
    let mut first: HashMap<String, usize> = HashMap::new();
    for at in 0..tasks.len() {
        let Some(object) = tasks[at].object.clone() else {
            continue;
        };
        let key = &tasks[at].step.key;
        if let Some(provided) = provides(key, &object) {
            let Some(&user) = first.get(&provided) else {
                continue;
            };
            let mut task = tasks.remove(at);
            (task.phase, task.wave) = (tasks[user].phase, tasks[user].wave);
            tasks.insert(user, task);
            first
                .values_mut()
                .filter(|at| **at >= user)
                .for_each(|at| *at += 1);
        } else if let Some(needed) = needs(key) {
            first.entry(needed).or_insert(at);
        }
    }
}
