//! Services and the addresses behind them.

use model::Value;

use super::networking::load_balancer;
use crate::table::cell::{self, NONE, UNSET};
use crate::table::column::{AGE, Layout, NAME, text, wide};
use crate::table::selector;

/// How many addresses a cell lists.
const SHOWN: usize = 3;

pub(super) const SERVICES: Layout = Layout {
    columns: &[
        NAME,
        text("Type"),
        text("Cluster-IP"),
        text("External-IP"),
        text("Port(s)"),
        AGE,
        wide("Selector"),
    ],
    cells: |object, now| {
        let cluster_ips = object.list_at(&["spec", "clusterIPs"]);
        vec![
            cell::name(object),
            cell::text(object, &["spec", "type"]),
            Value::str(cluster_ips.first().and_then(Value::as_str).unwrap_or(NONE)),
            Value::from(external_ips(object)),
            Value::from(ports(object)),
            cell::age(object, now),
            Value::from(selector::labels(cell::map(object, &["spec", "selector"]))),
        ]
    },
};

pub(super) const ENDPOINTS: Layout = Layout {
    columns: &[NAME, text("Endpoints"), AGE],
    cells: |object, now| {
        let addresses = match object.list_at(&["subsets"]) {
            [] => NONE.to_owned(),
            subsets => cell::first_of(&subsets.iter().flat_map(addresses).collect::<Vec<_>>(), SHOWN, ""),
        };
        vec![cell::name(object), Value::from(addresses), cell::age(object, now)]
    },
};

pub(super) const ENDPOINT_SLICES: Layout = Layout {
    columns: &[NAME, text("AddressType"), text("Ports"), text("Endpoints"), AGE],
    cells: |object, now| {
        let ports: Vec<String> = object.list_at(&["ports"]).iter().map(slice_port).collect();
        let endpoints = object
            .list_at(&["endpoints"])
            .iter()
            .flat_map(|endpoint| endpoint.list_at(&["addresses"]));
        let endpoints: Vec<String> = endpoints.filter_map(Value::as_str).map(str::to_owned).collect();
        vec![
            cell::name(object),
            cell::text(object, &["addressType"]),
            Value::from(cell::first_of(&ports, SHOWN, UNSET)),
            Value::from(cell::first_of(&endpoints, SHOWN, UNSET)),
            cell::age(object, now),
        ]
    },
};

fn external_ips(service: &Value) -> String {
    let fixed = cell::joined(service, &["spec", "externalIPs"], ",");
    match service.str_at(&["spec", "type"]) {
        "ClusterIP" | "NodePort" if fixed.is_empty() => NONE.to_owned(),
        "ClusterIP" | "NodePort" => fixed,
        "LoadBalancer" => match (load_balancer(service), fixed) {
            (given, fixed) if given.is_empty() && fixed.is_empty() => "<pending>".to_owned(),
            (given, fixed) if fixed.is_empty() => given,
            (given, fixed) if given.is_empty() => fixed,
            (given, fixed) => format!("{given},{fixed}"),
        },
        "ExternalName" => service.str_at(&["spec", "externalName"]).to_owned(),
        _ => "<unknown>".to_owned(),
    }
}

fn ports(service: &Value) -> String {
    let ports: Vec<String> = service.list_at(&["spec", "ports"]).iter().map(port).collect();
    match ports.is_empty() {
        true => NONE.to_owned(),
        false => ports.join(","),
    }
}

fn port(port: &Value) -> String {
    let (number, protocol) = (cell::int(port, &["port"]), port.str_at(&["protocol"]));
    match cell::int(port, &["nodePort"]) {
        node_port @ 1.. => format!("{number}:{node_port}/{protocol}"),
        _ => format!("{number}/{protocol}"),
    }
}

/// Each address of a subset with each of its ports.
fn addresses(subset: &Value) -> Vec<String> {
    let ips = || {
        subset
            .list_at(&["addresses"])
            .iter()
            .map(|address| address.str_at(&["ip"]))
    };
    match subset.list_at(&["ports"]) {
        [] => ips().map(str::to_owned).collect(),
        ports => ports
            .iter()
            .flat_map(|port| ips().map(|ip| host_port(ip, cell::int(port, &["port"]))))
            .collect(),
    }
}

fn host_port(ip: &str, port: i64) -> String {
    match ip.contains(':') {
        true => format!("[{ip}]:{port}"),
        false => format!("{ip}:{port}"),
    }
}

/// A port's number, else its name, else any.
fn slice_port(port: &Value) -> String {
    match port.get("port").and_then(Value::as_i64) {
        Some(number) => number.to_string(),
        None => port.get("name").and_then(Value::as_str).unwrap_or("*").to_owned(),
    }
}
