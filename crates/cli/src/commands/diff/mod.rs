//! `sluice diff artifact|kustomization|helmrelease`: what differs between what is there and what would be.

mod found;
mod helmrelease;
mod kustomization;
mod object;
mod report;

use std::process::ExitCode;

/// Compare artifacts and Kustomizations with local files, and releases with what would become of them
#[derive(clap::Subcommand)]
pub(crate) enum Diff {
    Artifact(super::artifact::DiffArgs),
    #[command(visible_alias = "hr")]
    Helmrelease(Box<helmrelease::Args>),
    #[command(visible_alias = "ks")]
    Kustomization(Box<kustomization::Args>),
}

pub(crate) async fn run(what: Diff) -> anyhow::Result<ExitCode> {
    match what {
        Diff::Artifact(args) => super::artifact::diff(args).await,
        Diff::Helmrelease(args) => helmrelease::run(*args).await,
        Diff::Kustomization(args) => kustomization::run(*args).await,
    }
}
