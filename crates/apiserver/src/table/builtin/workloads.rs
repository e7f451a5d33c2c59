//! Everything that keeps pods running.

use jiff::Timestamp;
use model::Value;

use crate::table::cell::{self, NONE};
use crate::table::column::{AGE, Layout, NAME, number, text, wide};
use crate::table::selector;

const CONTAINERS: &[&str] = &["spec", "template", "spec", "containers"];

pub(super) const DEPLOYMENTS: Layout = Layout {
    columns: &[
        NAME,
        text("Ready"),
        text("Up-to-date"),
        text("Available"),
        AGE,
        wide("Containers"),
        wide("Images"),
        wide("Selector"),
    ],
    cells: |object, now| {
        let [names, images] = cell::containers(object, CONTAINERS);
        vec![
            cell::name(object),
            ready(object),
            cell::number(object, &["status", "updatedReplicas"]),
            cell::number(object, &["status", "availableReplicas"]),
            cell::age(object, now),
            names,
            images,
            Value::from(
                selector::selector(object.at(&["spec", "selector"])).unwrap_or("<invalid>".to_owned()),
            ),
        ]
    },
};

pub(super) const REPLICA_SETS: Layout = Layout {
    columns: &[
        NAME,
        number("Desired"),
        number("Current"),
        number("Ready"),
        AGE,
        wide("Containers"),
        wide("Images"),
        wide("Selector"),
    ],
    cells: |object, now| {
        let mut cells = replicas(object, now);
        cells.push(selector::selector_or_none(object, &["spec", "selector"]));
        cells
    },
};

/// Like [`REPLICA_SETS`], but the selector is a plain map.
pub(super) const REPLICATION_CONTROLLERS: Layout = Layout {
    columns: REPLICA_SETS.columns,
    cells: |object, now| {
        let mut cells = replicas(object, now);
        cells.push(Value::from(selector::labels(cell::map(
            object,
            &["spec", "selector"],
        ))));
        cells
    },
};

pub(super) const STATEFUL_SETS: Layout = Layout {
    columns: &[NAME, text("Ready"), AGE, wide("Containers"), wide("Images")],
    cells: |object, now| {
        let [names, images] = cell::containers(object, CONTAINERS);
        vec![
            cell::name(object),
            ready(object),
            cell::age(object, now),
            names,
            images,
        ]
    },
};

pub(super) const DAEMON_SETS: Layout = Layout {
    columns: &[
        NAME,
        number("Desired"),
        number("Current"),
        number("Ready"),
        number("Up-to-date"),
        number("Available"),
        text("Node Selector"),
        AGE,
        wide("Containers"),
        wide("Images"),
        wide("Selector"),
    ],
    cells: |object, now| {
        let [names, images] = cell::containers(object, CONTAINERS);
        let nodes = cell::map(object, &["spec", "template", "spec", "nodeSelector"]);
        vec![
            cell::name(object),
            cell::number(object, &["status", "desiredNumberScheduled"]),
            cell::number(object, &["status", "currentNumberScheduled"]),
            cell::number(object, &["status", "numberReady"]),
            cell::number(object, &["status", "updatedNumberScheduled"]),
            cell::number(object, &["status", "numberAvailable"]),
            Value::from(selector::labels(nodes)),
            cell::age(object, now),
            names,
            images,
            selector::selector_or_none(object, &["spec", "selector"]),
        ]
    },
};

pub(super) const CONTROLLER_REVISIONS: Layout = Layout {
    columns: &[NAME, text("Controller"), text("Revision"), AGE],
    cells: |object, now| {
        let owners = object.list_at(&["metadata", "ownerReferences"]);
        let controls = |owner: &&Value| owner.get("controller").and_then(Value::as_bool) == Some(true);
        let controller = owners.iter().find(controls).map_or(NONE.to_owned(), controller);
        let revision = cell::number(object, &["revision"]);
        vec![
            cell::name(object),
            Value::from(controller),
            revision,
            cell::age(object, now),
        ]
    },
};

/// The `scale` subresource of any of them.
pub(in crate::table) const SCALE: Layout = Layout {
    columns: &[text("Name"), number("Desired"), number("Available"), AGE],
    cells: |object, now| {
        vec![
            cell::name(object),
            cell::number(object, &["spec", "replicas"]),
            cell::number(object, &["status", "replicas"]),
            cell::age(object, now),
        ]
    },
};

pub(super) const DISRUPTION_BUDGETS: Layout = Layout {
    columns: &[
        NAME,
        text("Min Available"),
        text("Max Unavailable"),
        number("Allowed Disruptions"),
        AGE,
    ],
    cells: |object, now| {
        let bound = |field| {
            object
                .at(&["spec", field])
                .map_or("N/A".to_owned(), cell::int_or_string)
        };
        vec![
            cell::name(object),
            Value::from(bound("minAvailable")),
            Value::from(bound("maxUnavailable")),
            cell::number(object, &["status", "disruptionsAllowed"]),
            cell::age(object, now),
        ]
    },
};

fn ready(object: &Value) -> Value {
    let (ready, desired) = (
        cell::int(object, &["status", "readyReplicas"]),
        cell::int(object, &["spec", "replicas"]),
    );
    Value::from(format!("{ready}/{desired}"))
}

fn replicas(object: &Value, now: Timestamp) -> Vec<Value> {
    let [names, images] = cell::containers(object, CONTAINERS);
    vec![
        cell::name(object),
        cell::number(object, &["spec", "replicas"]),
        cell::number(object, &["status", "replicas"]),
        cell::number(object, &["status", "readyReplicas"]),
        cell::age(object, now),
        names,
        images,
    ]
}

/// `statefulset.apps/web`.
fn controller(owner: &Value) -> String {
    let kind = owner.str_at(&["kind"]).to_lowercase();
    let name = owner.str_at(&["name"]);
    match owner.str_at(&["apiVersion"]).split_once('/') {
        Some((group, _)) => format!("{kind}.{}/{name}", group.to_lowercase()),
        None if kind.is_empty() => name.to_owned(),
        None => format!("{kind}/{name}"),
    }
}
