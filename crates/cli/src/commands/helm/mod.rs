//! `sluice helm`: charts rendered, shown, checked, packed, pulled and pushed as Helm does it, without Helm.

mod access;
pub(super) mod chart;
mod check;
mod cluster;
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
mod verify;
pub(super) mod world;

use std::process::ExitCode;

use clap::ArgAction;

use crate::commands::pflag;

/// Render, show, check, pack, pull, push and verify Helm charts
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
    Verify(verify::Args),
}

/// Flags that are on or off as Go's programs take them: `--include-crds=true` too.
pub(crate) fn with_flags_as_in_go(command: clap::Command) -> clap::Command {
    let command = command.mut_args(|arg| match arg.get_action() {
        ArgAction::SetTrue => arg
            .action(ArgAction::Set)
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
            .default_value("false")
            .hide_default_value(true)
            .hide_possible_values(true)
            .value_name("BOOL")
            // A variable that is there but empty turns nothing on.
            .value_parser(|text: &str| match text {
                "" => Ok(false),
                text => pflag::boolean(text),
            }),
        _ => arg,
    });
    command.mut_subcommands(with_flags_as_in_go)
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
        Helm::Verify(args) => verify::run(args),
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
