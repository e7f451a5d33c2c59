//! The flags of Flux's helm-controller, as they are typed.

use std::time::Duration;

use super::super::applying;
use super::super::flags::Common;
use super::super::listing::Problems;
use super::super::settings::duration;

/// Install and upgrade what HelmReleases name, and keep it as it is
///
/// Takes the flags and variables of Flux's helm-controller. The program does the same when it is called by the name
/// helm-controller.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) release: Release,
    #[command(flatten)]
    pub(super) applying: applying::ApplyingFlags,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Releases")]
pub(crate) struct Release {
    /// Taken as Flux takes it; whoever does not answer is tried again as `--http-retry` says
    #[arg(long, default_value = "30s", value_name = "DURATION")]
    pub(super) http_timeout: String,

    /// How long releases that are worked on may go on when the process is told to end: 600s, or 4s where all controllers run in one
    /// process. What is cut off is done anew by the next start
    #[arg(long, value_name = "DURATION")]
    pub(super) graceful_shutdown_timeout: Option<String>,

    /// How the digests of releases in the status are computed: sha256, sha384 or sha512
    #[arg(long, default_value = "sha256", value_name = "NAME")]
    pub(super) snapshot_digest_algo: String,

    /// Taken as Flux takes it: memory is not what a release waits for here
    #[arg(long, default_value = "500ms", value_name = "DURATION", hide = true)]
    pub(super) oom_watch_interval: String,

    /// Taken as Flux takes it
    #[arg(long, default_value = "95", value_name = "PERCENT", hide = true)]
    pub(super) oom_watch_memory_threshold: String,

    /// Taken as Flux takes it
    #[arg(long, default_value = "", value_name = "PATH", hide = true)]
    pub(super) oom_watch_max_memory_path: String,

    /// Taken as Flux takes it
    #[arg(long, default_value = "", value_name = "PATH", hide = true)]
    pub(super) oom_watch_current_memory_path: String,
}

impl Release {
    /// How long releases that are worked on may go on once the process shall end, where it is said.
    pub(in super::super) fn last_runs(&self, problems: &mut Problems) -> Option<Duration> {
        let given = self.graceful_shutdown_timeout.as_deref()?;
        Some(duration("--graceful-shutdown-timeout", given, problems))
    }
}
