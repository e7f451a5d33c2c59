//! Who may do what.

use model::Value;

use crate::table::cell;
use crate::table::column::{AGE, Layout, NAME, text, wide};

/// Role bindings and cluster role bindings.
pub(super) const BINDINGS: Layout = Layout {
    columns: &[
        NAME,
        text("Role"),
        AGE,
        wide("Users"),
        wide("Groups"),
        wide("ServiceAccounts"),
    ],
    cells: |object, now| {
        let role = format!(
            "{}/{}",
            object.str_at(&["roleRef", "kind"]),
            object.str_at(&["roleRef", "name"])
        );
        vec![
            cell::name(object),
            Value::from(role),
            cell::age(object, now),
            subjects(object, "User"),
            subjects(object, "Group"),
            subjects(object, "ServiceAccount"),
        ]
    },
};

fn subjects(binding: &Value, kind: &str) -> Value {
    let subjects = binding
        .list_at(&["subjects"])
        .iter()
        .filter(|subject| subject.str_at(&["kind"]) == kind);
    let names = subjects.map(|subject| match kind {
        "ServiceAccount" => format!("{}/{}", subject.str_at(&["namespace"]), subject.str_at(&["name"])),
        _ => subject.str_at(&["name"]).to_owned(),
    });
    Value::from(names.collect::<Vec<_>>().join(", "))
}
