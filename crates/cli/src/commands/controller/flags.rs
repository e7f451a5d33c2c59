//! The flags that all of Flux's controllers have, as they are typed. What they mean is in `settings`, where everything that
//! is wrong with them is told at once.

/// Flags that all controllers have.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Common {
    #[command(flatten)]
    pub(super) addresses: Addresses,
    #[command(flatten)]
    pub(super) objects: Objects,
    #[command(flatten)]
    pub(super) pace: Pace,
    #[command(flatten)]
    pub(super) election: Election,
    #[command(flatten)]
    pub(super) cluster: Cluster,
    #[command(flatten)]
    pub(super) identities: Identities,
    #[command(flatten)]
    pub(super) logs: Logs,

    /// Switches for what is not settled yet: NAME=true,NAME=false
    #[arg(long, value_name = "GATES", value_delimiter = ',', help_heading = "Features")]
    pub(super) feature_gates: Vec<String>,
}

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Addresses")]
pub(super) struct Addresses {
    /// Where events are posted to: the address of the notification controller
    #[arg(
        long,
        env = "EVENTS_ADDR",
        default_value = "",
        value_name = "URL",
        hide_default_value = true
    )]
    pub(super) events_addr: String,

    /// Where /metrics is served; 0 turns it off
    #[arg(long, env = "METRICS_ADDR", default_value = ":8080", value_name = "ADDRESS")]
    pub(super) metrics_addr: String,

    /// Where /healthz and /readyz are served; 0 turns them off
    #[arg(long, default_value = ":9440", value_name = "ADDRESS")]
    pub(super) health_addr: String,
}

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Objects")]
pub(super) struct Objects {
    /// Work on objects of all namespaces; if false, only on those of RUNTIME_NAMESPACE
    #[arg(long, default_value = "true", value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(super) watch_all_namespaces: String,

    /// Work only on objects with these labels, such as sharding.fluxcd.io/key=shard1
    #[arg(long, default_value = "", value_name = "SELECTOR", hide_default_value = true)]
    pub(super) watch_label_selector: String,

    /// The ConfigMaps and Secrets whose changes are followed. Sources follow none
    #[arg(
        long,
        default_value = "reconcile.fluxcd.io/watch=Enabled",
        value_name = "SELECTOR"
    )]
    pub(super) watch_configs_label_selector: String,

    /// Let objects refer only to objects of their own namespace
    #[arg(long, default_value = "false", value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(super) no_cross_namespace_refs: String,
}

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Pace")]
pub(super) struct Pace {
    /// How many objects of a kind are worked on at once: 2 sources, 4 Kustomizations or 4 HelmReleases, unless said
    /// otherwise
    #[arg(long, value_name = "COUNT")]
    pub(super) concurrent: Option<String>,

    /// When to look again for what an object needs from another
    #[arg(long, default_value = "30s", value_name = "DURATION")]
    pub(super) requeue_dependency: String,

    /// The wait after a first failure; it doubles with each further one
    #[arg(long, default_value = "750ms", value_name = "DURATION")]
    pub(super) min_retry_delay: String,

    /// The longest wait after a failure
    #[arg(long, default_value = "15m", value_name = "DURATION")]
    pub(super) max_retry_delay: String,

    /// How far intervals are spread to either side, so that not everything is due at once
    #[arg(long, default_value = "5", value_name = "PERCENT")]
    pub(super) interval_jitter_percentage: String,
}

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Leader election")]
pub(super) struct Election {
    /// Work only while this instance holds a Lease, so that of several one is active
    #[arg(long, default_value = "false", value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(super) enable_leader_election: String,

    /// Give the Lease up at the end, so that the next need not wait
    #[arg(long, default_value = "true", value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(super) leader_election_release_on_cancel: String,

    /// How long others wait for a sign of life before they take the Lease
    #[arg(long, default_value = "35s", value_name = "DURATION")]
    pub(super) leader_election_lease_duration: String,

    /// How long the holder tries to renew the Lease before it gives up and ends
    #[arg(long, default_value = "30s", value_name = "DURATION")]
    pub(super) leader_election_renew_deadline: String,

    /// The time between two tries
    #[arg(long, default_value = "5s", value_name = "DURATION")]
    pub(super) leader_election_retry_period: String,
}

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Cluster")]
pub(super) struct Cluster {
    /// The cluster, where it is not the one this runs in
    #[arg(long, value_name = "FILE")]
    pub(super) kubeconfig: Option<std::path::PathBuf>,

    /// Taken as Flux takes it; requests are not slowed down here but follow the answers of the API server
    #[arg(long, default_value = "50", value_name = "COUNT")]
    pub(super) kube_api_qps: String,

    /// Taken as Flux takes it; see --kube-api-qps
    #[arg(long, default_value = "300", value_name = "COUNT")]
    pub(super) kube_api_burst: String,

    /// For controllers that reach other clusters: let their kubeconfigs run programs
    #[arg(long, default_value = "false", value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(super) insecure_kubeconfig_exec: String,

    /// For controllers that reach other clusters: let their kubeconfigs turn the check of certificates off
    #[arg(long, default_value = "false", value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(super) insecure_kubeconfig_tls: String,
}

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Identities")]
pub(super) struct Identities {
    /// The service account of objects that name none
    #[arg(long, default_value = "", value_name = "NAME", hide_default_value = true)]
    pub(super) default_service_account: String,

    /// Allow endpoints besides the clouds' own to receive credentials of cloud identities
    #[arg(long, value_name = "SERVICE=URL", value_delimiter = ',')]
    pub(super) trusted_identity_endpoints: Vec<String>,

    /// How many tokens of cloud providers are kept; 0 keeps none
    #[arg(long, default_value = "100", value_name = "COUNT")]
    pub(super) token_cache_max_size: String,

    /// How long a token is kept at most
    #[arg(long, default_value = "1h", value_name = "DURATION")]
    pub(super) token_cache_max_duration: String,
}

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Logs")]
pub(super) struct Logs {
    /// How much is told: trace, debug, info or error
    #[arg(long, default_value = "info", value_name = "LEVEL")]
    pub(super) log_level: String,

    /// The form: json or console
    #[arg(long, default_value = "json", value_name = "FORM")]
    pub(super) log_encoding: String,
}
