//! `sluice debug`: what goes into an object, and what came of it.

mod kustomization;

use std::process::ExitCode;

/// Show what objects are made of; Secrets that they refer to are shown as they are
#[derive(clap::Subcommand)]
pub(crate) enum Debug {
    /// The status, variables or history of a Kustomization
    #[command(visible_alias = "ks")]
    Kustomization(kustomization::Args),
}

pub(crate) async fn run(debug: Debug) -> anyhow::Result<ExitCode> {
    match debug {
        Debug::Kustomization(args) => kustomization::run(args).await,
    }
}
