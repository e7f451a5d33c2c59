//! The flags of Flux's helm-controller, as they are typed.

use super::super::flags::Common;

/// Install and upgrade what HelmReleases name, and keep it as it is
///
/// Takes the flags and variables of Flux's helm-controller. The program does the same when it is called by the name
/// helm-controller. It is not part of the controllers that run together yet.
#[derive(clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) release: Release,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Releases")]
pub(crate) struct Release {
    /// How often an artifact that cannot be fetched is tried again
    #[arg(long, default_value = "9", value_name = "COUNT")]
    pub(super) http_retry: String,

    /// Taken as Flux takes it; whoever does not answer is tried again as `--http-retry` says
    #[arg(long, default_value = "30s", value_name = "DURATION")]
    pub(super) http_timeout: String,

    /// How the digests of releases in the status are computed: sha256, sha384 or sha512
    #[arg(long, default_value = "sha256", value_name = "NAME")]
    pub(super) snapshot_digest_algo: String,

    /// A field manager whose fields are taken over, besides kubectl and helm; can be given more than once
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(super) override_manager: Vec<String>,

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
