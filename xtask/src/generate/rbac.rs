//! `crates/apiserver/data/rbac.json`: the roles and bindings that a new cluster has, taken from a running API server.

use std::fmt::Write as _;

use anyhow::Result;
use model::{Map, Value, json};

use super::committed::Check;
use super::server::Server;

/// The label of everything that the server made itself.
const LABEL: [&str; 2] = ["kubernetes.io/bootstrapping", "rbac-defaults"];

/// Controllers of the real control plane have these; there are none here that would use them.
const LEFT_OUT: &str = "system:controller:";

/// Where the server is and what to do with what it says.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    server: Server,
    #[command(flatten)]
    check: Check,
}

/// Writes the file, or compares it.
pub(crate) fn run(args: &Args) -> Result<()> {
    let mut text = String::from("[\n");
    let kinds = [
        ("clusterroles", "ClusterRole"),
        ("clusterrolebindings", "ClusterRoleBinding"),
        ("roles", "Role"),
        ("rolebindings", "RoleBinding"),
    ];
    for (resource, kind) in kinds {
        let list = args
            .server
            .get(&format!("/apis/rbac.authorization.k8s.io/v1/{resource}"))?;
        for object in list.list_at(&["items"]).iter().filter(|object| is_kept(object)) {
            writeln!(text, "{},", json::to_string(&compact(kind, object)))?;
        }
    }
    text.truncate(text.trim_end_matches([',', '\n']).len());
    text.push_str("\n]\n");

    args.check
        .settle("crates/apiserver/data/rbac.json", &text, "rbac")
}

fn is_kept(object: &Value) -> bool {
    object.str_at(&["metadata", "labels", LABEL[0]]) == LABEL[1]
        && !object.str_at(&["metadata", "name"]).starts_with(LEFT_OUT)
}

/// The object without what the server fills in, and without the label and annotation that all of them have.
fn compact(kind: &str, object: &Value) -> Value {
    let mut metadata = Map::new();
    for key in ["name", "namespace"] {
        if let Some(text) = object.at(&["metadata", key]) {
            metadata.insert(key, text.clone());
        }
    }
    let mut labels = object
        .at(&["metadata", "labels"])
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    labels.remove(LABEL[0]);
    if !labels.is_empty() {
        metadata.insert("labels", labels);
    }
    let mut map = Map::new();
    map.insert("kind", kind);
    map.insert("metadata", metadata);
    for key in ["aggregationRule", "roleRef", "rules", "subjects"] {
        match object.get(key) {
            None | Some(Value::Null) => {}
            // The rules of such a role follow from those of others.
            Some(_) if key == "rules" && map.contains_key("aggregationRule") => {}
            Some(value) => {
                map.insert(key, value.clone());
            }
        }
    }
    Value::Object(map)
}
