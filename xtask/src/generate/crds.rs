//! `deploy/crds`: the CustomResourceDefinitions of all kinds, from `crates/api`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::yaml_text;

/// What to do with the files.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Change nothing; fail if a committed file is not what would be written
    #[arg(long)]
    check: bool,
}

/// Writes the files, or compares them.
pub(crate) fn run(args: &Args) -> Result<()> {
    if args.check {
        return check();
    }
    let folder = folder();
    std::fs::create_dir_all(&folder).with_context(|| format!("failed to create {}", folder.display()))?;
    let wanted = files();
    for name in committed()?.keys().filter(|name| !wanted.contains_key(*name)) {
        let path = folder.join(name);
        std::fs::remove_file(&path).with_context(|| format!("failed to remove {}", path.display()))?;
    }
    for (name, text) in wanted {
        let path = folder.join(name);
        std::fs::write(&path, text).with_context(|| format!("failed to write {}", path.display()))?;
    }
    Ok(())
}

fn check() -> Result<()> {
    let (wanted, committed) = (files(), committed()?);
    let names = wanted.keys().chain(committed.keys());
    let mut outdated: Vec<&str> = names
        .filter(|name| wanted.get(*name) != committed.get(*name))
        .map(String::as_str)
        .collect();
    outdated.sort_unstable();
    outdated.dedup();
    ensure!(
        outdated.is_empty(),
        "out of date in {}: {}; run `cargo xtask generate crds`",
        folder().display(),
        outdated.join(", ")
    );
    Ok(())
}

/// The files by their names.
fn files() -> BTreeMap<String, String> {
    let definitions = api::definitions();
    let files = definitions.iter().map(|definition| {
        let names = definition.names();
        let name = format!("{}_{}.yaml", names.group, names.plural);
        (name, yaml_text::write(&definition.to_value()))
    });
    files.collect()
}

fn committed() -> Result<BTreeMap<String, String>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder()).into_iter().flatten() {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("failed to read {}", path.display()))?;
        files.insert(name, text);
    }
    Ok(files)
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/crds")
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_committed_definitions_are_what_the_types_say() {
        super::check().unwrap();
    }

    #[test]
    fn the_yaml_says_what_the_definition_says() {
        for definition in api::crds() {
            let text = super::yaml_text::write(&definition);
            assert_eq!(yaml::parse_strict(text.as_bytes()).unwrap(), definition);
        }
    }
}
