//! `sluice helm`: charts rendered, shown, checked, packed, pulled and pushed as Helm does it, without Helm.

mod access;
pub(super) mod chart;
pub(super) mod fetch;
mod lint;
mod package;
mod post_renderer;
mod pull;
mod push;
mod repositories;
mod show;
pub(super) mod template;
pub(super) mod untar;
mod values;
pub(super) mod world;

use std::process::ExitCode;

/// Render, show, check, pack, pull and push Helm charts
#[derive(clap::Subcommand)]
pub(crate) enum Helm {
    Template(Box<template::Args>),
    #[command(subcommand)]
    Show(show::Show),
    Lint(lint::Args),
    Package(package::Args),
    #[command(visible_alias = "fetch")]
    Pull(Box<pull::Args>),
    Push(Box<push::Args>),
}

/// Runs a command on this thread. Most need no server: what waits for one is started where that is.
pub(crate) fn run(what: &Helm) -> anyhow::Result<ExitCode> {
    match what {
        Helm::Template(args) => template::run(args),
        Helm::Show(what) => show::run(what),
        Helm::Lint(args) => lint::run(args),
        Helm::Package(args) => package::run(args),
        Helm::Pull(args) => pull::run(args),
        Helm::Push(args) => push::run(args),
    }
}

/// An error with all its causes on one line, as Helm prints one.
pub(super) fn whole(error: &dyn std::error::Error) -> anyhow::Error {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let more = next.to_string();
        // Some errors print their cause themselves.
        if !text.ends_with(&more) {
            text = format!("{text}: {more}");
        }
        cause = next.source();
    }
    anyhow::Error::msg(text)
}
