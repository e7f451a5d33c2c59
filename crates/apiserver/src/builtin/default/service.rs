//! Services and where they lead.

use model::{Map, value};

use super::Fields;

/// How long a client stays with one pod, in seconds.
const AFFINITY_SECONDS: i64 = 3 * 60 * 60;

pub(super) fn service(object: &mut Map) {
    let mut is_balanced = false;
    object.within("spec", |spec| {
        spec.default("sessionAffinity", "None");
        session(spec);
        spec.default("type", "ClusterIP");
        spec.each("ports", |port| {
            port.default("protocol", "TCP");
            let number = port.number("port");
            port.fill("targetPort", number);
        });
        if is_reached_from_outside(spec) {
            spec.default("externalTrafficPolicy", "Cluster");
        }
        match spec.text("type") {
            // It has no traffic of its own.
            "ExternalName" => drop(spec.remove("internalTrafficPolicy")),
            "NodePort" | "LoadBalancer" | "ClusterIP" => spec.default("internalTrafficPolicy", "Cluster"),
            _ => {}
        }
        is_balanced = spec.text("type") == "LoadBalancer";
        if is_balanced {
            spec.default("allocateLoadBalancerNodePorts", true);
        }
    });
    if is_balanced {
        object.within("status", |status| {
            status.within("loadBalancer", |balancer| {
                balancer.each("ingress", |address| {
                    if !address.text("ip").is_empty() {
                        address.default("ipMode", "VIP");
                    }
                });
            });
        });
    }
}

fn session(spec: &mut Map) {
    match spec.text("sessionAffinity") {
        "None" => drop(spec.remove("sessionAffinityConfig")),
        "ClientIP" => {
            let timeout = spec
                .get("sessionAffinityConfig")
                .and_then(|config| config.at(&["clientIP", "timeoutSeconds"]));
            if timeout.is_none() {
                spec.insert(
                    "sessionAffinityConfig",
                    value!({ "clientIP": { "timeoutSeconds": AFFINITY_SECONDS } }),
                );
            }
        }
        _ => {}
    }
}

/// Whether clients outside of the cluster can reach the service.
pub(in crate::builtin) fn is_reached_from_outside(spec: &Map) -> bool {
    match spec.text("type") {
        "LoadBalancer" | "NodePort" => true,
        "ClusterIP" => !spec.items("externalIPs").is_empty(),
        _ => false,
    }
}

pub(super) fn endpoints(object: &mut Map) {
    object.each("subsets", |subset| {
        subset.each("ports", |port| port.default("protocol", "TCP"))
    });
}

pub(super) fn endpoint_slice(object: &mut Map) {
    object.each("ports", |port| {
        port.default("name", "");
        port.default("protocol", "TCP");
    });
}

pub(super) fn api_service(object: &mut Map) {
    object.within("spec", |spec| {
        spec.within("service", |service| service.default("port", 443))
    });
}
