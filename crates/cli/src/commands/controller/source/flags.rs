//! The flags of Flux's source-controller, as they are typed.

use super::super::flags::Common;

/// Fetch what GitRepositories, OCIRepositories, HelmRepositories, HelmCharts and Buckets name, and serve it
///
/// Takes the flags and variables of Flux's source-controller. The program does the same when it is called by the name
/// source-controller.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) own: Own,
    #[command(flatten)]
    pub(super) common: Common,
}

/// What only this controller has.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Own {
    #[command(flatten)]
    pub(super) storage: Storage,
    #[command(flatten)]
    pub(super) helm: Helm,
    #[command(flatten)]
    pub(super) secure: Secure,
    #[command(flatten)]
    pub(super) sigstore: Sigstore,
}

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Artifacts")]
pub(super) struct Storage {
    /// The directory of artifacts
    #[arg(long, env = "STORAGE_PATH", default_value = "/data", value_name = "DIR")]
    pub(super) storage_path: String,

    /// Where artifacts are served
    #[arg(
        long,
        env = "STORAGE_ADDRESS",
        default_value = ":9090",
        value_name = "ADDRESS"
    )]
    pub(super) storage_addr: String,

    /// The host, and port, that others reach the artifacts at; by default that of --storage-addr
    #[arg(
        long,
        env = "STORAGE_ADV_ADDR",
        default_value = "",
        value_name = "HOST",
        hide_default_value = true
    )]
    pub(super) storage_adv_addr: String,

    /// How long an artifact that is not current any more is kept
    #[arg(long, default_value = "60s", value_name = "DURATION")]
    pub(super) artifact_retention_ttl: String,

    /// How many artifacts an object keeps at most
    #[arg(long, default_value = "2", value_name = "COUNT")]
    pub(super) artifact_retention_records: String,

    /// Limit the bytes that the artifacts of one namespace have together
    #[arg(long, default_value = "4294967296", value_name = "BYTES")]
    pub(super) artifact_namespace_limit: String,

    /// How digests are computed: sha256, sha384, sha512 or blake3
    #[arg(long, default_value = "sha256", value_name = "NAME")]
    pub(super) artifact_digest_algo: String,
}

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Helm")]
pub(super) struct Helm {
    /// How large the index of a repository may be
    #[arg(long, default_value = "52428800", value_name = "BYTES")]
    pub(super) helm_index_max_size: String,

    /// How large a packed chart may be
    #[arg(long, default_value = "10485760", value_name = "BYTES")]
    pub(super) helm_chart_max_size: String,

    /// How large one file in a chart may be
    #[arg(long, default_value = "5242880", value_name = "BYTES")]
    pub(super) helm_chart_file_max_size: String,

    /// Taken as Flux takes it; an index is read from disk piece by piece here and never kept in memory
    #[arg(long, default_value = "0", value_name = "COUNT")]
    pub(super) helm_cache_max_size: String,

    /// Taken as Flux takes it; see --helm-cache-max-size
    #[arg(long, default_value = "15m", value_name = "DURATION")]
    pub(super) helm_cache_ttl: String,

    /// Taken as Flux takes it; see --helm-cache-max-size
    #[arg(long, default_value = "1m", value_name = "DURATION")]
    pub(super) helm_cache_purge_interval: String,
}

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "SSH")]
pub(super) struct Secure {
    /// The only key exchanges to use with Git servers, the best first
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(super) ssh_kex_algos: Vec<String>,

    /// The only host keys to take from Git servers, the best first
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(super) ssh_hostkey_algos: Vec<String>,
}

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Signatures")]
pub(super) struct Sigstore {
    /// File with the TUF root.json to refresh sigstore's trusted root by; by default the root in this program is used
    #[arg(long, value_name = "FILE")]
    pub(super) sigstore_tuf_root: Option<std::path::PathBuf>,

    /// TUF repository with the trusted root, only applicable with --sigstore-tuf-root
    #[arg(long, value_name = "URL", default_value = ::source::verify::cosign::PUBLIC_REPOSITORY)]
    pub(super) sigstore_tuf_mirror: String,
}
