//! Where services lead: `Endpoints` and `EndpointSlice`.

use std::collections::HashSet;
use std::net::IpAddr;

use model::label::value_problems;

use super::super::at::At;
use super::super::errors::Errors;
use super::super::selector::{label_key, labels};
use super::super::{address, name, port};

/// New endpoints.
pub(in super::super) fn endpoints(object: &At, errors: &mut Errors) {
    for subset in object.get("subsets").items() {
        let (ready, waiting) = (subset.get("addresses"), subset.get("notReadyAddresses"));
        if ready.is_empty() && waiting.is_empty() {
            errors.required(&subset, "must specify `addresses` or `notReadyAddresses`");
        }
        for one in ready.items().chain(waiting.items()) {
            endpoint(&one, errors);
        }
        let ports = subset.get("ports");
        for one in ports.items() {
            let name_at = one.txt("name");
            if ports.len() > 1 && name_at.text().is_empty() {
                errors.required(&name_at, "");
            } else if !name_at.text().is_empty() {
                errors.each(&name_at, name::label(name_at.text()));
            }
            port::number(&one.num("port"), errors);
            port::protocol(&one.txt("protocol"), errors);
            app_protocol(&one, errors);
        }
    }
}

fn endpoint(at: &At, errors: &mut Errors) {
    let ip = at.txt("ip");
    address::address(&ip, errors);
    let host = at.txt("hostname");
    if !host.text().is_empty() {
        errors.each(&host, name::label(host.text()));
    }
    let node = at.get("nodeName");
    if node.is_set() {
        errors.each(&node, name::subdomain(node.text()));
    }
    address::endpoint(&ip, errors);
}

fn app_protocol(port: &At, errors: &mut Errors) {
    let protocol = port.get("appProtocol");
    if protocol.is_set() {
        label_key(&protocol, errors);
    }
}

/// Changed endpoints; those that did not change may be wrong.
pub(in super::super) fn endpoints_update(object: &At, old: &At, errors: &mut Errors) {
    if object.get("subsets").value() != old.get("subsets").value() {
        endpoints(object, errors);
    }
}

/// A new slice.
pub(in super::super) fn endpoint_slice(object: &At, errors: &mut Errors) {
    slice_itself(object, errors);
    slice_endpoints(object, errors);
}

fn slice_itself(object: &At, errors: &mut Errors) {
    errors.one_of(&object.txt("addressType"), &["FQDN", "IPv4", "IPv6"]);
    let ports = object.get("ports");
    if ports.len() > 20_000 {
        errors.too_many(&ports, 20_000);
        return;
    }
    let mut names = HashSet::new();
    for one in ports.items() {
        let name_at = one.txt("name");
        if !name_at.text().is_empty() {
            errors.each(&name_at, name::label(name_at.text()));
        }
        if !names.insert(name_at.text()) {
            errors.duplicate(&name_at);
        }
        let protocol = one.get("protocol");
        match protocol.is_set() {
            true => errors.one_of_if_set(&protocol, &port::PROTOCOLS),
            false => errors.required(&protocol, ""),
        }
        app_protocol(&one, errors);
    }
}

fn slice_endpoints(object: &At, errors: &mut Errors) {
    let list = object.get("endpoints");
    if list.len() > 1000 {
        errors.too_many(&list, 1000);
        return;
    }
    for one in list.items() {
        let addresses = one.get("addresses");
        if addresses.is_empty() {
            errors.required(&addresses, "must contain at least 1 address");
        } else if addresses.len() > 100 {
            errors.too_many(&addresses, 100);
        }
        for address in addresses.items() {
            slice_address(&addresses, &address, object.text_of("addressType"), errors);
        }
        let node = one.get("nodeName");
        if node.is_set() {
            errors.each(&node, name::subdomain(node.text()));
        }
        labels(&one.get("deprecatedTopology"), errors);
        let host = one.get("hostname");
        if host.is_set() {
            errors.each(&host, name::label(host.text()));
        }
        let hints = one.get("hints");
        if hints.is_set() {
            self::hints(&hints, errors);
        }
    }
}

fn slice_address(list: &At, at: &At, kind: &str, errors: &mut Errors) {
    let is_address = match kind {
        "IPv4" => address::address(at, errors),
        "IPv6" => address::strict_address(at, errors),
        "FQDN" => return domain(at, errors),
        _ => return,
    };
    if !is_address {
        return;
    }
    let is_v4 = matches!(address::parse(at.text()), Some(IpAddr::V4(_)));
    if is_v4 != (kind == "IPv4") {
        errors.invalid(&list.with(at.value()), format!("must be an {kind} address"));
    }
    address::endpoint(at, errors);
}

/// A full domain name.
fn domain(at: &At, errors: &mut Errors) {
    if !errors.require_text(at) {
        return;
    }
    let host = at.text().strip_suffix('.').unwrap_or(at.text());
    let problems = name::subdomain(host);
    if !problems.is_empty() {
        errors.invalid_value(at, host, problems.join(","));
        return;
    }
    if !host.contains('.') {
        let detail = "should be a domain with at least two segments separated by dots";
        errors.invalid_value(at, host, detail);
        return;
    }
    for label in host.split('.') {
        let problems = name::label(label);
        if !problems.is_empty() {
            errors.invalid_value(at, label, problems.join(","));
            return;
        }
    }
}

fn hints(at: &At, errors: &mut Errors) {
    for (list, check) in [
        ("forZones", value_problems as fn(&str) -> Vec<String>),
        ("forNodes", name::subdomain),
    ] {
        let list = at.get(list);
        if list.len() > 8 {
            errors.too_many(&list, 8);
            return;
        }
        let mut names = HashSet::new();
        for one in list.items() {
            let name_at = one.txt("name");
            if !names.insert(name_at.text()) {
                errors.duplicate(&name_at);
            }
            errors.each(&name_at, check(name_at.text()));
        }
    }
}

/// A changed slice; endpoints that did not change may be wrong.
pub(in super::super) fn endpoint_slice_update(object: &At, old: &At, errors: &mut Errors) {
    slice_itself(object, errors);
    if object.get("endpoints").value() != old.get("endpoints").value() {
        slice_endpoints(object, errors);
    }
    errors.immutable(&object.txt("addressType"), &old.txt("addressType"));
}
