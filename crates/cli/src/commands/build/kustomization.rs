//! `sluice build kustomization`

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use model::Value;

use super::builds::{Builds, Flags};
use crate::commands::pflag;

/// Print what a Kustomization makes of local files
///
///   sluice build kustomization my-app --path ./apps
///   sluice build kustomization my-app --path ./apps --kustomization-file ./my-app.yaml --dry-run
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// The name of the Kustomization
    name: String,

    /// The directory with the manifests
    #[arg(long, value_name = "DIR")]
    path: PathBuf,

    /// Ask no cluster: variables of ConfigMaps and Secrets are missing then
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    dry_run: bool,

    #[command(flatten)]
    flags: Flags,
}

pub(super) async fn run(mut args: Args) -> anyhow::Result<ExitCode> {
    if !args.path.is_dir() {
        bail!("invalid resource path {:?}", args.path);
    }
    if args.dry_run && args.flags.kustomization_file.is_none() {
        bail!("dry-run mode requires a kustomization file");
    }
    let client = match args.dry_run {
        true => None,
        false => Some(args.flags.at.reach().await?),
    };
    let builds = Builds::new(&args.flags, client)?;
    let first = builds.first(&args.name, &args.path);
    let objects = args.flags.at.limited(builds.all(first)).await?;
    print(&objects)?;
    Ok(ExitCode::SUCCESS)
}

fn print(objects: &[Value]) -> anyhow::Result<()> {
    let mut out = std::io::BufWriter::new(crate::commands::printed::stdout());
    let mut text = String::new();
    for object in objects {
        text.clear();
        yaml::go::write(&kustomize::from_value(object), &mut text).map_err(anyhow::Error::msg)?;
        out.write_all(text.as_bytes())?;
        out.write_all(b"---\n")?;
    }
    out.flush().context("failed to write the output")
}
