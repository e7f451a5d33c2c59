//! `sluice controller`: the controllers in a cluster.
//!
//! ```text
//!    start: flags (as typed) ─▶ settings (as meant) ─▶ process (client, endpoints, leases, signals) ─▶ controllers
//! ```
//!
//! Flags, variables, ports and leases are those of Flux's programs, so that manifests made for them work unchanged.

mod all;
mod applying;
mod flags;
mod helm;
mod kustomize;
mod listing;
mod part;
mod process;
mod settings;
mod source;
mod start;
mod within;

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

pub(crate) use within::{Within, Working};

/// Run controllers in a cluster: those of sources, Kustomizations and HelmReleases, or one
///
/// By itself, the controllers of sources, Kustomizations and HelmReleases run in one process, which takes the flags of each: what is fetched is applied without a detour. With
/// the name of one, only that one runs, as one of Flux's programs. Called by the name source-controller, kustomize-controller
/// or helm-controller, the program is that controller.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    one: Option<Controller>,
    #[command(flatten)]
    all: Box<all::Flags>,
}

#[derive(clap::Subcommand)]
enum Controller {
    Source(Box<source::Args>),
    Kustomize(Box<kustomize::Args>),
    Helm(Box<helm::Args>),
}

pub(crate) async fn run(args: Args) -> anyhow::Result<ExitCode> {
    Ok(match args.one {
        None => start::run(&*args.all).await,
        Some(Controller::Source(args)) => start::run(&*args).await,
        Some(Controller::Kustomize(args)) => start::run(&*args).await,
        Some(Controller::Helm(args)) => start::run(&*args).await,
    })
}

/// The arguments of the program, where it is called by the name of one of Flux's controllers: then they are those of that
/// controller.
pub(crate) fn by_name(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.collect();
    let name = arguments.first().map(Path::new).and_then(Path::file_name);
    let part = match name.and_then(OsStr::to_str) {
        Some("source-controller") => "source",
        Some("kustomize-controller") => "kustomize",
        Some("helm-controller") => "helm",
        _ => return arguments,
    };
    arguments.splice(..1, ["sluice", "controller", part].map(OsString::from));
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_of_the_name_of_a_controller_is_that_controller() {
        let called = |name: &str| by_name([name, "--concurrent=4"].map(OsString::from).into_iter());
        assert_eq!(
            called("/usr/local/bin/source-controller"),
            ["sluice", "controller", "source", "--concurrent=4"]
        );
        assert_eq!(
            called("kustomize-controller"),
            ["sluice", "controller", "kustomize", "--concurrent=4"]
        );
        assert_eq!(
            called("/usr/local/bin/sluice"),
            ["/usr/local/bin/sluice", "--concurrent=4"]
        );
    }
}
