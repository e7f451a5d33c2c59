//! Nodes: one that is there from the start, and those that users add. All are ready at once.

use std::sync::Arc;

use model::{Value, value};

use super::{Kind, Step, condition};
use crate::discovery::GIT_VERSION;
use crate::server::State;

/// The node that is there from the start.
pub(super) const FIRST: &str = "sim-0";
/// The address of every node.
pub(super) const ADDRESS: &str = "127.0.0.1";

/// Puts the first node into the cluster.
pub(super) fn create_first(state: &Arc<State>) {
    let kinds = state.kinds();
    let node = value!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": FIRST,
            "labels": {
                "kubernetes.io/arch": "amd64", "kubernetes.io/hostname": FIRST, "kubernetes.io/os": "linux",
            },
        },
        "status": (status(FIRST, &state.now_text())),
    });
    // A second simulator on the same server finds the node there.
    let _ = state.create_inside(Kind::Node.served(&kinds), node, Kind::Node.manager());
}

/// Makes a node ready that has nobody to tell its state.
pub(super) fn advance(step: &Step<'_>) {
    let Some(node) = step.own() else { return };
    let known = condition::find(node.get("status").unwrap_or(&Value::Null), "Ready").is_some();
    if !known {
        let status = status(step.key.name(), &step.now_text());
        step.change_status(|node| node.set_at(&["status"], status.clone()));
    }
}

fn status(name: &str, now: &str) -> Value {
    let resources = value!({
        "cpu": "32", "memory": "256Gi", "pods": "10000", "ephemeral-storage": "1Ti", "hugepages-2Mi": "0",
    });
    value!({
        "addresses": [{"type": "InternalIP", "address": ADDRESS}, {"type": "Hostname", "address": name}],
        "capacity": (resources.clone()),
        "allocatable": resources,
        "conditions": [{
            "type": "Ready", "status": "True", "reason": "KubeletReady", "message": "this node runs nothing",
            "lastHeartbeatTime": now, "lastTransitionTime": now,
        }],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 0}},
        "nodeInfo": {
            "architecture": "amd64", "operatingSystem": "linux", "osImage": "simulated", "kernelVersion": "simulated",
            "kubeletVersion": GIT_VERSION, "kubeProxyVersion": "", "containerRuntimeVersion": "simulated://0",
            "bootID": "", "machineID": "", "systemUUID": "",
        },
    })
}
