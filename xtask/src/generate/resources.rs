//! `crates/apiserver/data/resources.json`: the resources of Kubernetes' own groups, one to a line and in discovery
//! order, taken from the discovery documents of a running API server. What follows from the rest is left out.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use model::{Map, Value, json};

/// Groups of the real server that we do not serve; custom groups are left out, too.
const ABSENT_GROUPS: &[&str] = &["resource.k8s.io"];
/// Resources of the core group that we do not serve.
const ABSENT_RESOURCES: &[&str] = &["componentstatuses"];

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

/// Writes the list, or compares it.
pub(crate) fn run(args: &Args) -> Result<()> {
    let resources = read(args)?;
    let lines: Vec<String> = resources.iter().map(json::to_string).collect();
    let text = format!("[\n{}\n]\n", lines.join(",\n"));
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/apiserver/data/resources.json");
    if args.check {
        let committed =
            std::fs::read_to_string(&place).with_context(|| format!("failed to read {}", place.display()))?;
        ensure!(
            committed == text,
            "{} is out of date; run `cargo xtask generate resources`",
            place.display()
        );
        return Ok(());
    }
    std::fs::write(&place, &text).with_context(|| format!("failed to write {}", place.display()))?;
    eprintln!("{} resources, {} bytes", resources.len(), text.len());
    Ok(())
}

/// All resources, version by version.
fn read(args: &Args) -> Result<Vec<Value>> {
    let mut resources = resources_of("", "v1", &get(args, "/api/v1")?)?;
    for group in get(args, "/apis")?.list_at(&["groups"]) {
        let name = group.str_at(&["name"]);
        if ABSENT_GROUPS.contains(&name) || is_custom(name) {
            continue;
        }
        for version in group.list_at(&["versions"]) {
            let version = version.str_at(&["version"]);
            let document = get(args, &format!("/apis/{name}/{version}"))?;
            resources.extend(resources_of(name, version, &document)?);
        }
    }
    Ok(resources)
}

/// Kubernetes' own groups have one word, or end in `.k8s.io`.
fn is_custom(group: &str) -> bool {
    group.contains('.') && !group.ends_with(".k8s.io")
}

/// The resources of one document, each with the subresources that follow it there.
fn resources_of(group: &str, version: &str, document: &Value) -> Result<Vec<Value>> {
    let mut resources: Vec<Map> = Vec::new();
    for entry in document.list_at(&["resources"]) {
        let name = entry.str_at(&["name"]);
        if group.is_empty() && ABSENT_RESOURCES.contains(&name) {
            continue;
        }
        match name.split_once('/') {
            None => resources.push(resource(group, version, entry)),
            Some((parent, sub)) => {
                let parent = resources
                    .iter_mut()
                    .find(|resource| resource.get("plural").and_then(Value::as_str) == Some(parent))
                    .with_context(|| format!("{name} comes before its resource"))?;
                if !parent.contains_key("subresources") {
                    parent.push("subresources".into(), Value::Array(Default::default()));
                }
                let list = parent.get_mut("subresources").and_then(Value::as_array_mut);
                list.context("it was just made a list")?
                    .push(subresource(sub, entry));
            }
        }
    }
    ensure!(
        !resources.is_empty(),
        "{group}/{version} has no resources: is its API service available?"
    );
    Ok(resources.into_iter().map(Value::Object).collect())
}

fn resource(group: &str, version: &str, entry: &Value) -> Map {
    let mut line = Map::new();
    line.push("group".into(), group.into());
    line.push("version".into(), version.into());
    for (ours, theirs) in [
        ("plural", "name"),
        ("singular", "singularName"),
        ("kind", "kind"),
        ("namespaced", "namespaced"),
        ("shortNames", "shortNames"),
        ("categories", "categories"),
        ("verbs", "verbs"),
        ("storageHash", "storageVersionHash"),
    ] {
        if let Some(value) = entry.get(theirs) {
            line.push(ours.into(), value.clone());
        }
    }
    line
}

/// Group and version stand there only where they differ from the resource's.
fn subresource(name: &str, entry: &Value) -> Value {
    let mut line = Map::new();
    line.push("name".into(), name.into());
    for key in ["group", "version", "kind", "verbs"] {
        if let Some(value) = entry.get(key) {
            line.push(key.into(), value.clone());
        }
    }
    Value::Object(line)
}

fn get(args: &Args, path: &str) -> Result<Value> {
    let mut command = Command::new(&args.kubectl);
    if let Some(kubeconfig) = &args.kubeconfig {
        command.arg("--kubeconfig").arg(kubeconfig);
    }
    let output = command
        .args(["get", "--raw", path])
        .output()
        .context("failed to run kubectl")?;
    ensure!(
        output.status.success(),
        "GET {path}: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    json::parse(&output.stdout).with_context(|| format!("GET {path} is not JSON"))
}
