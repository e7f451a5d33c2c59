//! What the flags of the source controller mean.

use std::path::PathBuf;

use ::source::git::SshAlgorithms;
use ::source::verify::cosign::{Root, RootRepository};
use ::source::{http, store};
use controllers::sources;
use model::digest::Algorithm;

use super::super::listing::Problems;
use super::super::settings::{self as common, Surroundings, duration, number};
use super::flags::{Helm, Own, Secure, Sigstore, Storage};

/// Lets objects name ServiceAccounts whose identity they use at clouds.
pub(in super::super) const OBJECT_IDENTITY: &str = "ObjectLevelWorkloadIdentity";

/// The switches that Flux's source-controller knows, and what they are unless they are set.
pub(super) const GATES: &[(&str, bool)] = &[("CacheSecretsAndConfigMaps", false), (OBJECT_IDENTITY, false)];

/// How sources are kept and served.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    /// Where artifacts are served.
    pub(super) address: String,
    /// Where they are.
    pub(super) path: PathBuf,
    pub(super) store: store::Options,
    pub(super) sources: sources::Settings,
    pub(super) sigstore: Root,
}

impl Settings {
    /// Whether the directory of artifacts is there and can be written to, or can be made.
    pub(super) fn check_storage(&self, problems: &mut Problems) {
        let path = self.path.display();
        let usable = std::fs::create_dir_all(&self.path)
            .and_then(|()| tempfile::tempfile_in(&self.path))
            .map_err(|error| {
                format!(
                    "{error}: directory {path}; mount a volume that can be written to, \
                     or choose another with --storage-path"
                )
            });
        problems.take("unable to configure artifact storage", usable);
    }
}

/// The meaning of the flags. What is wrong is noted, and something stands in its place.
pub(super) fn resolve(
    flags: &Own,
    common: &common::Settings,
    around: &Surroundings,
    problems: &mut Problems,
) -> Settings {
    let address = or_default(&flags.storage.storage_addr, ":9090");
    Settings {
        path: PathBuf::from(or_default(&flags.storage.storage_path, "/data")),
        store: store_options(&flags.storage, &address, around, problems),
        sources: sources(&flags.helm, &flags.secure, common, problems),
        sigstore: problems
            .take("invalid --sigstore-tuf-root", sigstore(&flags.sigstore))
            .unwrap_or_else(Root::embedded),
        address,
    }
}

/// The root of keyless signatures: the one in this program, unless a file to refresh it by is named.
fn sigstore(flags: &Sigstore) -> Result<Root, String> {
    let Some(path) = &flags.sigstore_tuf_root else {
        return Ok(Root::embedded());
    };
    let root = std::fs::read(path).map_err(|error| format!("failed to read {}: {error}", path.display()))?;
    let repository = RootRepository {
        url: flags.sigstore_tuf_mirror.clone(),
        root,
        http: http::Options::default(),
    };
    Root::refreshed(repository).map_err(|error| format!("{}: {error}", path.display()))
}

/// A variable that is set to nothing is as one that is not set.
fn or_default(text: &str, default: &str) -> String {
    match text {
        "" => default.to_owned(),
        text => text.to_owned(),
    }
}

fn store_options(
    flags: &Storage,
    address: &str,
    around: &Surroundings,
    problems: &mut Problems,
) -> store::Options {
    let host = advertised(&flags.storage_adv_addr, address, around);
    let host = problems.take("invalid --storage-addr", host);
    let algorithm = flags.artifact_digest_algo.parse::<Algorithm>();
    let algorithm = algorithm.map_err(|error| format!("{error}; use sha256, sha384, sha512 or blake3"));
    let algorithm = problems.take("unable to configure canonical digest algorithm", algorithm);
    let records = &flags.artifact_retention_records;
    let records = number("--artifact-retention-records", records, 1, problems);
    let limit = &flags.artifact_namespace_limit;
    let limit = number("--artifact-namespace-limit", limit, 1, problems);
    let ttl = &flags.artifact_retention_ttl;
    store::Options {
        algorithm: algorithm.unwrap_or(Algorithm::Sha256),
        retention_ttl: duration("--artifact-retention-ttl", ttl, problems),
        retention_records: usize::try_from(records).unwrap_or(usize::MAX),
        namespace_limit: limit,
        ..store::Options::new(host.unwrap_or_default())
    }
}

