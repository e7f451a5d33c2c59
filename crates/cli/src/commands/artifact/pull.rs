//! `sluice pull artifact`

use std::fs::{self, File};
use std::io::{Read as _, Seek as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use source::archive::{self, Limits};
use source::oci::{REVISION, Reference, SOURCE, Version};

use super::registry::RegistryArgs;
use super::{action, success};

/// Pull an artifact from an OCI registry and extract it
///
///   sluice pull artifact oci://ghcr.io/org/app:1.0.0 --output ./manifests
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// What to pull, such as oci://ghcr.io/org/app:1.0.0
    #[arg(value_name = "OCI_URL")]
    url: String,

    /// The directory to extract to, which must be there
    #[arg(long, short = 'o', value_name = "PATH")]
    output: PathBuf,

    #[command(flatten)]
    registry: RegistryArgs,
}

pub(super) async fn run(args: Args) -> anyhow::Result<ExitCode> {
    if !args.output.is_dir() {
        bail!(
            "invalid output path {:?}: it must be a directory that is there",
            args.output
        );
    }
    let reference = Reference::parse(&args.url)?;
    let client = args.registry.client(&reference.repository).await?;
    action(format!(
        "pulling artifact from {}",
        args.url.trim_start_matches("oci://")
    ));
    let scratch = tempfile::Builder::new()
        .prefix(".sluice-pull-")
        .tempdir_in(&args.output)
        .with_context(|| format!("failed to write to {}", args.output.display()))?;
    let pull = async {
        let digest = match &reference.version {
            Version::Digest(digest) => *digest,
            Version::Tag(_) => client.digest(&reference).await?,
        };
        Ok(client
            .pull(&reference.repository, digest, None, scratch.path())
            .await?)
    };
    let mut pulled = args.registry.limited(pull).await?;
    let unpacked = scratch.path().join("content");
    extract(&mut pulled.file, &unpacked)?;
    merge(&unpacked, &args.output)?;
    for (name, key) in [("source", SOURCE), ("revision", REVISION)] {
        if let Some(value) = pulled.annotations.get(key).filter(|value| !value.is_empty()) {
            success(format!("{name} {value}"));
        }
    }
    success(format!("digest {}@{}", reference.repository, pulled.digest));
    success(format!("artifact content extracted to {}", args.output.display()));
    Ok(ExitCode::SUCCESS)
}

fn extract(layer: &mut File, to: &Path) -> anyhow::Result<()> {
    let mut magic = Vec::new();
    layer
        .by_ref()
        .take(2)
        .read_to_end(&mut magic)
        .context("failed to read the layer")?;
    layer.rewind().context("failed to read the layer")?;
    if magic != [0x1f, 0x8b] {
        bail!("the first layer of the artifact is no gzipped tar archive");
    }
    archive::unpack(layer, to, &Limits::default()).context("failed to extract the artifact")?;
    Ok(())
}

/// Moves files into a directory that may hold others, and puts them in the place of those with the same name.
fn merge(from: &Path, to: &Path) -> anyhow::Result<()> {
    let failed = |path: &Path| format!("failed to write {}", path.display());
    for entry in fs::read_dir(from).with_context(|| failed(from))? {
        let entry = entry.with_context(|| failed(from))?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let is_directory = entry.file_type().with_context(|| failed(&source))?.is_dir();
        if is_directory && target.is_dir() {
            merge(&source, &target)?;
        } else {
            fs::rename(&source, &target).with_context(|| failed(&target))?;
        }
    }
    Ok(())
}
