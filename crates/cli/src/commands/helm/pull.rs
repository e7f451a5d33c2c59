//! `sluice helm pull`: a chart from where it is into a file or directory.

use std::fs::{self, Permissions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};

use super::fetch::{Fetched, Wanted};
use super::{template, untar, verify};

/// Fetch charts from a registry or a repository
///
///   sluice helm pull oci://ghcr.io/org/charts/app --version 1.2.3
///   sluice helm pull app --repo https://charts.example.com --untar
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// The charts: oci:// or https:// URLs, names in the repository that --repo names, or REPOSITORY/NAME as helm knows them
    #[arg(required = true, value_name = "CHART")]
    charts: Vec<String>,
    #[command(flatten)]
    wanted: Wanted,
    /// Where the archives go
    #[arg(short, long, default_value = ".", value_name = "DIR")]
    destination: PathBuf,
    /// Unpack the charts
    #[arg(long)]
    untar: bool,
    /// Where they are unpacked, from the destination on
    #[arg(long, default_value = ".", value_name = "DIR")]
    untardir: PathBuf,
    /// Fetch the provenance file too, but do not check it
    #[arg(long)]
    prov: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    for chart in &args.charts {
        let fetched = args.wanted.get(chart, args.prov)?;
        template::write(&fetched.told)?;
        if let Some(verified) = &fetched.verified {
            template::write(&verify::told(verified))?;
        }
        if args.untar {
            unpack(args, chart, &fetched)?;
        } else {
            save(args, chart, &fetched)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn unpack(args: &Args, chart: &str, fetched: &Fetched) -> anyhow::Result<()> {
    let folder = args.destination.join(&args.untardir);
    let name = Path::new(chart).file_name().unwrap_or_default();
    untar::check(&folder, &name.to_string_lossy())?;
    untar::write(&folder, &fetched.archive)
}

fn save(args: &Args, chart: &str, fetched: &Fetched) -> anyhow::Result<()> {
    let archive = args.destination.join(&fetched.file_name);
    write(&archive, &fetched.archive)?;
    match &fetched.provenance {
        Some(provenance) => write(
            &args.destination.join(format!("{}.prov", fetched.file_name)),
            provenance,
        )?,
        None if args.prov => template::write(&format!("WARNING: Verification not found for {chart}\n"))?,
        None => {}
    }
    Ok(())
}

/// Writes a file whole or not at all.
fn write(file: &Path, content: &[u8]) -> anyhow::Result<()> {
    let failed = || format!("failed to write {}", file.display());
    let Some(folder) = file.parent() else {
        bail!(failed());
    };
    let folder = if folder == Path::new("") {
        Path::new(".")
    } else {
        folder
    };
    fs::metadata(folder).with_context(failed)?;
    let mut new = tempfile::Builder::new()
        .permissions(Permissions::from_mode(0o644))
        .prefix(".sluice-")
        .tempfile_in(folder)
        .with_context(failed)?;
    new.write_all(content).with_context(failed)?;
    new.persist(file)
        .map_err(|error| error.error)
        .with_context(failed)?;
    Ok(())
}
