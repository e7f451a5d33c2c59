//! `crates/kustomize/data/kubernetes-1.21.2.txt`: which lists are merged by which keys, and which kinds have no namespace.
//!
//! Taken from the OpenAPI document that kustomize's sources carry; see [`super::swagger`].

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Context, Result};
use model::Value;

use super::committed::Check;
use super::swagger::{self, Document, Schema};

const FILE: &str = "crates/kustomize/data/kubernetes-1.21.2.txt";

const TOP: &str = "\
# Which lists of Kubernetes 1.21.2 are merged by a strategic merge patch, and which kinds belong to no namespace: the
# version that kustomize 5 has built in. Only types that lead to such a list are here. A line \"type\" names a type and the
# kinds it is the type of; the lines below it are its fields: another type, or \"merge\", with the keys that tell elements
# apart (\"by\") and the type of the elements (\"of\").
";

const DOCUMENT: &str = "kyaml/openapi/kubernetesapi/v1_21_2/swagger.pb";

const KIND: &str = "x-kubernetes-group-version-kind";

/// Where the sources are and what to do with them.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The sources of kustomize at the tag `kustomize/v5.8.1`: the folder with `kyaml` in it
    #[arg(long)]
    sources: PathBuf,
    #[command(flatten)]
    check: Check,
}

/// Writes the table, or compares it.
pub(crate) fn run(args: &Args) -> Result<()> {
    let file = args.sources.join(DOCUMENT);
    let bytes = std::fs::read(&file).with_context(|| format!("failed to read {}", file.display()))?;
    let document = swagger::read(&bytes).with_context(|| format!("in {}", file.display()))?;
    args.check.settle(FILE, &table(&document), "merge-lists")
}

fn table(document: &Document) -> String {
    let leading = leading_types(document);
    let mut text = TOP.to_owned();
    for (name, schema) in &document.definitions {
        if !leading.contains(name.as_str()) {
            continue;
        }
        let _ = write!(text, "type {}", short(name));
        let kinds = schema.extensions.get(KIND).and_then(Value::as_array);
        for kind in kinds.into_iter().flatten() {
            let _ = write!(text, " = {}", api_version_and_kind(kind));
        }
        text.push('\n');
        for (field, schema) in &schema.properties {
            if let Some(means) = meaning(schema, &leading) {
                let _ = writeln!(text, "  {field}: {means}");
            }
        }
    }
    for kind in cluster_scoped(document) {
        let _ = writeln!(text, "cluster {kind}");
    }
    text
}

/// The types from which a list that is merged can be reached.
fn leading_types(document: &Document) -> BTreeSet<&str> {
    let mut leading = BTreeSet::new();
    loop {
        let before = leading.len();
        for (name, schema) in &document.definitions {
            if schema
                .properties
                .values()
                .any(|field| meaning(field, &leading).is_some())
            {
                leading.insert(name.as_str());
            }
        }
        if leading.len() == before {
            return leading;
        }
    }
}

/// What the table says of a field; `None` if it leads to no list that is merged.
fn meaning(field: &Schema, leading: &BTreeSet<&str>) -> Option<String> {
    let leads = |name: &Option<String>| {
        let name = name.as_deref()?;
        leading.contains(name).then(|| short(name))
    };
    if field.items.is_none() {
        return leads(&field.reference);
    }
    let strategy = field.extensions.get("x-kubernetes-patch-strategy")?.as_str()?;
    strategy.split(',').find(|strategy| *strategy == "merge")?;
    let mut text = "merge".to_owned();
    let keys = merge_keys(field);
    if !keys.is_empty() {
        let _ = write!(text, " by {}", keys.join(" "));
    }
    if let Some(elements) = field.items.as_ref().and_then(|items| leads(&items.reference)) {
        let _ = write!(text, " of {elements}");
    }
    Some(text)
}

fn merge_keys(field: &Schema) -> Vec<&str> {
    let several = field
        .extensions
        .get("x-kubernetes-list-map-keys")
        .and_then(Value::as_array);
    match several {
        Some(keys) => keys.iter().filter_map(Value::as_str).collect(),
        None => {
            let key = field.extensions.get("x-kubernetes-patch-merge-key");
            key.and_then(Value::as_str).into_iter().collect()
        }
    }
}

/// The kinds that no path with a namespace answers with.
fn cluster_scoped(document: &Document) -> BTreeSet<String> {
    let mut namespaced: BTreeMap<String, bool> = BTreeMap::new();
    for (path, kind) in &document.answers {
        let kind = api_version_and_kind(kind);
        *namespaced.entry(kind).or_default() |= path.contains("namespaces/{namespace}");
    }
    namespaced
        .into_iter()
        .filter(|(_, namespaced)| !namespaced)
        .map(|(kind, _)| kind)
        .collect()
}

/// `APIVERSION KIND`
fn api_version_and_kind(kind: &Value) -> String {
    let part = |name: &str| kind.str_at(&[name]);
    match part("group") {
        "" => format!("{} {}", part("version"), part("kind")),
        group => format!("{group}/{} {}", part("version"), part("kind")),
    }
}

/// The last three parts of a name: group, version and type.
fn short(name: &str) -> String {
    let parts: Vec<&str> = name.split('.').collect();
    parts[parts.len().saturating_sub(3)..].join(".")
}
