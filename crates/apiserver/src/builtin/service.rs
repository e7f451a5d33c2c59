//! Addresses and ports that services are given when they are stored.

use model::{Map, Value};

use super::fields::Fields;

/// Where free addresses and ports come from. Each call takes what it returns.
pub trait Allocator {
    /// A free cluster address.
    fn address(&mut self) -> String;
    /// A free port on every node.
    fn node_port(&mut self) -> i64;
}

/// Gives a new service its addresses, address families and node ports. Those it asks for it keeps.
///
/// **Deviation**: there is one address family, IPv4, as in a cluster without dual-stack.
pub fn allocate(service: &mut Value, allocator: &mut dyn Allocator) {
    if let Some(object) = service.as_object_mut() {
        let spec = object.make("spec");
        if needs_cluster_ip(spec) {
            addresses(spec, allocator);
        }
        if needs_node_port(spec) {
            share_node_ports(spec, allocator);
        }
        complete(spec, allocator);
    }
}

/// Gives a changed service what it had before and did not name, then what it still lacks.
pub fn reallocate(service: &mut Value, old: &Value, allocator: &mut dyn Allocator) {
    let empty = Map::new();
    let old = old.get("spec").and_then(Value::as_object).unwrap_or(&empty);
    let Some(object) = service.as_object_mut() else {
        return;
    };
    let spec = object.make("spec");
    if needs_cluster_ip(old) && needs_cluster_ip(spec) {
        for key in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
            if let Some(value) = old.get(key) {
                spec.default(key, value.clone());
            }
        }
        if spec.text("clusterIP") != old.text("clusterIP") && spec.get("clusterIPs") == old.get("clusterIPs")
        {
            let address = Value::str(spec.text("clusterIP"));
            spec.insert("clusterIPs", vec![address]);
        }
    }
    if needs_node_port(old) && needs_node_port(spec) {
        keep_node_ports(spec, old);
    }
    if needs_health_check_port(old) && needs_health_check_port(spec) {
        spec.fill("healthCheckNodePort", old.number("healthCheckNodePort"));
    }
    complete(spec, allocator);
}

fn complete(spec: &mut Map, allocator: &mut dyn Allocator) {
    if needs_cluster_ip(spec) {
        addresses(spec, allocator);
    }
    if needs_node_port(spec) {
        node_ports(spec, allocator);
    }
    if needs_health_check_port(spec) && spec.number("healthCheckNodePort") == 0 {
        spec.insert("healthCheckNodePort", allocator.node_port());
    }
}

fn addresses(spec: &mut Map, allocator: &mut dyn Allocator) {
    // What is asked for in vain is left as it is and refused when the service is checked.
    let other_family = spec
        .items("ipFamilies")
        .first()
        .is_some_and(|family| family.as_str() == Some("IPv6"));
    if spec.text("clusterIP").is_empty() && spec.items("clusterIPs").is_empty() && !other_family {
        spec.insert("clusterIP", allocator.address());
    }
    if !spec.text("clusterIP").is_empty() {
        let address = Value::str(spec.text("clusterIP"));
        spec.default("clusterIPs", vec![address]);
    }
    // Without pods of its own a headless service says nothing about address families, so it has both.
    let open = spec.text("clusterIP") == "None" && spec.child("selector").is_none();
    spec.default(
        "ipFamilyPolicy",
        if open { "RequireDualStack" } else { "SingleStack" },
    );
    if spec.items("ipFamilies").is_empty() {
        spec.insert("ipFamilies", vec![Value::str("IPv4")]);
    }
    let single = spec.text("ipFamilyPolicy") == "SingleStack";
    if open
        && !single
        && let [only] = spec.items("ipFamilies")
    {
        let other = if only.as_str() == Some("IPv4") {
            "IPv6"
        } else {
            "IPv4"
        };
        let both = vec![only.clone(), Value::str(other)];
        spec.insert("ipFamilies", both);
    }
}

/// Whether ports that name no node port get one.
fn is_automatic(spec: &Map) -> bool {
    spec.text("type") == "NodePort" || spec.flag("allocateLoadBalancerNodePorts")
}

/// In a new service, one node port for each port number, also where it is open for several protocols.
fn share_node_ports(spec: &mut Map, allocator: &mut dyn Allocator) {
    if !is_automatic(spec) {
        return;
    }
    let port_of = |port: &Map| (port.number("port"), port.number("nodePort"));
    let ports = spec
        .items("ports")
        .iter()
        .filter_map(Value::as_object)
        .map(port_of);
    let mut taken: Vec<(i64, i64)> = ports.filter(|(_, node)| *node != 0).collect();
    spec.each("ports", |port| {
        let (number, node) = port_of(port);
        if node == 0 {
            let known = taken
                .iter()
                .find(|(port, _)| *port == number)
                .map(|(_, node)| *node);
            let node = known.unwrap_or_else(|| allocator.node_port());
            taken.push((number, node));
            port.insert("nodePort", node);
        }
    });
}

