//! `sluice create source`

mod bucket;
mod chart;
mod git;
mod helm;
mod oci;
mod verify;

use std::time::Duration;

use super::Common;
use super::secret::store::Content;
use crate::commands::pflag;

#[derive(clap::Subcommand)]
pub(crate) enum Source {
    /// A GitRepository
    Git(git::Args),
    /// An OCIRepository
    Oci(oci::Args),
    /// A HelmRepository
    Helm(helm::Args),
    /// A HelmChart
    Chart(chart::Args),
    /// A Bucket
    Bucket(bucket::Args),
}

/// What can be said of all sources.
#[derive(clap::Args)]
struct SourceArgs {
    #[command(flatten)]
    common: Common,

    /// How long fetching may take
    #[arg(long, value_name = "DURATION", value_parser = pflag::duration)]
    fetch_timeout: Option<Duration>,
}

pub(super) async fn run(source: Source) -> anyhow::Result<()> {
    match source {
        Source::Git(args) => git::run(args).await,
        Source::Oci(args) => oci::run(args).await,
        Source::Helm(args) => helm::run(args).await,
        Source::Chart(args) => chart::run(args).await,
        Source::Bucket(args) => bucket::run(args).await,
    }
}

impl SourceArgs {
    /// The fields that all have.
    fn fields(&self) -> super::fields::Fields {
        let timeout = self
            .fetch_timeout
            .map(|timeout| super::go_duration(timeout).into());
        super::fields::Fields::default()
            .with("interval", self.common.interval())
            .maybe("timeout", timeout)
    }
}

/// Stores credentials, if there are any: whether there are.
async fn credentials(common: &mut Common, name: &str, content: &Content) -> anyhow::Result<bool> {
    if content.entries.is_empty() {
        return Ok(false);
    }
    eprintln!("► applying secret with repository credentials");
    let client = common.place.reach().await?;
    content.store(common, client, name).await?;
    eprintln!("✔ authentication configured");
    Ok(true)
}
