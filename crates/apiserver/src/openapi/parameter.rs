//! The parameters of operations.

use model::{Value, value};

/// Parameters that change how a list or watch is answered.
const LIST: &[(&str, &str, &str)] = &[
    (
        "allowWatchBookmarks",
        "boolean",
        "Whether a watch may send BOOKMARK events.",
    ),
    (
        "continue",
        "string",
        "Where to go on with a list that was cut by `limit`.",
    ),
    ("fieldSelector", "string", "Keeps the objects whose fields match."),
    ("labelSelector", "string", "Keeps the objects whose labels match."),
    ("limit", "integer", "The most objects to answer at once."),
    (
        "resourceVersion",
        "string",
        "The version to list or to watch from.",
    ),
    (
        "resourceVersionMatch",
        "string",
        "How `resourceVersion` is meant: Exact or NotOlderThan.",
    ),
    (
        "sendInitialEvents",
        "boolean",
        "Whether a watch begins with the objects that are there.",
    ),
    ("timeoutSeconds", "integer", "When the answer ends at the latest."),
    ("watch", "boolean", "Whether to send changes instead of a list."),
];

/// Parameters of every write.
const WRITE: &[(&str, &str, &str)] = &[
    ("dryRun", "string", "With All nothing is stored."),
    ("fieldManager", "string", "In whose name fields are set."),
    (
        "fieldValidation",
        "string",
        "What happens to unknown fields: Ignore, Warn or Strict.",
    ),
];

const FORCE: (&str, &str, &str) = (
    "force",
    "boolean",
    "Whether an apply takes fields over from others.",
);

const DELETE: &[(&str, &str, &str)] = &[
    ("dryRun", "string", "With All nothing is deleted."),
    (
        "gracePeriodSeconds",
        "integer",
        "How long the object may take to end.",
    ),
    (
        "orphanDependents",
        "boolean",
        "Deprecated: whether dependents stay.",
    ),
    (
        "propagationPolicy",
        "string",
        "What happens to dependents: Orphan, Background or Foreground.",
    ),
];

/// What a request does, as far as its parameters go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Get,
    List,
    Create,
    Replace,
    Patch,
    Delete,
    DeleteCollection,
}

impl Action {
    /// The parameters in the query.
    pub(super) fn parameters(self) -> Value {
        let lists: &[&[_]] = match self {
            Action::Get => &[],
            Action::List => &[LIST],
            Action::Create | Action::Replace => &[WRITE],
            Action::Patch => &[WRITE, &[FORCE]],
            Action::Delete => &[DELETE],
            Action::DeleteCollection => &[LIST, DELETE],
        };
        let skipped =
            |name: &str| self == Action::DeleteCollection && matches!(name, "allowWatchBookmarks" | "watch");
        let parameters = lists
            .iter()
            .flat_map(|list| list.iter())
            .filter(|(name, _, _)| !skipped(name));
        parameters
            .map(|(name, kind, text)| query(name, kind, text))
            .collect()
    }
}

/// The parameters that every method of a path shares.
pub(super) fn of_path(kind: &str, named: bool, namespaced: bool) -> Value {
    let mut parameters = Vec::new();
    if named {
        parameters.push(in_path("name", &format!("Name of the {kind}.")));
    }
    if namespaced {
        parameters.push(in_path("namespace", "Namespace of the objects."));
    }
    parameters.push(query("pretty", "string", "With true the answer is indented."));
    Value::from(parameters)
}

fn query(name: &str, kind: &str, description: &str) -> Value {
    value!({
        "name": name,
        "in": "query",
        "description": description,
        "schema": { "type": kind, "uniqueItems": true },
    })
}

fn in_path(name: &str, description: &str) -> Value {
    value!({
        "name": name,
        "in": "path",
        "description": description,
        "required": true,
        "schema": { "type": "string", "uniqueItems": true },
    })
}