/// A node port for each port that still has none.
fn node_ports(spec: &mut Map, allocator: &mut dyn Allocator) {
    if is_automatic(spec) {
        spec.each("ports", |port| {
            if port.number("nodePort") == 0 {
                port.insert("nodePort", allocator.node_port());
            }
        });
    }
}

/// Ports are recognised by name.
fn keep_node_ports(spec: &mut Map, old: &Map) {
    let numbers = |spec: &Map| -> Vec<i64> {
        spec.items("ports")
            .iter()
            .filter_map(|port| port.get("nodePort")?.as_i64())
            .filter(|n| *n != 0)
            .collect()
    };
    let asked = numbers(spec);
    spec.each("ports", |port| {
        let same = |other: &&Value| other.str_at(&["name"]) == port.text("name");
        let before = old
            .items("ports")
            .iter()
            .find(same)
            .and_then(|port| port.get("nodePort")?.as_i64());
        if let Some(before) = before.filter(|number| *number != 0 && !asked.contains(number)) {
            port.fill("nodePort", before);
        }
    });
}

/// Whether the service has an address in the cluster, be it `None`.
pub(super) fn needs_cluster_ip(spec: &Map) -> bool {
    matches!(spec.text("type"), "ClusterIP" | "NodePort" | "LoadBalancer")
}

/// Whether the service has ports on every node.
pub(super) fn needs_node_port(spec: &Map) -> bool {
    matches!(spec.text("type"), "NodePort" | "LoadBalancer")
}

/// Whether balancers ask nodes for their health.
pub(super) fn needs_health_check_port(spec: &Map) -> bool {
    spec.text("type") == "LoadBalancer" && spec.text("externalTrafficPolicy") == "Local"
}

#[cfg(test)]
mod tests {
    use model::value;

    use super::*;

    struct Counter(i64);

    impl Allocator for Counter {
        fn address(&mut self) -> String {
            self.0 += 1;
            format!("10.0.0.{}", self.0)
        }

        fn node_port(&mut self) -> i64 {
            self.0 += 1;
            30000 + self.0
        }
    }

    #[test]
    fn a_service_gets_one_node_port_for_both_protocols_of_a_port() {
        let mut service = value!({ "spec": { "type": "NodePort", "ports": [
            { "port": 53, "protocol": "TCP" }, { "port": 53, "protocol": "UDP" }, { "port": 80, "nodePort": 30080 },
        ] } });
        allocate(&mut service, &mut Counter(0));
        let ports: Vec<_> = service
            .list_at(&["spec", "ports"])
            .iter()
            .map(|port| port.get("nodePort").unwrap().as_i64())
            .collect();
        assert_eq!(ports, [Some(30002), Some(30002), Some(30080)]);
        assert_eq!(service.str_at(&["spec", "clusterIP"]), "10.0.0.1");
        assert_eq!(service.at(&["spec", "clusterIPs"]), Some(&value!(["10.0.0.1"])));
    }

    #[test]
    fn headless_services_keep_none_and_those_without_pods_have_both_families() {
        let mut service = value!({ "spec": { "type": "ClusterIP", "clusterIP": "None" } });
        allocate(&mut service, &mut Counter(0));
        assert_eq!(service.at(&["spec", "clusterIPs"]), Some(&value!(["None"])));
        assert_eq!(
            service.at(&["spec", "ipFamilies"]),
            Some(&value!(["IPv4", "IPv6"]))
        );
        let mut external = value!({ "spec": { "type": "ExternalName" } });
        allocate(&mut external, &mut Counter(0));
        assert_eq!(external, value!({ "spec": { "type": "ExternalName" } }));
    }

    #[test]
    fn an_update_that_names_nothing_keeps_addresses_and_ports() {
        let mut old = value!({ "spec": { "type": "NodePort", "ports": [{ "name": "a", "port": 1 }] } });
        allocate(&mut old, &mut Counter(0));
        let mut new = value!({ "spec": { "type": "NodePort", "ports": [{ "name": "b", "port": 2 }, { "name": "a", "port": 1 }] } });
        reallocate(&mut new, &old, &mut Counter(50));
        assert_eq!(new.str_at(&["spec", "clusterIP"]), "10.0.0.1");
        let ports: Vec<_> = new
            .list_at(&["spec", "ports"])
            .iter()
            .map(|port| port.get("nodePort").unwrap().as_i64())
            .collect();
        assert_eq!(ports, [Some(30051), Some(30002)]);
    }
}
