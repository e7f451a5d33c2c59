//! `sluice debug`: what goes into an object, and what came of it.

mod helmrelease;
mod kustomization;

use std::process::ExitCode;

use serde_json::Value;

/// Show what objects are made of; Secrets that they refer to are shown as they are
#[derive(clap::Subcommand)]
pub(crate) enum Debug {
    /// The status, values or history of a HelmRelease
    #[command(visible_alias = "hr")]
    Helmrelease(helmrelease::Args),
    /// The status, variables or history of a Kustomization
    #[command(visible_alias = "ks")]
    Kustomization(kustomization::Args),
}

pub(crate) async fn run(debug: Debug) -> anyhow::Result<ExitCode> {
    match debug {
        Debug::Helmrelease(args) => helmrelease::run(args).await,
        Debug::Kustomization(args) => kustomization::run(args).await,
    }
}

/// What is there, or what is shown in its place.
fn or(value: &Value, otherwise: Value) -> Value {
    match value {
        Value::Null => otherwise,
        value => value.clone(),
    }
}
