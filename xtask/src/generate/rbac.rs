//! `crates/apiserver/data/rbac.json`: the roles and bindings that a new cluster has, taken from a running API server.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use model::{Map, Value, json};

/// The label of everything that the server made itself.
const LABEL: [&str; 2] = ["kubernetes.io/bootstrapping", "rbac-defaults"];

/// Controllers of the real control plane have these; there are none here that would use them.
const LEFT_OUT: &str = "system:controller:";

/// Where the server is and what to do with what it says.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Kubeconfig of the API server to read from
    #[arg(long)]
    kubeconfig: Option<PathBuf>,
    /// The kubectl program
    #[arg(long, default_value = "kubectl")]
    kubectl: PathBuf,
    /// Change nothing; fail if the committed file is not what would be written
    #[arg(long)]
    check: bool,
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
        let list = get(args, &format!("/apis/rbac.authorization.k8s.io/v1/{resource}"))?;
        for object in list.list_at(&["items"]).iter().filter(|object| is_kept(object)) {
            writeln!(text, "{},", json::to_string(&compact(kind, object)))?;
        }
    }
    text.truncate(text.trim_end_matches([',', '\n']).len());
    text.push_str("\n]\n");

    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/apiserver/data/rbac.json");
    if args.check {
        let committed =
            std::fs::read_to_string(&place).with_context(|| format!("failed to read {}", place.display()))?;
        let outdated = format!(
            "{} is out of date; run `cargo xtask generate rbac`",
            place.display()
        );
        ensure!(committed == text, outdated);
        return Ok(());
    }
    std::fs::write(&place, &text).with_context(|| format!("failed to write {}", place.display()))
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

fn get(args: &Args, path: &str) -> Result<Value> {
    let mut command = Command::new(&args.kubectl);
    if let Some(kubeconfig) = &args.kubeconfig {
        command.arg("--kubeconfig").arg(kubeconfig);
    }
    let output = command.args(["get", "--raw", path]).output();
    let output = output.with_context(|| format!("failed to run {}", args.kubectl.display()))?;
    ensure!(
        output.status.success(),
        "failed to read {path}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    json::parse(&output.stdout).with_context(|| format!("{path} is no JSON"))
}
