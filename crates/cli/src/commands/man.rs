//! `sluice man`: the manual, a page for each command.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;

/// Write the manual pages of all commands into a directory
#[derive(clap::Args)]
#[command(after_help = "Examples:
  sluice man ~/.local/share/man/man1 && man sluice-get")]
pub(crate) struct Args {
    /// The directory; it is made if it is missing
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

pub(crate) fn run(args: &Args, command: clap::Command) -> anyhow::Result<ExitCode> {
    let failed = || format!("failed to write to {}", args.directory.display());
    std::fs::create_dir_all(&args.directory).with_context(failed)?;
    clap_mangen::generate_to(command, &args.directory).with_context(failed)?;
    Ok(ExitCode::SUCCESS)
}
