//! Services.

use std::collections::HashSet;

use model::value;

use super::super::at::At;
use super::super::errors::Errors;
use super::super::selector::{label_key, labels};
use super::super::{address, name, port};
use super::service_address::{address_update, addresses, one_family};
use crate::builtin::default::is_reached_from_outside;
use crate::builtin::service::needs_health_check_port;

/// A new service. Addresses come first: where they are wrong, nothing else is looked at, as they are given out then.
pub(in super::super) fn service(object: &At, errors: &mut Errors) {
    if can_be_given(&object.get("spec"), errors) {
        check(object, errors);
    }
}

fn can_be_given(spec: &At, errors: &mut Errors) -> bool {
    addresses(spec, errors);
    if errors.len() == 0 {
        one_family(spec, errors);
    }
    errors.len() == 0
}

/// A changed service.
pub(in super::super) fn service_update(object: &At, old: &At, errors: &mut Errors) {
    if !can_be_given(&object.get("spec"), errors) {
        return;
    }
    address_update(object, old, errors);
    let (spec, old_spec) = (object.get("spec"), old.get("spec"));
    let both_balanced = is_type(&spec, "LoadBalancer") && is_type(&old_spec, "LoadBalancer");
    let class = spec.get("loadBalancerClass");
    if both_balanced && class.value() != old_spec.get("loadBalancerClass").value() {
        errors.invalid(&class, "may not change once set");
    }
    balancer_class(&spec, errors);
    let health = spec.num("healthCheckNodePort");
    let needs = |spec: &At| spec.map().is_some_and(needs_health_check_port);
    if needs(&spec) && needs(&old_spec) && health.int() != old_spec.int_of("healthCheckNodePort") {
        errors.forbidden(&health, "field is immutable");
    }
    check(object, errors);
}

fn is_type(spec: &At, kind: &str) -> bool {
    spec.text_of("type") == kind
}

/// Whether the service has no address of its own.
pub(super) fn is_headless(spec: &At) -> bool {
    spec.get("clusterIPs").texts().eq(["None"])
}

fn check(object: &At, errors: &mut Errors) {
    topology(object, errors);
    let spec = object.get("spec");
    let ports_at = spec.get("ports");
    if ports_at.is_empty() && !is_headless(&spec) && !is_type(&spec, "ExternalName") {
        errors.required(&ports_at, "");
    }
    of_type(&spec, errors);
    ports(&ports_at, errors);
    labels(&spec.get("selector"), errors);
    session(&spec, errors);
    for external in spec.get("externalIPs").items() {
        if address::address(&external, errors) {
            address::endpoint(&external, errors);
        }
    }
    errors.one_of(
        &spec.txt("type"),
        &["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"],
    );
    unique_ports(&spec, errors);
    source_ranges(object, &spec, errors);
    let allocate = spec.get("allocateLoadBalancerNodePorts");
    if allocate.is_set() && !is_type(&spec, "LoadBalancer") {
        errors.forbidden(&allocate, "may only be used when `type` is 'LoadBalancer'");
    }
    balancer_class(&spec, errors);
    traffic(&spec, errors);
}

fn topology(object: &At, errors: &mut Errors) {
    let notes = object.deep("metadata.annotations");
    let mode = notes.key("service.kubernetes.io/topology-mode");
    let hints = notes.key("service.kubernetes.io/topology-aware-hints");
    if mode.is_set() && hints.is_set() && mode.text() != hints.text() {
        let detail =
            "must match annotations[service.kubernetes.io/topology-aware-hints] when both are specified";
        errors.invalid(&mode, detail);
    }
}

fn of_type(spec: &At, errors: &mut Errors) {
    match spec.text_of("type") {
        kind @ ("LoadBalancer" | "NodePort") if is_headless(spec) => {
            let list = spec.get("clusterIPs");
            let detail = format!("may not be set to 'None' for {kind} services");
            errors.invalid(&list.index(0), detail);
        }
        "ExternalName" => {
            for field in ["clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
                let listed_as = field == "clusterIPs" && !spec.text_of("clusterIP").is_empty();
                if spec.has(field) || listed_as {
                    errors.forbidden(&spec.get(field), "may not be set for ExternalName services");
                }
            }
            let other = spec.txt("externalName");
            match other.text().strip_suffix('.').unwrap_or(other.text()) {
                "" => errors.required(&other, ""),
                host => {
                    for problem in name::subdomain(host) {
                        errors.invalid_value(&other, host, problem);
                    }
                }
            }
        }
        _ => {}
    }
}

fn ports(at: &At, errors: &mut Errors) {
    let mut names = HashSet::new();
    for one in at.items() {
        let name_at = one.txt("name");
        if at.len() > 1 && name_at.text().is_empty() {
            errors.required(&name_at, "");
        } else if !name_at.text().is_empty() {
            errors.each(&name_at, name::label(name_at.text()));
            if !names.insert(name_at.text()) {
                errors.duplicate(&name_at);
            }
        }
        port::number(&one.num("port"), errors);
        port::protocol(&one.txt("protocol"), errors);
        port::number_or_name(&one.num("targetPort"), errors);
        let protocol = one.get("appProtocol");
        if protocol.is_set() {
            label_key(&protocol, errors);
        }
    }
}

