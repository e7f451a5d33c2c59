//! Services: the addresses behind them, and the one that a load balancer gives them.

mod endpoints;
mod slices;

use model::{Value, value};

use super::event::Level;
use super::facts::PodFacts;
use super::outcome::Outcome;
use super::step::deleting;
use super::{Kind, Step, hash};
use crate::verbs::delete::DeleteOptions;

/// When what endpoints tell changed.
const TRIGGERED: &str = "endpoints.kubernetes.io/last-change-trigger-time";

pub(super) fn advance(step: &mut Step<'_>) {
    let Some(service) = step.own() else {
        // Its slices have it as their owner and go with it; the older kind of endpoints does not.
        if endpoints::is_managed(step) {
            step.delete(Kind::Endpoints, step.key, &DeleteOptions::default());
        }
        return;
    };
    if deleting(&service) {
        return;
    }
    balance_load(step, &service);
    let selects = service
        .at(&["spec", "selector"])
        .and_then(Value::as_object)
        .is_some_and(|selector| !selector.is_empty());
    if !selects || service.str_at(&["spec", "type"]) == "ExternalName" {
        return;
    }
    let groups = Groups::of(step, &service);
    endpoints::write(step, &service, &groups);
    slices::write(step, &service, &groups);
}

/// Gives a service of type `LoadBalancer` an address, and takes it back where the type changed.
fn balance_load(step: &mut Step<'_>, service: &Value) {
    let has_address = !service.list_at(&["status", "loadBalancer", "ingress"]).is_empty();
    if service.str_at(&["spec", "type"]) != "LoadBalancer" {
        step.leave("provision");
        if has_address {
            step.change_status(|service| service.set_at(&["status", "loadBalancer"], Value::object()));
        }
        return;
    }
    let outcome = step.outcome(service);
    if outcome != Outcome::Fine {
        if has_address {
            step.change_status(|service| service.set_at(&["status", "loadBalancer"], Value::object()));
        }
        if step.complain(service, outcome) {
            return;
        }
        let message = "Error syncing load balancer: failed to ensure load balancer: simulated";
        return step.event(service, Level::Warning, "SyncLoadBalancerFailed", message);
    }
    if has_address {
        return;
    }
    if !step.is_in("provision") {
        let message = "Ensuring load balancer";
        step.event(service, Level::Normal, "EnsuringLoadBalancer", message);
    }
    if step.lasts("provision", step.options.provision_delay) {
        return;
    }
    let wanted = service.str_at(&["spec", "loadBalancerIP"]);
    let address = match wanted {
        "" => address(step.key.text()),
        wanted => wanted.to_owned(),
    };
    let ingress = value!([{"ip": address, "ipMode": "VIP"}]);
    step.change_status(|service| service.set_at(&["status", "loadBalancer", "ingress"], ingress.clone()));
    let message = "Ensured load balancer";
    step.event(service, Level::Normal, "EnsuredLoadBalancer", message);
}

/// An address from the range that is set aside for examples, the same for a name in every run.
pub(super) fn address(name: &str) -> String {
    format!("192.0.2.{}", 1 + hash::fnv(name.as_bytes()) % 254)
}

/// A port of a service as a pod has it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Port {
    name: String,
    protocol: String,
    number: i64,
    app_protocol: String,
}

/// The pods behind a service, by the ports that they have.
struct Groups<'a> {
    groups: Vec<(Vec<Port>, Vec<&'a PodFacts>)>,
    /// Whether pods that are not ready count as if they were.
    all_ready: bool,
}

impl<'a> Groups<'a> {
    fn of(step: &Step<'a>, service: &Value) -> Self {
        let index = step.index;
        let mut pods: Vec<&PodFacts> = index
            .members(Kind::Service, step.key)
            .filter(|pod| !pod.address.is_empty() && !pod.is_done())
            .collect();
        pods.sort_by(|a, b| (&a.address, a.key()).cmp(&(&b.address, b.key())));
        let ports = service.list_at(&["spec", "ports"]);
        let mut groups: Vec<(Vec<Port>, Vec<&PodFacts>)> = Vec::new();
        for pod in pods {
            let own: Vec<Port> = ports.iter().filter_map(|port| resolve(port, pod)).collect();
            if own.is_empty() && !ports.is_empty() {
                continue;
            }
            match groups.iter_mut().find(|(ports, _)| *ports == own) {
                Some((_, members)) => members.push(pod),
                None => groups.push((own, vec![pod])),
            }
        }
        groups.sort_by(|a, b| a.0.cmp(&b.0));
        Groups {
            groups,
            all_ready: super::step::flag(service, &["spec", "publishNotReadyAddresses"]),
        }
    }
}

/// Where a service's port leads to in a pod.
fn resolve(port: &Value, pod: &PodFacts) -> Option<Port> {
    let protocol = port.str_at(&["protocol"]);
    let target = port.get("targetPort");
    let number = match target {
        Some(Value::Str(name)) => {
            let mut ports = pod.ports.iter();
            let named = ports.find(|(own, used, _)| own == name && used == protocol);
            named.map(|(_, _, number)| *number)?
        }
        Some(number) => number.as_i64()?,
        None => port.get("port")?.as_i64()?,
    };
    Some(Port {
        name: port.str_at(&["name"]).to_owned(),
        protocol: protocol.to_owned(),
        number,
        app_protocol: port.str_at(&["appProtocol"]).to_owned(),
    })
}

/// The host name that a pod has behind this service.
fn hostname<'a>(service: &Value, pod: &'a PodFacts) -> Option<&'a str> {
    let own = !pod.hostname.is_empty() && pod.subdomain == service.str_at(&["metadata", "name"]);
    own.then_some(pod.hostname.as_str())
}

/// Does `fill` to endpoints, and notes the time where that changed something.
fn fill_and_note(endpoints: &mut Value, now: &str, fill: impl Fn(&mut Value)) {
    let before = endpoints.clone();
    fill(endpoints);
    if *endpoints != before {
        endpoints.set_at(&["metadata", "annotations", TRIGGERED], now);
    }
}

fn is_headless(service: &Value) -> bool {
    service.str_at(&["spec", "clusterIP"]) == "None"
}

/// The pod that an address belongs to.
fn target(pod: &PodFacts) -> Value {
    value!({
        "kind": "Pod", "name": (pod.key().name()), "namespace": (pod.key().namespace()), "uid": (pod.uid().clone()),
    })
}
