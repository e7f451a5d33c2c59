//! `sluice migrate`: custom resources to the latest versions of their APIs, in a cluster or in files.

mod cluster;
mod files;
mod versions;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, ensure};

use super::objects::Place;
use super::pflag;

/// Migrate the Flux custom resources to their latest API version
///
/// Without --path, the objects in the cluster are stored anew in the storage version of their definitions. With --path, the
/// manifests in files are changed.
///
///   sluice migrate
///   sluice migrate -f . --dry-run
///   sluice migrate -f . --extensions=.yml,.yaml,.tpl --version=2.6 --yes
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// Directory or file with the manifests to migrate
    #[arg(long, short = 'f', value_name = "PATH")]
    path: Option<PathBuf>,

    /// File extensions of manifests, only applicable with --path
    #[arg(
        long,
        short,
        value_name = "EXTENSIONS",
        value_delimiter = ',',
        default_value = ".yaml,.yml"
    )]
    extensions: Vec<String>,

    /// Flux minor version to migrate manifests to, only applicable with --path
    #[arg(
        long,
        short,
        value_name = "VERSION",
        default_value = "",
        hide_default_value = true
    )]
    version: String,

    /// Skip confirmation prompts, only applicable with --path
    #[arg(long, short, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    yes: bool,

    /// Simulate the migration without changes, only applicable with --path
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    dry_run: bool,

    #[command(flatten)]
    place: Place,
}

pub(crate) async fn run(mut args: Args) -> anyhow::Result<ExitCode> {
    match args.path.take().filter(|path| !path.as_os_str().is_empty()) {
        Some(path) => {
            let migration = files::Migration {
                path: path.to_str().context("the path is not UTF-8")?,
                extensions: &args.extensions,
                latest: versions::of(&args.version)?,
                yes: args.yes,
                dry_run: args.dry_run,
            };
            migration.run()?;
        }
        None => {
            // Whoever asks for a simulation must not get a migration of the cluster.
            ensure!(
                !args.dry_run,
                "--dry-run is for manifests in files: name them with --path"
            );
            eprintln!("► starting migration of custom resources");
            let client = args.place.reach().await?;
            args.place.limited(cluster::migrate(client)).await?;
            eprintln!("✔ custom resources migrated successfully");
        }
    }
    Ok(ExitCode::SUCCESS)
}