fn session(spec: &At, errors: &mut Errors) {
    let affinity = spec.txt("sessionAffinity");
    errors.one_of(&affinity, &["ClientIP", "None"]);
    let config = spec.get("sessionAffinityConfig");
    match affinity.text() {
        "ClientIP" => {
            const DETAIL: &str = "when session affinity type is ClientIP";
            let client = config.get("clientIP");
            let seconds = client.get("timeoutSeconds");
            if !config.is_set() {
                errors.required(&config, DETAIL);
            } else if !client.is_set() {
                errors.required(&client, DETAIL);
            } else if !seconds.is_set() {
                errors.required(&seconds, DETAIL);
            } else if !(1..=86400).contains(&seconds.int()) {
                errors.invalid(&seconds, "must be greater than 0 and less than 86400");
            }
        }
        "None" if config.is_set() => {
            errors.forbidden(&config, "must not be set when session affinity is None");
        }
        _ => {}
    }
}

fn unique_ports(spec: &At, errors: &mut Errors) {
    let list = spec.get("ports");
    let (mut nodes, mut seen) = (HashSet::new(), HashSet::new());
    if is_type(spec, "ClusterIP") {
        for one in list.items().filter(|one| one.int_of("nodePort") != 0) {
            let detail = "may not be used when `type` is 'ClusterIP'";
            errors.forbidden(&one.get("nodePort"), detail);
        }
    }
    for one in list.items() {
        let number = one.int_of("nodePort");
        if number != 0 && !nodes.insert((one.text_of("protocol"), number)) {
            errors.duplicate(&one.num("nodePort"));
        }
    }
    for one in list.items() {
        let (protocol, number) = (one.text_of("protocol"), one.int_of("port"));
        if !seen.insert((protocol, number)) {
            let shown = value!({ "protocol": protocol, "port": number });
            errors.duplicate_as(&one.with(&shown), "core.ServicePort", "");
        }
    }
}

/// From where clients may come.
fn source_ranges(object: &At, spec: &At, errors: &mut Errors) {
    const DETAIL: &str = "may only be used when `type` is 'LoadBalancer'";
    let list = spec.get("loadBalancerSourceRanges");
    if !list.is_empty() {
        let at = list.called("LoadBalancerSourceRanges");
        if !is_type(spec, "LoadBalancer") {
            errors.forbidden(&at, DETAIL);
        }
        for range in at.items() {
            let trimmed = model::Value::str(range.text().trim());
            address::network(&range.with(&trimmed), errors);
        }
        return;
    }
    let notes = object.deep("metadata.annotations");
    let note = notes.key("service.beta.kubernetes.io/load-balancer-source-ranges");
    if !note.is_set() {
        return;
    }
    if !is_type(spec, "LoadBalancer") {
        errors.forbidden(&note, DETAIL);
    }
    for range in note
        .text()
        .trim()
        .split(',')
        .filter(|_| !note.text().trim().is_empty())
    {
        let trimmed = model::Value::str(range.trim());
        address::network(&note.with(&trimmed), errors);
    }
}

fn balancer_class(spec: &At, errors: &mut Errors) {
    let class = spec.get("loadBalancerClass");
    if !class.is_set() {
        return;
    }
    match is_type(spec, "LoadBalancer") {
        true => label_key(&class, errors),
        false => errors.forbidden(&class, "may only be used when `type` is 'LoadBalancer'"),
    }
}

/// Which pods get traffic from where.
fn traffic(spec: &At, errors: &mut Errors) {
    let external = spec.txt("externalTrafficPolicy");
    if spec.map().is_some_and(is_reached_from_outside) {
        errors.one_of(&external, &["Cluster", "Local"]);
    } else if !external.text().is_empty() {
        errors.invalid(&external, "may only be set for externally-accessible services");
    }
    let health = spec.num("healthCheckNodePort");
    if spec.map().is_some_and(needs_health_check_port) {
        match health.int() {
            0 => errors.required(&health, ""),
            _ => port::number(&health, errors),
        }
    } else if health.int() != 0 {
        let detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
        errors.invalid(&health, detail);
    }
    let internal = spec.get("internalTrafficPolicy");
    let needs = matches!(spec.text_of("type"), "NodePort" | "LoadBalancer" | "ClusterIP");
    if !internal.is_set() && needs {
        errors.required(&internal, "");
    }
    errors.one_of_if_set(&internal, &["Cluster", "Local"]);
    errors.one_of_if_set(
        &spec.get("trafficDistribution"),
        &["PreferClose", "PreferSameZone", "PreferSameNode"],
    );
}

/// A changed status.
pub(in super::super) fn service_status(object: &At, _old: &At, errors: &mut Errors) {
    let status = object.get("status");
    let balancer = status.get("loadBalancer");
    let list = balancer.get("ingress");
    if !is_type(&object.get("spec"), "LoadBalancer") && !list.is_empty() {
        errors.forbidden(&list, "may only be used when `spec.type` is 'LoadBalancer'");
        return;
    }
    balancer_status(&list, Modes::Known, errors);
}

/// Whether addresses of balancers say how they are reached.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Modes {
    Known,
    Unknown,
}

/// Where a balancer is reached.
pub(in super::super) fn balancer_status(list: &At, modes: Modes, errors: &mut Errors) {
    for one in list.items() {
        let (ip, mode, host) = (one.txt("ip"), one.get("ipMode"), one.txt("hostname"));
        if !ip.text().is_empty() {
            address::address(&ip, errors);
        }
        match (mode.is_set(), !ip.text().is_empty()) {
            _ if modes == Modes::Unknown => {}
            (false, true) => errors.required(&mode, "must be specified when `ip` is set"),
            (true, false) => errors.forbidden(&mode, "may not be specified when `ip` is not set"),
            _ => errors.one_of_if_set(&mode, &["Proxy", "VIP"]),
        }
        if !host.text().is_empty() {
            errors.each(&host, name::subdomain(host.text()));
            if address::parse(host.text()).is_some() {
                errors.invalid(&host, "must be a DNS name, not an IP address");
            }
        }
    }
}
