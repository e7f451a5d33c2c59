//! `sluice push|pull|tag|list|build|diff artifact`: OCI artifacts, with the flags, media types and annotations of the flux
//! client.

mod build;
mod content;
mod diff;
mod list;
mod pull;
mod push;
mod registry;
mod tag;

use std::process::ExitCode;

pub(crate) use build::{Args as BuildArgs, run as build};
pub(crate) use diff::{Args as DiffArgs, run as diff};

/// Push artifacts to an OCI registry
#[derive(clap::Subcommand)]
pub(crate) enum Push {
    Artifact(push::Args),
}

/// Pull artifacts from an OCI registry
#[derive(clap::Subcommand)]
pub(crate) enum Pull {
    Artifact(pull::Args),
}

/// Tag artifacts of an OCI registry
#[derive(clap::Subcommand)]
pub(crate) enum Tag {
    Artifact(tag::Args),
}

/// List artifacts of an OCI registry
#[derive(clap::Subcommand)]
pub(crate) enum List {
    Artifacts(list::Args),
}

pub(crate) async fn push(Push::Artifact(args): Push) -> anyhow::Result<ExitCode> {
    push::run(args).await
}

pub(crate) async fn pull(Pull::Artifact(args): Pull) -> anyhow::Result<ExitCode> {
    pull::run(args).await
}

pub(crate) async fn tag(Tag::Artifact(args): Tag) -> anyhow::Result<ExitCode> {
    tag::run(args).await
}

pub(crate) async fn list(List::Artifacts(args): List) -> anyhow::Result<ExitCode> {
    list::run(args).await
}

/// Tells what is being done.
fn action(text: impl std::fmt::Display) {
    eprintln!("► {text}");
}

/// Tells what is done.
fn success(text: impl std::fmt::Display) {
    eprintln!("✔ {text}");
}
