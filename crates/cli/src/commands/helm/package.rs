//! `sluice helm package`: a chart into an archive.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use model::semver::Version;

use super::{chart, template, whole};

/// Pack a chart into an archive
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The directories with the charts
    #[arg(required = true, value_name = "CHART")]
    charts: Vec<PathBuf>,
    /// Where the archives go
    #[arg(short, long, default_value = ".")]
    destination: PathBuf,
    /// The version the chart shall have
    #[arg(long)]
    version: Option<String>,
    /// The version of what it installs
    #[arg(long)]
    app_version: Option<String>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    for path in &args.charts {
        let archive = pack(args, path)?;
        template::write(&format!(
            "Successfully packaged chart and saved it to: {}\n",
            archive.display()
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn pack(args: &Args, path: &Path) -> anyhow::Result<PathBuf> {
    let mut chart = chart::load(path)?;
    if let Some(version) = &args.version {
        Version::parse_strict(version).with_context(|| format!("{version} is no version"))?;
        chart.metadata.version.clone_from(version);
    }
    if let Some(version) = &args.app_version {
        chart.metadata.app_version.clone_from(version);
    }
    let missing = helm::dependencies::missing(&chart);
    if !missing.is_empty() {
        anyhow::bail!(
            "found in Chart.yaml, but missing in charts/ directory: {}",
            missing.join(", ")
        );
    }
    let packed = chart.pack().map_err(|error| whole(&error))?;
    fs::create_dir_all(&args.destination)
        .with_context(|| format!("failed to make {}", args.destination.display()))?;
    let archive = fs::canonicalize(&args.destination)
        .unwrap_or_else(|_| args.destination.clone())
        .join(chart.file_name());
    fs::write(&archive, packed).with_context(|| format!("failed to write {}", archive.display()))?;
    Ok(archive)
}
