//! The plain objects of the core group: configuration, namespaces, quotas, nodes.

use std::collections::BTreeSet;

use model::Value;

use crate::table::cell::{self, NONE, UNKNOWN};
use crate::table::column::{AGE, Layout, NAME, date, text, wide};

/// What kinds without a table of their own show.
pub(super) const NAME_AND_CREATION: Layout = Layout {
    columns: &[NAME, date("Created At")],
    cells: |object, _| {
        let created = cell::filled_or(object, &["metadata", "creationTimestamp"], "0001-01-01T00:00:00Z");
        vec![cell::name(object), created]
    },
};

pub(super) const NAME_AND_AGE: Layout = Layout {
    columns: &[NAME, AGE],
    cells: |object, now| vec![cell::name(object), cell::age(object, now)],
};

pub(super) const CONFIG_MAPS: Layout = Layout {
    columns: &[NAME, text("Data"), AGE],
    cells: |object, now| {
        let entries =
            ["data", "binaryData"].map(|field| cell::map(object, &[field]).map_or(0, |map| map.len()));
        let entries = i64::try_from(entries[0] + entries[1]).unwrap_or(i64::MAX);
        vec![cell::name(object), Value::Int(entries), cell::age(object, now)]
    },
};

pub(super) const SECRETS: Layout = Layout {
    columns: &[NAME, text("Type"), text("Data"), AGE],
    cells: |object, now| {
        let kind = cell::text(object, &["type"]);
        vec![
            cell::name(object),
            kind,
            cell::len(object, &["data"]),
            cell::age(object, now),
        ]
    },
};

pub(super) const NAMESPACES: Layout = Layout {
    columns: &[NAME, text("Status"), AGE],
    cells: |object, now| {
        vec![
            cell::name(object),
            cell::text(object, &["status", "phase"]),
            cell::age(object, now),
        ]
    },
};

pub(super) const RESOURCE_QUOTAS: Layout = Layout {
    columns: &[NAME, text("Request"), text("Limit"), AGE],
    cells: |object, now| {
        let mut hard: Vec<_> = cell::map(object, &["status", "hard"])
            .iter()
            .flat_map(|map| map.iter())
            .collect();
        hard.sort_by_key(|(resource, _)| *resource);
        let (mut requests, mut limits) = (Vec::new(), Vec::new());
        for (resource, hard) in hard {
            let used = cell::quantity(object.at(&["status", "used", resource]), "0");
            let column = if resource.starts_with("limits.") {
                &mut limits
            } else {
                &mut requests
            };
            column.push(format!("{resource}: {used}/{}", cell::int_or_string(hard)));
        }
        let [requests, limits] = [requests, limits].map(|column| Value::from(column.join(", ")));
        vec![cell::name(object), requests, limits, cell::age(object, now)]
    },
};

pub(super) const NODES: Layout = Layout {
    columns: &[
        NAME,
        text("Status"),
        text("Roles"),
        AGE,
        text("Version"),
        wide("Internal-IP"),
        wide("External-IP"),
        wide("OS-Image"),
        wide("Kernel-Version"),
        wide("Container-Runtime"),
    ],
    cells: |object, now| {
        let info = |field| ["status", "nodeInfo", field];
        vec![
            cell::name(object),
            Value::from(node_status(object)),
            Value::from(node_roles(object)),
            cell::age(object, now),
            cell::text(object, &info("kubeletVersion")),
            node_address(object, "InternalIP"),
            node_address(object, "ExternalIP"),
            cell::filled_or(object, &info("osImage"), UNKNOWN),
            cell::filled_or(object, &info("kernelVersion"), UNKNOWN),
            cell::filled_or(object, &info("containerRuntimeVersion"), UNKNOWN),
        ]
    },
};

fn node_status(node: &Value) -> String {
    let ready = node
        .list_at(&["status", "conditions"])
        .iter()
        .rfind(|entry| entry.str_at(&["type"]) == "Ready");
    let mut status = match ready.map(|condition| condition.str_at(&["status"])) {
        Some("True") => "Ready",
        Some(_) => "NotReady",
        None => "Unknown",
    }
    .to_owned();
    if node.at(&["spec", "unschedulable"]).and_then(Value::as_bool) == Some(true) {
        status.push_str(",SchedulingDisabled");
    }
    status
}

/// The roles that labels give a node, in one of two ways.
fn node_roles(node: &Value) -> String {
    let mut roles = BTreeSet::new();
    for (key, value) in cell::map(node, &["metadata", "labels"])
        .iter()
        .flat_map(|labels| labels.iter())
    {
        match key.strip_prefix("node-role.kubernetes.io/") {
            Some(role) => roles.insert(role),
            None if key == "kubernetes.io/role" => roles.insert(value.as_str().unwrap_or_default()),
            None => continue,
        };
    }
    roles.remove("");
    match roles.is_empty() {
        true => NONE.to_owned(),
        false => roles.into_iter().collect::<Vec<_>>().join(","),
    }
}

fn node_address(node: &Value, kind: &str) -> Value {
    let addresses = node.list_at(&["status", "addresses"]);
    let address = addresses.iter().find(|address| address.str_at(&["type"]) == kind);
    Value::str(address.map_or(NONE, |address| address.str_at(&["address"])))
}