fn sources(
    helm: &Helm,
    secure: &Secure,
    common: &common::Settings,
    problems: &mut Problems,
) -> sources::Settings {
    // These only matter to a cache in memory, which there is none of.
    number("--helm-cache-max-size", &helm.helm_cache_max_size, 0, problems);
    duration("--helm-cache-ttl", &helm.helm_cache_ttl, problems);
    let interval = &helm.helm_cache_purge_interval;
    duration("--helm-cache-purge-interval", interval, problems);
    let ssh = SshAlgorithms::named(&secure.ssh_kex_algos, &secure.ssh_hostkey_algos);
    let ssh = problems.take("invalid --ssh-kex-algos or --ssh-hostkey-algos", ssh);
    let gate = common.gates.get(OBJECT_IDENTITY).copied().unwrap_or_default();
    if common.default_service_account.is_some() && !gate {
        let why = format!("--default-service-account needs --feature-gates={OBJECT_IDENTITY}=true");
        problems.add("invalid configuration", why);
    }
    let mut bytes = |flag: &str, text: &str| number(flag, text, 1, problems);
    sources::Settings {
        helm_index_max_size: bytes("--helm-index-max-size", &helm.helm_index_max_size),
        helm_chart_max_size: bytes("--helm-chart-max-size", &helm.helm_chart_max_size),
        helm_chart_file_max_size: bytes("--helm-chart-file-max-size", &helm.helm_chart_file_max_size),
        requeue_dependency: common.requeue_dependency,
        no_cross_namespace_refs: common.no_cross_namespace_refs,
        ssh: ssh.unwrap_or_default(),
        object_level_workload_identity: gate,
        default_service_account: common.default_service_account.clone(),
        ..sources::Settings::default()
    }
}

