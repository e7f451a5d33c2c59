//! What is to be measured.

use std::fmt;
use std::path::PathBuf;

use clap::Parser;
use serde::{Deserialize, Serialize};

use super::shape::Shape;

/// Measure how long Kustomizations or HelmReleases take from their objects to a healthy cluster
#[derive(Parser)]
#[command(name = "bench/mttp")]
pub(crate) struct Options {
    /// How many Kustomizations or HelmReleases
    #[arg(long, value_delimiter = ',', default_value = "100,500,1000", value_name = "N")]
    pub(crate) counts: Vec<usize>,

    /// Measure HelmReleases instead of Kustomizations
    #[arg(long)]
    pub(crate) helm: bool,

    /// A directory with Flux's source-controller and kustomize-controller or helm-controller, to be measured in turn
    #[arg(long, value_name = "DIR")]
    pub(crate) flux: Option<PathBuf>,

    /// Leave Sluice out
    #[arg(long)]
    pub(crate) only_flux: bool,

    /// The program to measure
    #[arg(long, default_value = env!("CARGO_BIN_EXE_sluice"), value_name = "FILE")]
    pub(crate) sluice: PathBuf,

    /// How many objects each controller works on at once, as Flux's benchmark has it for Kustomizations
    #[arg(long, default_value = "20", value_name = "COUNT")]
    pub(crate) concurrent: usize,

    /// How many Kustomizations depend on each other in the chain
    #[arg(long, default_value = "7", value_name = "COUNT")]
    pub(crate) chain: usize,

    /// How many definitions of other kinds the cluster has besides
    #[arg(long, default_value = "0", value_name = "COUNT")]
    pub(crate) definitions: usize,

    /// Leave out the upgrade, the forced runs and the chain
    #[arg(long)]
    pub(crate) only_install: bool,

    /// Fail where a target is missed
    #[arg(long)]
    pub(crate) strict: bool,

    /// A command that is run with the process id of the controller before the first object is made, to look into it
    #[arg(long, value_name = "COMMAND")]
    pub(crate) attach: Option<String>,

    /// Where the logs of controllers are kept; nowhere unless given
    #[arg(long, value_name = "DIR")]
    pub(crate) logs: Option<PathBuf>,

    /// Use the embedded API in this process: to look into controllers where there is no real cluster, not for figures
    #[arg(long)]
    pub(crate) embedded: bool,

    /// Measure the one case in the cluster that SLUICE_TEST_KUBECONFIG names
    #[arg(long, hide = true)]
    pub(crate) inside: bool,

    /// cargo says so to benchmarks
    #[arg(long, hide = true)]
    bench: bool,
}

/// Who is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Who {
    Sluice,
    Flux,
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Who::Sluice => "Sluice",
            Who::Flux => "Flux",
        })
    }
}

impl Options {
    pub(crate) fn parse(arguments: &[String]) -> anyhow::Result<Self> {
        let all = std::iter::once("bench/mttp").chain(arguments.iter().map(String::as_str));
        Ok(Options::try_parse_from(all).unwrap_or_else(|error| error.exit()))
    }

    /// What is measured.
    pub(crate) fn shape(&self) -> Shape {
        match self.helm {
            true => Shape::Releases,
            false => Shape::Kustomizations,
        }
    }

    /// Who is measured, in turn.
    pub(crate) fn who(&self) -> impl Iterator<Item = Who> {
        let ours = (!self.only_flux).then_some(Who::Sluice);
        let theirs = self.flux.is_some().then_some(Who::Flux);
        ours.into_iter().chain(theirs)
    }

    /// The arguments that measure one case from the inside of a cluster.
    pub(crate) fn of_one(&self, count: usize, who: Who) -> Vec<String> {
        let mut arguments = vec![
            "--inside".to_owned(),
            format!("--counts={count}"),
            format!("--sluice={}", self.sluice.display()),
            format!("--concurrent={}", self.concurrent),
            format!("--chain={}", self.chain),
            format!("--definitions={}", self.definitions),
        ];
        if let (Who::Flux, Some(folder)) = (who, &self.flux) {
            arguments.extend([format!("--flux={}", folder.display()), "--only-flux".to_owned()]);
        }
        if self.helm {
            arguments.push("--helm".to_owned());
        }
        if self.only_install {
            arguments.push("--only-install".to_owned());
        }
        arguments.extend(self.attach.iter().map(|command| format!("--attach={command}")));
        arguments.extend(
            self.logs
                .iter()
                .map(|folder| format!("--logs={}", folder.display())),
        );
        arguments
    }
}
