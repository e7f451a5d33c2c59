//! `sluice tree`: what an object has made, and what that has made.

mod artifact;
mod kustomization;
mod release;
mod shape;

use std::process::ExitCode;

use crate::commands::objects::Place;

/// Show what objects have made
#[derive(clap::Subcommand)]
pub(crate) enum Tree {
    /// What a Kustomization has applied, and what that has applied in turn
    #[command(visible_alias = "ks")]
    Kustomization(kustomization::Args),
    /// What makers of artifacts have made
    #[command(subcommand)]
    Artifact(Artifact),
}

#[derive(clap::Subcommand)]
pub(crate) enum Artifact {
    /// The artifacts of an ArtifactGenerator
    Generator(artifact::Args),
}

/// What all trees have in common.
#[derive(clap::Args)]
struct Common {
    /// The name of the object
    name: String,

    /// How to print
    #[arg(long, short, value_enum)]
    output: Option<shape::Output>,

    #[command(flatten)]
    place: Place,
}

pub(crate) async fn run(tree: Tree) -> anyhow::Result<ExitCode> {
    match tree {
        Tree::Kustomization(args) => kustomization::run(args).await,
        Tree::Artifact(Artifact::Generator(args)) => artifact::run(args).await,
    }
}
