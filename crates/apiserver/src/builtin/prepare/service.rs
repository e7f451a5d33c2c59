//! Services lose what their new type does not have.

use model::{Map, Value, value};

use crate::builtin::default::is_reached_from_outside;
use crate::builtin::fields::Fields;
use crate::builtin::service::{needs_cluster_ip, needs_health_check_port, needs_node_port};

/// Drops fields that were set for the old type of a service and that its writer left as they were.
pub(super) fn update(object: &mut Map, old: &Value) {
    let empty = Map::new();
    let old = old.get("spec").and_then(Value::as_object).unwrap_or(&empty);
    let spec = object.make("spec");
    let same = |spec: &Map, key: &str| spec.get(key) == old.get(key);
    if needs_cluster_ip(old) && !needs_cluster_ip(spec) {
        if same(spec, "clusterIPs") {
            spec.remove("clusterIP");
            spec.remove("clusterIPs");
        }
        drop_same(spec, old, &["ipFamilies", "ipFamilyPolicy"]);
    }
    if needs_node_port(old) && !needs_node_port(spec) && node_ports(old).is_superset(&node_ports(spec)) {
        spec.each("ports", |port| drop(port.remove("nodePort")));
    }
    if needs_health_check_port(old) && !needs_health_check_port(spec) {
        drop_same(spec, old, &["healthCheckNodePort"]);
    }
    if old.text("type") == "LoadBalancer" && spec.text("type") != "LoadBalancer" {
        drop_same(spec, old, &["allocateLoadBalancerNodePorts", "loadBalancerClass"]);
    }
    if is_reached_from_outside(old) && !is_reached_from_outside(spec) {
        drop_same(spec, old, &["externalTrafficPolicy"]);
    }
    if spec.text("type") != "LoadBalancer" {
        object.make("status").insert("loadBalancer", Map::new());
    }
}

fn drop_same(spec: &mut Map, old: &Map, keys: &[&str]) {
    for key in keys {
        if spec.get(key) == old.get(key) {
            spec.remove(key);
        }
    }
}

/// The ports that the service has on every node.
fn node_ports(spec: &Map) -> std::collections::BTreeSet<i64> {
    let ports = spec.items("ports").iter();
    ports
        .filter_map(|port| port.get("nodePort")?.as_i64())
        .filter(|number| *number != 0)
        .collect()
}

/// An API that the server itself serves is there from the start.
pub(super) fn create_api_service(object: &mut Map) {
    if object
        .child("spec")
        .is_some_and(|spec| spec.contains_key("service"))
    {
        return;
    }
    let now = object.make("metadata").text("creationTimestamp").to_owned();
    let condition = value!({
        "type": "Available",
        "status": "True",
        "reason": "Local",
        "message": "Local APIServices are always available",
        "lastTransitionTime": now,
    });
    object.make("status").insert("conditions", vec![condition]);
}
