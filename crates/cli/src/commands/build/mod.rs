//! `sluice build artifact|kustomization`: what the flux client builds.

mod builds;
mod definition;
mod kustomization;
mod mask;
mod texts;

use std::process::ExitCode;

pub(crate) use builds::{At, Builds, Flags, Unit, own_namespace};
pub(crate) use definition::{from_cluster, from_file, is_kustomization};
pub(crate) use mask::MASK as SOPS_MASK;

/// Build artifacts and Kustomizations
#[derive(clap::Subcommand)]
pub(crate) enum Build {
    Artifact(super::artifact::BuildArgs),
    #[command(visible_alias = "ks")]
    Kustomization(Box<kustomization::Args>),
}

pub(crate) async fn run(what: Build) -> anyhow::Result<ExitCode> {
    match what {
        Build::Artifact(args) => super::artifact::build(&args),
        Build::Kustomization(args) => kustomization::run(*args).await,
    }
}
