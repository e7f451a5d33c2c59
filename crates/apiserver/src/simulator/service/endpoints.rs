//! Endpoints: the older list of addresses behind a service.

use model::{Map, Value, value};

use super::{Groups, Port, fill_and_note, hostname, is_headless, target};
use crate::simulator::facts::PodFacts;
use crate::simulator::{Kind, Step};

const MANAGED_BY: &str = "endpoints.kubernetes.io/managed-by";
const CONTROLLER: &str = "endpoint-controller";
const HEADLESS: &str = "service.kubernetes.io/headless";

/// Whether the endpoints of this name are ours.
pub(super) fn is_managed(step: &Step<'_>) -> bool {
    let endpoints = step.find(Kind::Endpoints, step.key);
    endpoints.is_some_and(|endpoints| endpoints.label(MANAGED_BY) == Some(CONTROLLER))
}

/// Brings the endpoints of a service up to date.
pub(super) fn write(step: &Step<'_>, service: &Value, groups: &Groups<'_>) {
    let subsets: Vec<Value> = groups
        .groups
        .iter()
        .filter_map(|(ports, pods)| subset(service, ports, pods, groups.all_ready))
        .collect();
    let labels = labels(service);
    let now = step.now_text();
    let set = |endpoints: &mut Value| {
        fill_and_note(endpoints, &now, |endpoints| {
            endpoints.set_at(&["metadata", "labels"], labels.clone());
            match subsets.is_empty() {
                true => drop(endpoints.remove_at(&["subsets"])),
                false => endpoints.set_at(&["subsets"], subsets.clone()),
            }
        });
    };
    if step.change(Kind::Endpoints, step.key, set).is_some() {
        return;
    }
    let mut endpoints =
        value!({"metadata": {"name": (step.key.name()), "namespace": (step.key.namespace())}});
    set(&mut endpoints);
    // The namespace may be on its way out.
    let _ = step.create(Kind::Endpoints, endpoints);
}

fn labels(service: &Value) -> Map {
    let own = service.at(&["metadata", "labels"]).and_then(Value::as_object);
    let mut labels = own.cloned().unwrap_or_default();
    match is_headless(service) {
        true => drop(labels.insert(HEADLESS, "")),
        false => drop(labels.remove(HEADLESS)),
    }
    labels.insert(MANAGED_BY, CONTROLLER);
    labels
}

fn subset(service: &Value, ports: &[Port], pods: &[&PodFacts], all_ready: bool) -> Option<Value> {
    let there = pods.iter().filter(|pod| all_ready || !pod.deleting());
    let (ready, unready): (Vec<&PodFacts>, Vec<&PodFacts>) =
        there.partition(|pod| all_ready || pod.is_ready());
    let address = |pod: &&PodFacts| {
        let mut address = value!({
            "ip": (pod.address.clone()), "nodeName": (pod.node.clone()), "targetRef": (target(pod)),
        });
        if let Some(name) = hostname(service, pod) {
            address.set_at(&["hostname"], name);
        }
        address
    };
    let mut subset = Value::object();
    for (field, pods) in [("addresses", &ready), ("notReadyAddresses", &unready)] {
        if !pods.is_empty() {
            subset.set_at(&[field], pods.iter().map(address).collect::<Value>());
        }
    }
    let ports: Vec<Value> = ports.iter().map(port).collect();
    if !ports.is_empty() {
        subset.set_at(&["ports"], ports);
    }
    (!ready.is_empty() || !unready.is_empty()).then_some(subset)
}

fn port(port: &Port) -> Value {
    let mut value = value!({"port": (port.number), "protocol": (port.protocol.as_str())});
    for (field, text) in [("name", &port.name), ("appProtocol", &port.app_protocol)] {
        if !text.is_empty() {
            value.set_at(&[field], text.as_str());
        }
    }
    value
}
