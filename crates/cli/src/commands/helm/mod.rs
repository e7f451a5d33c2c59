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
    with_switches(with_global_flags(command))
}

/// Gives values to flags that are on or off.
fn with_switches(command: clap::Command) -> clap::Command {
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
    command.mut_subcommands(with_switches)
}

/// The flags that all commands of Helm take, and whether they have values. What a command does not use has no effect.
const GLOBAL: [(&str, bool); 19] = [
    ("burst-limit", true),
    ("debug", false),
    ("kube-apiserver", true),
    ("kube-as-group", true),
    ("kube-as-user", true),
    ("kube-ca-file", true),
    ("kube-context", true),
    ("kube-insecure-skip-tls-verify", false),
    ("kube-tls-server-name", true),
    ("kube-token", true),
    ("kubeconfig", true),
    ("namespace", true),
    ("qps", true),
    ("registry-config", true),
    ("repository-cache", true),
    ("repository-config", true),
    ("color", true),
    ("colour", true),
    ("content-cache", true),
];

/// Adds the global flags that a command does not have itself.
fn with_global_flags(command: clap::Command) -> clap::Command {
    if command.has_subcommands() {
        return command.mut_subcommands(with_global_flags);
    }
    let missing = GLOBAL.iter().filter(|(name, _)| {
        let mut has = command.get_arguments();
        !has.any(|arg| arg.get_long() == Some(name))
    });
    let missing = missing.map(|(name, has_value)| {
        let action = match has_value {
            true => ArgAction::Append,
            false => ArgAction::SetTrue,
        };
        let arg = clap::Arg::new(*name).long(*name).hide(true).action(action);
        let has_short = command.get_arguments().any(|arg| arg.get_short() == Some('n'));
        match *name == "namespace" && !has_short {
            true => arg.short('n'),
            false => arg,
        }
    });
    let missing: Vec<_> = missing.collect();
    command.args(missing)
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
