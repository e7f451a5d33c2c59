//! `sluice build artifact|kustomization`: what the flux client builds.

mod definition;
mod kustomization;
mod mask;
mod texts;

use std::process::ExitCode;

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
