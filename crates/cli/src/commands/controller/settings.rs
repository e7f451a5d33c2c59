//! What the flags that all controllers have mean.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use controllers::KubeconfigRules;
use controllers::kit::{Backoff, lease, logs};
use model::selector::LabelSelector;
use source::identity::{Endpoint, Limits};
use tracing::Level;

use super::flags::{Addresses, Cluster, Common, Election, Identities, Logs, Objects, Pace};
use super::listing::Problems;
use super::part::Part;

/// How a process runs its controllers.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    /// What it runs.
    pub(super) parts: Vec<Part>,
    pub(super) events_address: Option<String>,
    pub(super) metrics_address: Option<String>,
    pub(super) health_address: Option<String>,
    /// The only namespace that is looked at.
    pub(super) namespace: Option<String>,
    pub(super) label_selector: Option<String>,
    pub(super) no_cross_namespace_refs: bool,
    /// How many objects of a kind are worked on at once; each part has its own number where nothing is said.
    pub(super) concurrent: Option<usize>,
    pub(super) requeue_dependency: Duration,
    pub(super) backoff: Backoff,
    pub(super) jitter: u8,
    /// The leases of all parts; none where several instances may work at once.
    pub(super) leases: Vec<lease::Options>,
    pub(super) release_on_end: bool,
    pub(super) kubeconfig: Option<PathBuf>,
    pub(super) gates: BTreeMap<String, bool>,
    /// How much of what clouds give is kept.
    pub(super) tokens: Limits,
    /// Endpoints besides those of the clouds that may receive credentials of their identities.
    pub(super) trusted_endpoints: Vec<Endpoint>,
    pub(super) default_service_account: Option<String>,
    /// The labels of ConfigMaps and Secrets whose changes wake those that read them; none are watched where there is nothing.
    pub(super) watch_configs: Option<String>,
    /// How long runs that go on may take once the process shall end.
    pub(super) last_runs: Duration,
    /// What kubeconfigs of other clusters may do.
    pub(super) kubeconfigs: KubeconfigRules,
}

/// How long runs that go on may take once the process shall end. Pods are killed after ten seconds.
pub(super) const LAST_RUNS: Duration = Duration::from_secs(4);
/// The gate that ends watches of ConfigMaps and Secrets.
pub(super) const NO_CONFIG_WATCHES: &str = "DisableConfigWatchers";

/// What comes from outside of the flags.
pub(super) struct Surroundings {
    /// `RUNTIME_NAMESPACE`: where the process runs.
    pub(super) namespace: Option<String>,
    /// The name of the host, or of the pod.
    pub(super) host: String,
}

impl Surroundings {
    pub(super) fn read() -> Self {
        Surroundings {
            namespace: std::env::var("RUNTIME_NAMESPACE")
                .ok()
                .filter(|name| !name.is_empty()),
            host: controllers::kit::hostname(),
        }
    }
}

/// How much is logged in which form. What cannot be read is a problem, and told in the usual form.
pub(super) fn logging(flags: &Logs, problems: &mut Problems) -> (Level, logs::Encoding) {
    let level = logs::level_named(&flags.log_level);
    if level.is_none() {
        let why = format!(
            "{:?} is no level; use trace, debug, info or error",
            flags.log_level
        );
        problems.add("invalid --log-level", why);
    }
    let encoding = logs::Encoding::named(&flags.log_encoding);
    if encoding.is_none() {
        let why = format!("{:?} is no form of logs; use json or console", flags.log_encoding);
        problems.add("invalid --log-encoding", why);
    }
    (
        level.unwrap_or(Level::INFO),
        encoding.unwrap_or(logs::Encoding::Json),
    )
}

