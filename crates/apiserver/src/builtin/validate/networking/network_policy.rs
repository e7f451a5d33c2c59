//! Network policies.

use model::Value;

use super::super::address::{self, Network};
use super::super::at::At;
use super::super::errors::Errors;
use super::super::port;
use super::super::selector::selector;
use super::super::text::port_name;

/// A network policy.
pub(in super::super) fn network_policy(object: &At, errors: &mut Errors) {
    let spec = object.get("spec");
    selector(&spec.get("podSelector"), errors);
    for (way, peers) in [("ingress", "from"), ("egress", "to")] {
        for rule in spec.get(way).items() {
            for one in rule.get("ports").items() {
                policy_port(&one, errors);
            }
            for one in rule.get(peers).items() {
                peer(&one, errors);
            }
        }
    }
    let types = spec.get("policyTypes");
    if types.len() > 2 {
        errors.invalid(&types, "may not specify more than two policyTypes");
        return;
    }
    for one in types.items() {
        errors.one_of_if_set(&one, &["Ingress", "Egress"]);
    }
}

/// A changed network policy. The real server checks it twice.
pub(in super::super) fn network_policy_update(object: &At, _old: &At, errors: &mut Errors) {
    network_policy(object, errors);
    network_policy(object, errors);
}

fn policy_port(at: &At, errors: &mut Errors) {
    errors.one_of_if_set(&at.get("protocol"), &["TCP", "UDP", "SCTP"]);
    let (start, end) = (at.get("port"), at.get("endPort"));
    match start.value() {
        Value::Null => {
            if end.is_set() {
                errors.invalid(&end, "may not be specified when `port` is not specified");
            }
        }
        Value::Str(name) => {
            if end.is_set() {
                errors.invalid(&end, "may not be specified when `port` is non-numeric");
            }
            errors.each(&start, port_name(name));
        }
        _ => {
            port::number(&start, errors);
            if end.is_set() {
                if end.int() < start.int() {
                    let detail = "must be greater than or equal to `port`";
                    errors.invalid_value(&end, start.int(), detail);
                }
                port::number(&end, errors);
            }
        }
    }
}

fn peer(at: &At, errors: &mut Errors) {
    let (pods, namespaces, block) = (
        at.get("podSelector"),
        at.get("namespaceSelector"),
        at.get("ipBlock"),
    );
    selector(&pods, errors);
    selector(&namespaces, errors);
    if block.is_set() {
        ip_block(&block, errors);
    }
    let selects = pods.is_set() || namespaces.is_set();
    if !selects && !block.is_set() {
        errors.required(at, "must specify a peer");
    } else if selects && block.is_set() {
        errors.forbidden(at, "may not specify both ipBlock and another peer");
    }
}

fn ip_block(at: &At, errors: &mut Errors) {
    let range = at.txt("cidr");
    if !errors.require_text(&range) {
        return;
    }
    address::network(&range, errors);
    let Some(network) = Network::parse(range.text()) else {
        return;
    };
    for except in at.get("except").items() {
        address::network(&except, errors);
        if let Some(inner) = Network::parse(except.text())
            && !network.is_larger_than(&inner)
        {
            errors.invalid(&except, "must be a strict subset of `cidr`");
        }
    }
}
