//! What a cluster is configured with: classes, flow control, API services, certificates, leases.

use jiff::SignedDuration;
use model::Value;

use crate::table::cell::{self, NONE};
use crate::table::column::{AGE, Layout, NAME, flag, number, text};
use crate::table::duration;

pub(super) const PRIORITY_CLASSES: Layout = Layout {
    columns: &[
        NAME,
        number("Value"),
        flag("Global-Default"),
        AGE,
        text("PreemptionPolicy"),
    ],
    cells: |object, now| {
        vec![
            cell::name(object),
            cell::number(object, &["value"]),
            cell::flag_or(object, &["globalDefault"], false),
            cell::age(object, now),
            cell::text(object, &["preemptionPolicy"]),
        ]
    },
};

pub(super) const RUNTIME_CLASSES: Layout = Layout {
    columns: &[NAME, text("Handler"), AGE],
    cells: |object, now| {
        vec![
            cell::name(object),
            cell::text(object, &["handler"]),
            cell::age(object, now),
        ]
    },
};

pub(super) const LEASES: Layout = Layout {
    columns: &[NAME, text("Holder"), AGE],
    cells: |object, now| {
        vec![
            cell::name(object),
            cell::text(object, &["spec", "holderIdentity"]),
            cell::age(object, now),
        ]
    },
};

pub(super) const API_SERVICES: Layout = Layout {
    columns: &[NAME, text("Service"), text("Available"), AGE],
    cells: |object, now| {
        let service = object
            .at(&["spec", "service"])
            .filter(|service| !service.is_null());
        let service = service.map_or("Local".to_owned(), |service| {
            format!("{}/{}", service.str_at(&["namespace"]), service.str_at(&["name"]))
        });
        let available =
            cell::condition(object, "Available").map_or("Unknown".to_owned(), |condition| {
                match (condition.str_at(&["status"]), condition.str_at(&["reason"])) {
                    (status @ "True", _) | (status, "") => status.to_owned(),
                    (status, reason) => format!("{status} ({reason})"),
                }
            });
        vec![
            cell::name(object),
            Value::from(service),
            Value::from(available),
            cell::age(object, now),
        ]
    },
};

pub(super) const SIGNING_REQUESTS: Layout = Layout {
    columns: &[
        NAME,
        AGE,
        text("SignerName"),
        text("Requestor"),
        text("RequestedDuration"),
        text("Condition"),
    ],
    cells: |object, now| {
        let seconds = object.at(&["spec", "expirationSeconds"]).and_then(Value::as_i64);
        let lasts = seconds.map_or(NONE.to_owned(), |seconds| {
            duration::human(SignedDuration::from_secs(seconds))
        });
        vec![
            cell::name(object),
            cell::age(object, now),
            cell::filled_or(object, &["spec", "signerName"], NONE),
            cell::text(object, &["spec", "username"]),
            Value::from(lasts),
            Value::from(signing_status(object)),
        ]
    },
};

pub(super) const FLOW_SCHEMAS: Layout = Layout {
    columns: &[
        NAME,
        text("PriorityLevel"),
        text("MatchingPrecedence"),
        text("DistinguisherMethod"),
        AGE,
        text("MissingPL"),
    ],
    cells: |object, now| {
        let dangling = cell::condition(object, "Dangling").map_or("?", |entry| entry.str_at(&["status"]));
        vec![
            cell::name(object),
            cell::text(object, &["spec", "priorityLevelConfiguration", "name"]),
            cell::number(object, &["spec", "matchingPrecedence"]),
            cell::text_or(object, &["spec", "distinguisherMethod", "type"], NONE),
            cell::age(object, now),
            Value::str(dangling),
        ]
    },
};

pub(super) const PRIORITY_LEVELS: Layout = Layout {
    columns: &[
        NAME,
        text("Type"),
        text("NominalConcurrencyShares"),
        text("Queues"),
        text("HandSize"),
        text("QueueLengthLimit"),
        AGE,
    ],
    cells: |object, now| {
        let limited = object.at(&["spec", "limited"]);
        let queuing = limited.and_then(|limited| limited.at(&["limitResponse", "queuing"]));
        let number = |from: Option<&Value>, field| {
            from.map_or_else(|| Value::str(NONE), |from| cell::number(from, &[field]))
        };
        vec![
            cell::name(object),
            cell::text(object, &["spec", "type"]),
            number(limited, "nominalConcurrencyShares"),
            number(queuing, "queues"),
            number(queuing, "handSize"),
            number(queuing, "queueLengthLimit"),
            cell::age(object, now),
        ]
    },
};

/// Flow schemas are listed in the order in which they are tried.
pub(in crate::table) fn flow_schema_order(object: &Value) -> (i64, &str) {
    (
        cell::int(object, &["spec", "matchingPrecedence"]),
        object.str_at(&["metadata", "name"]),
    )
}

fn signing_status(request: &Value) -> String {
    let has = |kind| cell::condition(request, kind).is_some();
    let mut status = if has("Denied") {
        "Denied"
    } else if has("Approved") {
        "Approved"
    } else {
        "Pending"
    }
    .to_owned();
    if has("Failed") {
        status.push_str(",Failed");
    }
    if !request.str_at(&["status", "certificate"]).is_empty() {
        status.push_str(",Issued");
    }
    status
}
