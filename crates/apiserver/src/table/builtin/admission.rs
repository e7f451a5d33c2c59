//! Webhooks and admission policies.

use model::Value;

use crate::table::cell::{self, UNSET};
use crate::table::column::{AGE, Layout, NAME, number, text};
use crate::table::selector;

/// Both kinds of webhook configurations.
pub(super) const WEBHOOKS: Layout = Layout {
    columns: &[NAME, number("Webhooks"), AGE],
    cells: |object, now| {
        vec![
            cell::name(object),
            cell::len(object, &["webhooks"]),
            cell::age(object, now),
        ]
    },
};

pub(super) const POLICIES: Layout = Layout {
    columns: &[NAME, number("Validations"), text("ParamKind"), AGE],
    cells: |object, now| {
        let parameters = object
            .at(&["spec", "paramKind"])
            .map_or(UNSET.to_owned(), |kind| {
                format!("{}/{}", kind.str_at(&["apiVersion"]), kind.str_at(&["kind"]))
            });
        let validations = cell::len(object, &["spec", "validations"]);
        vec![
            cell::name(object),
            validations,
            Value::from(parameters),
            cell::age(object, now),
        ]
    },
};

pub(super) const POLICY_BINDINGS: Layout = Layout {
    columns: &[NAME, text("PolicyName"), text("ParamRef"), AGE],
    cells: |object, now| {
        let policy = cell::text(object, &["spec", "policyName"]);
        let parameters = object
            .at(&["spec", "paramRef"])
            .map_or(UNSET.to_owned(), parameters);
        vec![
            cell::name(object),
            policy,
            Value::from(parameters),
            cell::age(object, now),
        ]
    },
};

fn parameters(reference: &Value) -> String {
    match (reference.str_at(&["name"]), reference.str_at(&["namespace"])) {
        ("", _) => reference
            .get("selector")
            .map_or(UNSET.to_owned(), selector::structure),
        (name, "") => format!("*/{name}"),
        (name, namespace) => format!("{namespace}/{name}"),
    }
}