/// The meaning of flags. What is wrong is noted, and something stands in its place.
pub(super) fn resolve(
    parts: &[Part],
    flags: &Common,
    around: &Surroundings,
    problems: &mut Problems,
) -> Settings {
    let Addresses {
        events_addr,
        metrics_addr,
        health_addr,
    } = &flags.addresses;
    let events_address = (!events_addr.is_empty()).then(|| events_addr.clone());
    if let Some(address) = &events_address
        && !url::Url::parse(address).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
    {
        let why = format!(
            "{address:?} is no URL; write for example http://notification-controller.flux-system.svc/"
        );
        problems.add("invalid --events-addr", why);
    }
    let metrics_address = if metrics_addr.is_empty() {
        ":8080"
    } else {
        metrics_addr
    };
    let on = |address: &str| (!matches!(address, "" | "0")).then(|| address.to_owned());
    let (namespace, label_selector) = objects(&flags.objects, around, problems);
    let Pace {
        concurrent,
        requeue_dependency,
        min_retry_delay,
        max_retry_delay,
        interval_jitter_percentage,
    } = &flags.pace;
    let concurrent = concurrent
        .as_deref()
        .map(|count| usize::try_from(number("--concurrent", count, 1, problems)).unwrap_or(1));
    let jitter = number(
        "--interval-jitter-percentage",
        interval_jitter_percentage,
        0,
        problems,
    );
    if jitter >= 100 {
        let why = "the interval jitter percentage must be a non-negative value and less than 100";
        problems.add("invalid --interval-jitter-percentage", why);
    }
    checked_but_unused(flags, problems);
    let gates = gates(&flags.feature_gates, parts, problems);
    let watches_configs = !gates.get(NO_CONFIG_WATCHES).copied().unwrap_or_default();
    Settings {
        parts: parts.to_vec(),
        events_address,
        metrics_address: on(metrics_address),
        health_address: on(health_addr),
        namespace,
        no_cross_namespace_refs: switch(
            "--no-cross-namespace-refs",
            &flags.objects.no_cross_namespace_refs,
            problems,
        ),
        concurrent,
        requeue_dependency: duration("--requeue-dependency", requeue_dependency, problems),
        backoff: Backoff {
            first: duration("--min-retry-delay", min_retry_delay, problems),
            most: duration("--max-retry-delay", max_retry_delay, problems),
        },
        jitter: u8::try_from(jitter).unwrap_or(99),
        leases: election(
            parts,
            &flags.election,
            label_selector.as_deref(),
            around,
            problems,
        ),
        release_on_end: switch(
            "--leader-election-release-on-cancel",
            &flags.election.leader_election_release_on_cancel,
            problems,
        ),
        label_selector,
        kubeconfig: flags.cluster.kubeconfig.clone(),
        gates,
        tokens: tokens(&flags.identities, problems),
        trusted_endpoints: trusted_endpoints(&flags.identities, problems),
        default_service_account: Some(flags.identities.default_service_account.clone())
            .filter(|name| !name.is_empty()),
        watch_configs: watches_configs.then(|| flags.objects.watch_configs_label_selector.clone()),
        last_runs: LAST_RUNS,
        kubeconfigs: kubeconfigs(&flags.cluster, problems),
    }
}

fn kubeconfigs(flags: &Cluster, problems: &mut Problems) -> KubeconfigRules {
    let (exec, insecure_tls) = (&flags.insecure_kubeconfig_exec, &flags.insecure_kubeconfig_tls);
    KubeconfigRules {
        exec: switch("--insecure-kubeconfig-exec", exec, problems),
        insecure_tls: switch("--insecure-kubeconfig-tls", insecure_tls, problems),
    }
}

fn objects(
    flags: &Objects,
    around: &Surroundings,
    problems: &mut Problems,
) -> (Option<String>, Option<String>) {
    let all = switch("--watch-all-namespaces", &flags.watch_all_namespaces, problems);
    let namespace = if all { None } else { around.namespace.clone() };
    if !all && namespace.is_none() {
        let why = "RUNTIME_NAMESPACE is not set: set it to the namespace whose objects are to be worked on, \
                   or leave the flag out to work on all";
        problems.add("cannot use --watch-all-namespaces=false", why);
    }
    for (flag, selector) in [
        ("--watch-label-selector", &flags.watch_label_selector),
        (
            "--watch-configs-label-selector",
            &flags.watch_configs_label_selector,
        ),
    ] {
        problems.take(&format!("invalid {flag}"), selector.parse::<LabelSelector>());
    }
    let selector = &flags.watch_label_selector;
    (namespace, (!selector.is_empty()).then(|| selector.clone()))
}

