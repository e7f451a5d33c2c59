//! Ingresses, network policies and addresses.

use std::collections::BTreeSet;

use model::Value;

use crate::table::cell::{self, NONE};
use crate::table::column::{AGE, Layout, NAME, text};
use crate::table::selector;

pub(super) const INGRESSES: Layout = Layout {
    columns: &[
        NAME,
        text("Class"),
        text("Hosts"),
        text("Address"),
        text("Ports"),
        AGE,
    ],
    cells: |object, now| {
        let encrypted = !object.list_at(&["spec", "tls"]).is_empty();
        vec![
            cell::name(object),
            cell::text_or(object, &["spec", "ingressClassName"], NONE),
            Value::from(hosts(object.list_at(&["spec", "rules"]))),
            Value::from(load_balancer(object)),
            Value::str(if encrypted { "80, 443" } else { "80" }),
            cell::age(object, now),
        ]
    },
};

pub(super) const INGRESS_CLASSES: Layout = Layout {
    columns: &[NAME, text("Controller"), text("Parameters"), AGE],
    cells: |object, now| {
        let parameters = object
            .at(&["spec", "parameters"])
            .map_or(NONE.to_owned(), |parameters| {
                let (kind, name) = (parameters.str_at(&["kind"]), parameters.str_at(&["name"]));
                match parameters.get("apiGroup").and_then(Value::as_str) {
                    Some(group) => format!("{kind}.{group}/{name}"),
                    None => format!("{kind}/{name}"),
                }
            });
        let controller = cell::text(object, &["spec", "controller"]);
        vec![
            cell::name(object),
            controller,
            Value::from(parameters),
            cell::age(object, now),
        ]
    },
};

pub(super) const NETWORK_POLICIES: Layout = Layout {
    columns: &[NAME, text("Pod-Selector"), AGE],
    cells: |object, now| {
        let pods = selector::selector_or_none(object, &["spec", "podSelector"]);
        vec![cell::name(object), pods, cell::age(object, now)]
    },
};

/// The real server sends an age, too, that has no column; clients drop it.
pub(super) const IP_ADDRESSES: Layout = Layout {
    columns: &[NAME, text("ParentRef")],
    cells: |object, now| {
        let parent = object.at(&["spec", "parentRef"]).map_or(NONE.to_owned(), parent);
        vec![cell::name(object), Value::from(parent), cell::age(object, now)]
    },
};

pub(super) const SERVICE_CIDRS: Layout = Layout {
    columns: &[NAME, text("CIDRs"), AGE],
    cells: |object, now| {
        let ranges = Value::from(cell::joined(object, &["spec", "cidrs"], ","));
        vec![cell::name(object), ranges, cell::age(object, now)]
    },
};

/// The addresses that a load balancer gave, each once and in order.
pub(super) fn load_balancer(object: &Value) -> String {
    let points = object.list_at(&["status", "loadBalancer", "ingress"]).iter();
    let mut addresses: BTreeSet<&str> = points
        .map(|point| match point.str_at(&["ip"]) {
            "" => point.str_at(&["hostname"]),
            ip => ip,
        })
        .collect();
    addresses.remove("");
    addresses.into_iter().collect::<Vec<_>>().join(",")
}

/// The first three hosts. What is left over is counted in rules, whether or not they name a host.
fn hosts(rules: &[Value]) -> String {
    const SHOWN: usize = 3;
    let mut hosts = Vec::new();
    let mut more = false;
    for rule in rules {
        more = more || hosts.len() == SHOWN;
        match rule.str_at(&["host"]) {
            "" => {}
            host if !more => hosts.push(host),
            _ => {}
        }
    }
    match hosts.join(",") {
        _ if hosts.is_empty() => "*".to_owned(),
        text if more => format!("{text} + {} more...", rules.len() - SHOWN),
        text => text,
    }
}

/// `services/default/web`.
fn parent(parent: &Value) -> String {
    let resource = match parent.str_at(&["group"]) {
        "" => parent.str_at(&["resource"]).to_owned(),
        group => format!("{}.{group}", parent.str_at(&["resource"])),
    };
    let mut text = resource.to_lowercase();
    for part in [parent.str_at(&["namespace"]), parent.str_at(&["name"])] {
        if !part.is_empty() {
            text.push('/');
            text.push_str(part);
        }
    }
    text
}
