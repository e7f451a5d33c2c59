//! The networks that addresses of services are taken from, and the addresses that are taken.

use super::super::address::Network;
use super::super::at::At;
use super::super::errors::{Errors, IMMUTABLE};
use super::super::name::{self, path_segment};

/// An address.
pub(in super::super) fn ip_address(object: &At, errors: &mut Errors) {
    let spec = object.get("spec");
    let at = spec.get("parentRef");
    if !at.is_set() {
        errors.required(&at, "");
        return;
    }
    let group = at.txt("group");
    if !group.text().is_empty() {
        errors.each(&group, name::subdomain(group.text()));
    }
    for field in ["resource", "name"] {
        let part = at.txt(field);
        if errors.require_text(&part) {
            errors.each(&part, path_segment(part.text()));
        }
    }
    let namespace = at.txt("namespace");
    errors.each(&namespace, path_segment(namespace.text()));
}

/// A changed address.
pub(in super::super) fn ip_address_update(object: &At, old: &At, errors: &mut Errors) {
    ip_address(object, errors);
    let (spec, old_spec) = (object.get("spec"), old.get("spec"));
    let ty = "*networking.ParentReference";
    errors.immutable_as(&spec.get("parentRef"), &old_spec.get("parentRef"), ty);
}

/// Networks.
pub(in super::super) fn service_cidr(object: &At, errors: &mut Errors) {
    let spec = object.get("spec");
    let at = spec.get("cidrs");
    match at.len() {
        0 => return errors.required(&at, "at least one CIDR required"),
        1 | 2 => {}
        _ => {
            let detail = "may only hold up to 2 values";
            return errors.invalid_as(&at.with(spec.value()), "networking.ServiceCIDRSpec", detail);
        }
    }
    for one in at.items() {
        strict_network(&one, errors);
    }
    let families: Vec<bool> = at
        .texts()
        .filter_map(|text| Some(Network::parse(text)?.address.is_ipv4()))
        .collect();
    if let [first, second] = families.as_slice()
        && first == second
    {
        let detail =
            "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";
        errors.invalid(&at, detail);
    }
}

fn strict_network(at: &At, errors: &mut Errors) {
    let text = at.text();
    let Some(network) = Network::parse(text) else {
        let detail = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
        return errors.invalid(at, detail);
    };
    let (address, bits) = text.split_once('/').unwrap_or((text, ""));
    let canonical = format!("{}/{}", network.address, network.bits);
    match address.parse::<std::net::IpAddr>() {
        _ if bits.len() > 1 && bits.starts_with('0') => {
            errors.invalid(at, "must not have leading 0s in IP or prefix length");
        }
        Err(_) => errors.invalid(at, "must not have leading 0s in IP or prefix length"),
        Ok(given) if given != network.address => {
            errors.invalid(at, "must not have bits set beyond the prefix length");
        }
        Ok(_) if canonical != text => {
            errors.invalid(at, format!("must be in canonical form ({canonical:?})"));
        }
        Ok(_) => {}
    }
}

/// Changed networks.
pub(in super::super) fn service_cidr_update(object: &At, old: &At, errors: &mut Errors) {
    let (at, before) = (object.deep("spec.cidrs"), old.deep("spec.cidrs"));
    if at.len() != before.len() && (at.len(), before.len()) != (2, 1) {
        errors.invalid(&at, IMMUTABLE);
        return;
    }
    for (one, before) in at.items().zip(before.items()) {
        errors.immutable(&one, &before);
    }
    if at.len() != before.len() {
        service_cidr(object, errors);
    }
}
