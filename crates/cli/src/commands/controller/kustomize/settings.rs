//! What the flags of the kustomize controller mean.

use controllers::kustomizations::{PruneBudget, Settings};
use engine::plan::GroupKind;

use super::super::applying::{Applying, account};
use super::super::listing::Problems;
use super::super::settings::{self as common, NO_CONFIG_WATCHES, Surroundings, number, switch};
use super::flags::Apply;

const STRICT: &str = "StrictPostBuildSubstitutions";
const ADDITIVE: &str = "AdditiveCELDependencyCheck";
const EXTERNAL: &str = "ExternalArtifact";
const IDENTITY: &str = "ObjectLevelWorkloadIdentity";
const NO_FAIL_FAST: &str = "DisableFailFastBehavior";
const CANCEL: &str = "CancelHealthCheckOnNewRevision";

/// The switches that Flux's kustomize-controller knows, and what they are unless they are set. Those that are about its caches
/// and requests have no effect here: what is known is always followed by watches.
pub(super) const GATES: &[(&str, bool)] = &[
    ("CacheSecretsAndConfigMaps", false),
    ("DisableStatusPollerCache", true),
    (NO_FAIL_FAST, false),
    (STRICT, true),
    ("GroupChangeLog", false),
    (ADDITIVE, false),
    (EXTERNAL, false),
    (CANCEL, false),
    (NO_CONFIG_WATCHES, false),
    ("DirectSourceFetch", false),
    ("MigrateAPIVersion", false),
    (IDENTITY, false),
];

/// The meaning of the flags. What is wrong is noted, and something stands in its place.
pub(super) fn resolve(
    flags: &Apply,
    applying: Applying,
    common: &common::Settings,
    around: &Surroundings,
    problems: &mut Problems,
) -> Settings {
    number("--concurrent-ssa", &flags.concurrent_ssa, 1, problems);
    let no_remote_bases = switch("--no-remote-bases", &flags.no_remote_bases, problems);
    let gate = |name: &str| common.gates.get(name).copied().unwrap_or_default();
    let mut in_own = |flag: &str, name: &str, what: &str| match (name, &around.namespace) {
        ("", _) => None,
        (name, Some(namespace)) => Some((namespace.clone(), name.to_owned())),
        (_, None) => {
            let why = format!("RUNTIME_NAMESPACE must say in which namespace the {what} is");
            problems.add(format!("invalid {flag}"), why);
            None
        }
    };
    let sops_age_secret = in_own("--sops-age-secret", &flags.sops_age_secret, "Secret");
    let sops_vault_config_map = in_own("--sops-vault-configmap", &flags.sops_vault_configmap, "ConfigMap");
    let default_prune_budget = flags
        .default_prune_budget
        .as_deref()
        .and_then(|text| problems.take("invalid --default-prune-budget", PruneBudget::parse(text)));
    let default_decryption_service_account = account(
        "--default-decryption-service-account",
        &flags.default_decryption_service_account,
        common,
        problems,
    );
    Settings {
        requeue_dependency: common.requeue_dependency,
        no_cross_namespace_refs: common.no_cross_namespace_refs,
        default_service_account: common.default_service_account.clone(),
        default_kubeconfig_service_account: applying.default_kubeconfig_service_account,
        default_decryption_service_account,
        default_prune_budget,
        default_namespace: String::new(),
        override_managers: applying.override_managers,
        custom_stage_kinds: GroupKind::list(&flags.custom_apply_stage_kinds),
        http_retry: applying.http_retry,
        source_host: applying.source_host,
        fail_fast: !gate(NO_FAIL_FAST),
        tell_canceled: gate(CANCEL),
        strict_substitutions: gate(STRICT),
        additive_dependency_check: gate(ADDITIVE),
        external_artifact: gate(EXTERNAL),
        no_remote_bases,
        object_level_workload_identity: gate(IDENTITY),
        watch_configs: common.watch_configs.clone(),
        kubeconfigs: common.kubeconfigs,
        sops_age_secret,
        sops_vault_config_map,
    }
}