/// The host that URLs of artifacts point to, chosen as Flux chooses it.
fn advertised(given: &str, address: &str, around: &Surroundings) -> Result<String, String> {
    if !given.is_empty() {
        return Ok(given.to_owned());
    }
    let Some((host, port)) = address.rsplit_once(':') else {
        return Err(format!(
            "address {address:?} has no port; write for example :9090"
        ));
    };
    Ok(match host {
        "" => format!("localhost:{port}"),
        "0.0.0.0" => format!("{}:{port}", around.host),
        host => format!("{host}:{port}"),
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use clap::Parser;

    use super::super::super::settings::resolve as resolve_common;
    use super::super::{Args, PART};
    use super::*;

    // As the program itself.
    #[derive(Parser)]
    #[command(args_override_self = true)]
    struct Program {
        #[command(flatten)]
        args: Args,
    }

    fn around(namespace: Option<&str>) -> Surroundings {
        Surroundings {
            namespace: namespace.map(str::to_owned),
            host: "pod-1".into(),
        }
    }

    fn resolved(flags: &[&str]) -> (common::Settings, Settings, Vec<String>) {
        let program = Program::parse_from([&["source-controller"], flags].concat());
        let mut problems = Problems::default();
        let around = around(Some("flux-system"));
        let common = &program.args.common;
        let common = resolve_common(&[PART], common, &around, &mut problems);
        let own = resolve(&program.args.own, &common, &around, &mut problems);
        (common, own, problems.texts())
    }

    /// D1, D4, §1.12: what nothing is said of is as in Flux.
    #[test]
    fn the_defaults_are_those_of_flux() {
        let (common, own, problems) = resolved(&[]);
        assert_eq!(problems, Vec::<String>::new());
        assert_eq!(common.metrics_address.as_deref(), Some(":8080"));
        assert_eq!(common.health_address.as_deref(), Some(":9440"));
        assert_eq!(common.events_address, None);
        assert_eq!((common.concurrent, common.jitter), (None, 5));
        assert_eq!(PART.concurrent, 2);
        assert_eq!(common.backoff.first, Duration::from_millis(750));
        assert_eq!(common.backoff.most, Duration::from_secs(900));
        assert_eq!(common.requeue_dependency, Duration::from_secs(30));
        assert_eq!((common.namespace, common.label_selector), (None, None));
        assert!(common.leases.is_empty() && common.release_on_end);
        assert_eq!(own.address, ":9090");
        assert_eq!(own.path, PathBuf::from("/data"));
        assert_eq!(own.store.advertised_host, "localhost:9090");
        assert_eq!(own.store.retention_ttl, Duration::from_secs(60));
        assert_eq!(own.store.retention_records, 2);
        assert_eq!(own.store.namespace_limit, 4 << 30);
        assert_eq!(own.store.algorithm, Algorithm::Sha256);
        assert_eq!(own.sources.helm_index_max_size, 50 << 20);
        assert_eq!(own.sources.helm_chart_max_size, 10 << 20);
        assert_eq!(own.sources.helm_chart_file_max_size, 5 << 20);
    }

    /// D3, D4: the arguments of Flux's own Deployment.
    #[test]
    fn the_arguments_of_existing_deployments_are_taken() {
        let (common, own, problems) = resolved(&[
            "--events-addr=http://notification-controller.flux-system.svc.cluster.local./",
            "--watch-all-namespaces",
            "--log-level=info",
            "--log-encoding=json",
            "--enable-leader-election",
            "--storage-path=/data",
            "--storage-adv-addr=source-controller.flux-system.svc.cluster.local.",
        ]);
        assert_eq!(problems, Vec::<String>::new());
        let [lease] = &common.leases[..] else {
            panic!("{:?}", common.leases);
        };
        assert_eq!(lease.namespace, "flux-system");
        assert_eq!(lease.name, "source-controller-leader-election");
        assert_eq!(lease.duration, Duration::from_secs(35));
        assert_eq!(
            own.store.advertised_host,
            "source-controller.flux-system.svc.cluster.local."
        );
    }

    /// D4, §1.12: each flag, in either form.
    #[test]
    fn every_flag_of_flux_is_taken() {
        let (common, own, problems) = resolved(&[
            "--concurrent",
            "10",
            "--watch-all-namespaces=false",
            "--watch-label-selector",
            "sharding.fluxcd.io/key notin (shard1, shard2)",
            "--kube-api-qps=500",
            "--kube-api-burst",
            "1000",
            "--concurrent=20",
            "--requeue-dependency=5s",
            "--default-service-account=default",
            "--no-cross-namespace-refs=true",
            "--ssh-kex-algos=curve25519-sha256,ecdh-sha2-nistp256",
            "--ssh-hostkey-algos=ssh-ed25519",
            "--helm-cache-max-size=10",
            "--helm-cache-ttl=60m",
            "--helm-cache-purge-interval=5m",
            "--helm-index-max-size",
            "7",
            "--token-cache-max-size=0",
            "--token-cache-max-duration=30m",
            "--watch-configs-label-selector=owner!=helm",
            "--insecure-kubeconfig-exec",
            "--insecure-kubeconfig-tls=false",
            "--feature-gates=CacheSecretsAndConfigMaps=true",
            "--feature-gates=ObjectLevelWorkloadIdentity=true",
            "--artifact-digest-algo=blake3",
            "--artifact-retention-ttl=2m",
            "--artifact-retention-records=5",
            "--artifact-namespace-limit=1000",
            "--metrics-addr=0",
            "--health-addr=",
        ]);
        assert_eq!(problems, Vec::<String>::new());
        assert_eq!(common.concurrent, Some(20), "the last of equal flags counts");
        assert_eq!(common.namespace.as_deref(), Some("flux-system"));
        assert_eq!((common.metrics_address, common.health_address), (None, None));
        assert!(common.no_cross_namespace_refs);
        assert_eq!(common.gates.len(), 2);
        assert!(common.gates.values().all(|on| *on), "{:?}", common.gates);
        assert_eq!(own.sources.helm_index_max_size, 7);
        assert_eq!(own.store.algorithm, Algorithm::Blake3);
        assert_eq!(own.store.retention_records, 5);
        assert_eq!(own.store.namespace_limit, 1000);
    }

    /// D5, and all that is wrong is told at once.
    #[test]
    fn all_that_is_wrong_is_told_with_its_remedy() {
        let (_, _, problems) = resolved(&[
            "--feature-gates=OptimizedGitClones=true,CacheSecretsAndConfigMaps",
            "--concurrent=0",
            "--min-retry-delay=5",
            "--interval-jitter-percentage=100",
            "--watch-label-selector=a in",
            "--events-addr=nowhere",
            "--storage-addr=9090",
            "--artifact-digest-algo=md5",
            "--enable-leader-election=maybe",
            "--ssh-kex-algos=rot13",
            "--sigstore-tuf-root=/gone/root.json",
        ]);
        let all = problems.join("\n");
        for part in [
            "unable to load feature gates: feature-gate 'OptimizedGitClones' not supported",
            "CacheSecretsAndConfigMaps=true or",
            "invalid --concurrent: \"0\" is no whole number of 1 or more",
            "invalid --min-retry-delay: \"5\" has a number without a unit",
            "less than 100",
            "invalid --watch-label-selector: ",
            "invalid --events-addr: \"nowhere\" is no URL",
            "invalid --storage-addr: address \"9090\" has no port; write for example :9090",
            "unable to configure canonical digest algorithm: ",
            "invalid --enable-leader-election: \"maybe\" is neither true nor false",
            "rot13",
            "invalid --sigstore-tuf-root: failed to read /gone/root.json: ",
        ] {
            assert!(all.contains(part), "{part}\n{all}");
        }
        assert_eq!(problems.len(), 12, "{all}");
    }

    /// A4: where no host is named, the one of the address is, as Flux does it.
    #[test]
    fn the_advertised_host_follows_the_address() {
        let around = around(None);
        for (given, address, host) in [
            ("", ":9090", "localhost:9090"),
            ("", "0.0.0.0:9090", "pod-1:9090"),
            ("", "10.0.0.1:80", "10.0.0.1:80"),
            ("", "[::1]:80", "[::1]:80"),
            ("a.b", "nonsense", "a.b"),
        ] {
            assert_eq!(
                advertised(given, address, &around).as_deref(),
                Ok(host),
                "{address}"
            );
        }
    }
}
