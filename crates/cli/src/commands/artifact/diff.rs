//! `sluice diff artifact`

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use source::archive::{self, Kind, Limits, MemoryTree, Tree as _};
use source::oci::Reference;

use super::content::{IgnoreArgs, Links, pack};
use super::registry::RegistryArgs;
use super::success;

/// Compare an artifact of an OCI registry with local files
///
/// Ends with 0 if they hold the same and with 1 if not. Files are compared, not archives: who packed them does not matter.
///
///   sluice diff artifact oci://ghcr.io/org/app:1.0.0 --path ./manifests
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// What to compare with, such as oci://ghcr.io/org/app:1.0.0
    #[arg(value_name = "OCI_URL")]
    url: String,

    /// The directory or file to compare
    #[arg(long, value_name = "PATH")]
    path: PathBuf,

    #[command(flatten)]
    ignore: IgnoreArgs,

    #[command(flatten)]
    registry: RegistryArgs,
}

pub(crate) async fn run(args: Args) -> anyhow::Result<ExitCode> {
    let reference = Reference::parse(&args.url)?;
    let local = pack(&args.path, &args.ignore, Links::Skip)?;
    let client = args.registry.client(&reference.repository).await?;
    let scratch = tempfile::tempdir().context("failed to create a temporary directory")?;
    let pull = async {
        let digest = client.digest(&reference).await?;
        Ok(client
            .pull(&reference.repository, digest, None, scratch.path())
            .await?)
    };
    let pulled = args.registry.limited(pull).await?;
    let remote = archive::read(pulled.file, &Limits::default()).context("failed to read the artifact")?;
    let local =
        archive::read(local.as_slice(), &Limits::default()).context("failed to read what was packed")?;
    let differences = differences(&remote, &local)?;
    if differences.is_empty() {
        success("no changes detected");
        return Ok(ExitCode::SUCCESS);
    }
    for line in differences {
        println!("{line}");
    }
    anyhow::bail!("the remote artifact contents differs from the local one");
}

/// One line for each file that is only there (`-`), only here (`+`), or another one (`~`).
fn differences(remote: &MemoryTree, local: &MemoryTree) -> anyhow::Result<Vec<String>> {
    let (remote, local) = (files(remote)?, files(local)?);
    let mut lines = BTreeMap::new();
    for (path, found) in &remote {
        match local.get(path) {
            None => lines.insert(path, format!("- {path}")),
            Some(here) if here != found => lines.insert(path, format!("~ {path}")),
            Some(_) => None,
        };
    }
    for path in local.keys().filter(|path| !remote.contains_key(*path)) {
        lines.insert(path, format!("+ {path}"));
    }
    Ok(lines.into_values().collect())
}

fn files(tree: &MemoryTree) -> anyhow::Result<BTreeMap<String, (Kind, Vec<u8>)>> {
    let mut files = BTreeMap::new();
    for entry in tree.entries()? {
        if entry.kind == Kind::Directory {
            continue;
        }
        let mut content = Vec::new();
        tree.open(&entry.path)?.read_to_end(&mut content)?;
        files.insert(entry.path, (entry.kind, content));
    }
    Ok(files)
}
