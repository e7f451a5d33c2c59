//! `sluice controller`: the controllers in a cluster.
//!
//! ```text
//!    flags (as typed) ─▶ settings (as meant) ─▶ process (logs, client, endpoints, lease, signals) ─▶ controllers
//! ```
//!
//! Flags, variables, ports and leases are those of Flux's programs, so that manifests made for them work unchanged.

mod flags;
mod kustomize;
mod listing;
mod process;
mod settings;
mod source;

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

/// Run controllers in a cluster
#[derive(clap::Subcommand)]
pub(crate) enum Controller {
    Source(Box<source::Args>),
    Kustomize(Box<kustomize::Args>),
}

pub(crate) async fn run(which: Controller) -> anyhow::Result<ExitCode> {
    match which {
        Controller::Source(args) => Ok(source::run(*args).await),
        Controller::Kustomize(args) => Ok(kustomize::run(*args).await),
    }
}

/// The arguments of the program, where it is called by the name of one of Flux's controllers: then they are those of that
/// controller.
pub(crate) fn by_name(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.collect();
    let name = arguments.first().map(Path::new).and_then(Path::file_name);
    let part = match name.and_then(OsStr::to_str) {
        Some("source-controller") => "source",
        Some("kustomize-controller") => "kustomize",
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
