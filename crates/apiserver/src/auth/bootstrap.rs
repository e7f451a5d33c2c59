//! The objects that a new cluster has before anyone writes to it.
//!
//! **Deviation**: what only the controllers of a real control plane use (`system:controller:*`, flow control) is left
//! out.

use model::{Value, json, value};

use super::rbac::{GROUP, aggregate};

/// The roles and bindings, written by `cargo xtask generate rbac`.
const RBAC: &str = include_str!("../../data/rbac.json");

/// All objects of a new cluster, those that others need first: namespaces, priority classes, roles, bindings, and the
/// service of the API itself, which forwards to `port`.
pub fn objects(port: u16) -> Vec<Value> {
    let mut objects = Vec::from(namespaces());
    objects.extend(priority_classes());
    objects.extend(rbac());
    objects.push(api_service(port));
    objects
}

/// The namespaces of a new cluster.
pub fn namespaces() -> [Value; 4] {
    ["default", "kube-node-lease", "kube-public", "kube-system"].map(|name| {
        value!({
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": { "name": name, "labels": { "kubernetes.io/metadata.name": name } },
            "spec": { "finalizers": ["kubernetes"] },
            "status": { "phase": "Active" },
        })
    })
}

/// The priority classes of a new cluster.
pub fn priority_classes() -> [Value; 2] {
    let class = |name: &str, value: i64, description: &str| {
        value!({
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": { "name": name },
            "description": description,
            "preemptionPolicy": "PreemptLowerPriority",
            "value": value,
        })
    };
    [
        class(
            "system-cluster-critical",
            2_000_000_000,
            "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
        ),
        class(
            "system-node-critical",
            2_000_001_000,
            "Used for system critical pods that must not be moved from their current node.",
        ),
    ]
}

/// The roles and bindings of a new cluster. Aggregated roles have their rules.
pub fn rbac() -> Vec<Value> {
    let parsed = json::parse(RBAC.as_bytes()).expect("the file was written by us and is read by a test");
    let mut objects: Vec<Value> = parsed.list_at(&[]).to_vec();
    for object in &mut objects {
        object.set_at(&["apiVersion"], format!("{GROUP}/v1"));
        object.set_at(
            &["metadata", "labels", "kubernetes.io/bootstrapping"],
            "rbac-defaults",
        );
        object.set_at(
            &[
                "metadata",
                "annotations",
                "rbac.authorization.kubernetes.io/autoupdate",
            ],
            "true",
        );
    }
    aggregate_all(&mut objects);
    objects
}

/// Gathers the rules of aggregated roles, which may gather from one another, until nothing changes.
fn aggregate_all(objects: &mut [Value]) {
    loop {
        let mut changed = false;
        for at in 0..objects.len() {
            let roles = objects
                .iter()
                .filter(|object| object.str_at(&["kind"]) == "ClusterRole");
            let rules = aggregate(&objects[at], roles);
            if let Some(rules) = rules.filter(|rules| objects[at].get("rules") != Some(rules)) {
                objects[at].set_at(&["rules"], rules);
                changed = true;
            }
        }
        if !changed {
            return;
        }
    }
}

/// The service that pods reach the API by.
fn api_service(port: u16) -> Value {
    value!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": "kubernetes",
            "namespace": "default",
            "labels": { "component": "apiserver", "provider": "kubernetes" },
        },
        "spec": {
            "clusterIP": "10.0.0.1",
            "clusterIPs": ["10.0.0.1"],
            "internalTrafficPolicy": "Cluster",
            "ipFamilies": ["IPv4"],
            "ipFamilyPolicy": "SingleStack",
            "ports": [{
                "name": "https", "port": 443, "protocol": "TCP", "targetPort": (i64::from(port)),
            }],
            "sessionAffinity": "None",
            "type": "ClusterIP",
        },
        "status": { "loadBalancer": {} },
    })
}
