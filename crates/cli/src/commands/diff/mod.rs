//! `sluice diff artifact|kustomization`: what differs between what is there and what would be.

mod kustomization;
mod object;
mod report;

use std::process::ExitCode;

/// Compare artifacts and Kustomizations with local files
#[derive(clap::Subcommand)]
pub(crate) enum Diff {
    Artifact(super::artifact::DiffArgs),
    #[command(visible_alias = "ks")]
    Kustomization(Box<kustomization::Args>),
}

pub(crate) async fn run(what: Diff) -> anyhow::Result<ExitCode> {
    match what {
        Diff::Artifact(args) => super::artifact::diff(args).await,
        Diff::Kustomization(args) => kustomization::run(*args).await,
    }
}
