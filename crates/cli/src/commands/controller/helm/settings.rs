//! What the flags of the helm controller mean.

use controllers::helm_releases::{Operator, Settings};
use model::digest::Algorithm;

use super::super::applying::Applying;
use super::super::listing::Problems;
use super::super::settings::{self as common, NO_CONFIG_WATCHES};
use super::flags::Release;

const ADDITIVE: &str = "AdditiveCELDependencyCheck";
const EXTERNAL: &str = "ExternalArtifact";
const IDENTITY: &str = "ObjectLevelWorkloadIdentity";
const NO_DIGESTS: &str = "DisableChartDigestTracking";
const RETRY: &str = "DefaultToRetryOnFailure";
const DNS: &str = "AllowDNSLookups";
const HELM_3: &str = "UseHelm3Defaults";
const CANCEL: &str = "CancelHealthCheckOnNewRevision";

/// The switches that Flux's helm-controller knows, and what they are unless they are set. Those that are about its caches, its memory and
/// what was before have no effect here.
pub(super) const GATES: &[(&str, bool)] = &[
    ("CacheSecretsAndConfigMaps", false),
    ("DetectDrift", false),
    ("CorrectDrift", false),
    (DNS, false),
    ("OOMWatch", false),
    ("AdoptLegacyReleases", false),
    (NO_DIGESTS, false),
    (ADDITIVE, false),
    (EXTERNAL, false),
    (NO_CONFIG_WATCHES, false),
    ("DirectSourceFetch", false),
    (HELM_3, false),
    (CANCEL, false),
    (RETRY, false),
    (IDENTITY, false),
];

/// The meaning of the flags. What is wrong is noted, and something stands in its place.
pub(super) fn resolve(
    flags: &Release,
    applying: Applying,
    common: &common::Settings,
    problems: &mut Problems,
) -> Settings {
    let gate = |name: &str| common.gates.get(name).copied().unwrap_or_default();
    let snapshot_digests = match flags.snapshot_digest_algo.as_str() {
        "sha256" => Algorithm::Sha256,
        "sha384" => Algorithm::Sha384,
        "sha512" => Algorithm::Sha512,
        other => {
            let why = format!("{other:?} is none of sha256, sha384 and sha512");
            problems.add("invalid --snapshot-digest-algo".to_owned(), why);
            Algorithm::Sha256
        }
    };
    Settings {
        requeue_dependency: common.requeue_dependency,
        no_cross_namespace_refs: common.no_cross_namespace_refs,
        default_service_account: common.default_service_account.clone(),
        default_kubeconfig_service_account: applying.default_kubeconfig_service_account,
        override_managers: applying.override_managers,
        http_retry: applying.http_retry,
        source_host: applying.source_host,
        additive_dependency_check: gate(ADDITIVE),
        external_artifact: gate(EXTERNAL),
        object_level_workload_identity: gate(IDENTITY),
        no_chart_digests: gate(NO_DIGESTS),
        retry_on_failure: gate(RETRY),
        dns_lookups: gate(DNS),
        helm3_defaults: gate(HELM_3),
        cancel_health_checks: gate(CANCEL),
        operator: common.leases.first().map(|lease| Operator {
            namespace: lease.namespace.clone(),
            lease: lease.name.clone(),
            identity: lease.identity.clone(),
        }),
        snapshot_digests,
        watch_configs: common.watch_configs.clone(),
        kubeconfigs: common.kubeconfigs,
    }
}
