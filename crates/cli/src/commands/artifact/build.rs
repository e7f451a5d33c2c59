//! `sluice build artifact`

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;

use super::content::{IgnoreArgs, Links, pack};
use super::{action, success};
use crate::commands::pflag;

/// Pack local files into an artifact on disk
///
///   sluice build artifact --path ./manifests --output ./artifact.tgz
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// The directory or file to pack; `-` reads standard input
    #[arg(long, short = 'p', value_name = "PATH")]
    path: PathBuf,

    /// The file to write
    #[arg(long, short = 'o', value_name = "FILE", default_value = "artifact.tgz")]
    output: PathBuf,

    /// Take what symbolic links point to in their place
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    resolve_symlinks: bool,

    #[command(flatten)]
    ignore: IgnoreArgs,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    action(format!("building artifact from {}", args.path.display()));
    let links = if args.resolve_symlinks {
        Links::Resolve
    } else {
        Links::Skip
    };
    let archive = pack(&args.path, &args.ignore, links)?;
    fs::write(&args.output, archive).with_context(|| format!("failed to write {}", args.output.display()))?;
    success(format!("artifact created at {}", args.output.display()));
    Ok(ExitCode::SUCCESS)
}