fn election(
    parts: &[Part],
    flags: &Election,
    label_selector: Option<&str>,
    around: &Surroundings,
    problems: &mut Problems,
) -> Vec<lease::Options> {
    let mut time = |flag: &str, text: &str| duration(flag, text, problems);
    let options = lease::Options {
        // Where it is not known, it is that of the credentials.
        namespace: around.namespace.clone().unwrap_or_default(),
        name: String::new(),
        identity: lease::identity(&around.host),
        duration: time(
            "--leader-election-lease-duration",
            &flags.leader_election_lease_duration,
        ),
        renew_deadline: time(
            "--leader-election-renew-deadline",
            &flags.leader_election_renew_deadline,
        ),
        retry_period: time(
            "--leader-election-retry-period",
            &flags.leader_election_retry_period,
        ),
    };
    let enabled = switch(
        "--enable-leader-election",
        &flags.enable_leader_election,
        problems,
    );
    if !enabled {
        return Vec::new();
    }
    for problem in options.problems() {
        problems.add("invalid leader election", problem);
    }
    let named = parts.iter().map(|part| lease::Options {
        name: lease::lease_name(part.name, label_selector),
        ..options.clone()
    });
    named.collect()
}

fn tokens(flags: &Identities, problems: &mut Problems) -> Limits {
    let size = &flags.token_cache_max_size;
    let size = number("--token-cache-max-size", size, 0, problems);
    let longest = &flags.token_cache_max_duration;
    Limits {
        size: usize::try_from(size).unwrap_or(usize::MAX),
        duration: duration("--token-cache-max-duration", longest, problems),
    }
}

fn trusted_endpoints(flags: &Identities, problems: &mut Problems) -> Vec<Endpoint> {
    let given = flags.trusted_identity_endpoints.iter().map(|text| text.trim());
    given
        .filter(|text| !text.is_empty())
        .filter_map(|text| {
            let parsed = text
                .parse::<Endpoint>()
                .map_err(|error| format!("{text:?} {error}"));
            problems.take("invalid --trusted-identity-endpoints", parsed)
        })
        .collect()
}

/// What is read only so that a mistake in it is told: see the help of these flags.
fn checked_but_unused(flags: &Common, problems: &mut Problems) {
    let cluster = &flags.cluster;
    if cluster.kube_api_qps.parse::<f32>().is_err() {
        problems.add(
            "invalid --kube-api-qps",
            format!("{:?} is no number", cluster.kube_api_qps),
        );
    }
    if cluster.kube_api_burst.parse::<i64>().is_err() {
        problems.add(
            "invalid --kube-api-burst",
            format!("{:?} is no number", cluster.kube_api_burst),
        );
    }
}

/// The gates with their values, of which others than the known ones are problems.
fn gates(given: &[String], parts: &[Part], problems: &mut Problems) -> BTreeMap<String, bool> {
    let known = parts.iter().flat_map(|part| part.gates);
    let defaults = known.map(|(name, value)| ((*name).to_owned(), *value));
    let mut gates: BTreeMap<String, bool> = defaults.collect();
    for pair in given
        .iter()
        .map(|pair| pair.trim())
        .filter(|pair| !pair.is_empty())
    {
        let Some((name, value)) = pair.split_once('=') else {
            let why = format!("{pair:?} has no value; write {pair}=true or {pair}=false");
            problems.add("invalid --feature-gates", why);
            continue;
        };
        let value = switch("--feature-gates", value.trim(), problems);
        match gates.get_mut(name.trim()) {
            Some(gate) => *gate = value,
            None => problems.add(
                "unable to load feature gates",
                format!("feature-gate '{}' not supported", name.trim()),
            ),
        }
    }
    gates
}

/// A flag that is on or off, in the words that Go takes.
pub(super) fn switch(flag: &str, text: &str, problems: &mut Problems) -> bool {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => true,
        "0" | "f" | "F" | "false" | "FALSE" | "False" => false,
        _ => {
            problems.add(
                format!("invalid {flag}"),
                format!("{text:?} is neither true nor false"),
            );
            false
        }
    }
}

/// A length of time as Go writes it, which is not negative.
pub(super) fn duration(flag: &str, text: &str, problems: &mut Problems) -> Duration {
    match text.parse::<api::Duration>() {
        Ok(duration) if duration.as_nanos() >= 0 => duration.to_std(),
        Ok(_) => {
            problems.add(format!("invalid {flag}"), format!("{text:?} is negative"));
            Duration::ZERO
        }
        Err(error) => {
            problems.add(format!("invalid {flag}"), error);
            Duration::ZERO
        }
    }
}

/// A whole number of at least `least`.
pub(super) fn number(flag: &str, text: &str, least: u64, problems: &mut Problems) -> u64 {
    match text.parse::<u64>() {
        Ok(number) if number >= least => number,
        _ => {
            let why = format!("{text:?} is no whole number of {least} or more");
            problems.add(format!("invalid {flag}"), why);
            least
        }
    }
}
