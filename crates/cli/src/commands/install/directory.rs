//! Manifests of `--manifests`: what a kustomization in a directory makes.

use std::path::Path;

use anyhow::{Context as _, bail};
use builder::Directory;
use kustomize::{LoadRestrictor, Options, Reorder};
use model::Value;

use crate::commands::kustomize::remote::Elsewhere;

const NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// Builds the kustomization. It can read whatever is below the parent of its directory.
pub(super) async fn build(directory: &Path) -> anyhow::Result<String> {
    let runtime = tokio::runtime::Handle::current();
    let directory = directory.to_owned();
    tokio::task::spawn_blocking(move || build_in(&directory, runtime)).await?
}

fn build_in(directory: &Path, runtime: tokio::runtime::Handle) -> anyhow::Result<String> {
    let root = std::fs::canonicalize(directory)
        .with_context(|| format!("failed to find the directory {}", directory.display()))?;
    if !NAMES.iter().any(|name| root.join(name).is_file()) {
        bail!("kustomization.yaml not found in {}", directory.display());
    }
    let parent = root.parent().unwrap_or(&root);
    let tree = Directory::new(Path::new("/"))?.reading_only(parent)?;
    let path = root
        .to_str()
        .with_context(|| format!("{} is not UTF-8", root.display()))?;
    let fetcher = Elsewhere::new(runtime)?;
    let options = Options {
        load_restrictor: LoadRestrictor::None,
        reorder: Reorder::None,
        fetcher: Some(&fetcher),
        ..Options::default()
    };
    let output = kustomize::build(&tree, path, &options)?;
    for warning in &output.warnings {
        eprintln!("{warning}");
    }
    Ok(output.to_yaml()?)
}

/// The objects of a text.
pub(super) fn objects(text: &str) -> anyhow::Result<Vec<Value>> {
    let mut objects = Vec::new();
    for document in yaml::documents(text) {
        let object = document.context("a manifest cannot be read")?.value;
        if !object.is_null() {
            objects.push(object);
        }
    }
    Ok(objects)
}
