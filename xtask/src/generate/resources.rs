//! `crates/apiserver/data/resources.json`: the resources of Kubernetes' own groups, one to a line and in discovery
//! order, taken from the discovery documents of a running API server. What follows from the rest is left out.

use anyhow::{Context, Result, ensure};
use model::{Map, Value, json};

use super::committed::Check;
use super::server::Server;

/// Groups of the real server that we do not serve; custom groups are left out, too.
const ABSENT_GROUPS: &[&str] = &["resource.k8s.io"];
/// Resources of the core group that we do not serve.
const ABSENT_RESOURCES: &[&str] = &["componentstatuses"];

/// Where the server is and what to do with what it says.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    server: Server,
    #[command(flatten)]
    check: Check,
}

/// Writes the list, or compares it.
pub(crate) fn run(args: &Args) -> Result<()> {
    let resources = read(args)?;
    let lines: Vec<String> = resources.iter().map(json::to_string).collect();
    let text = format!("[\n{}\n]\n", lines.join(",\n"));
    args.check
        .settle("crates/apiserver/data/resources.json", &text, "resources")
}

/// All resources, version by version.
fn read(args: &Args) -> Result<Vec<Value>> {
    let mut resources = resources_of("", "v1", &args.server.get("/api/v1")?)?;
    for group in args.server.get("/apis")?.list_at(&["groups"]) {
        let name = group.str_at(&["name"]);
        if ABSENT_GROUPS.contains(&name) || is_custom(name) {
            continue;
        }
        for version in group.list_at(&["versions"]) {
            let version = version.str_at(&["version"]);
            let document = args.server.get(&format!("/apis/{name}/{version}"))?;
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
