//! What flags decide for all Kustomizations.

use std::time::Duration;

use engine::plan::GroupKind;

use api::kustomize::Kustomization;
use kube::{Client, ResourceExt};

use super::PruneBudget;
use crate::clusters::{Clusters, Identity, KubeconfigRules, TokenRules};

/// The label of ConfigMaps and Secrets that wake those that read them.
const WATCHED: &str = "reconcile.fluxcd.io/watch=Enabled";

/// What flags decide for all Kustomizations.
#[derive(Clone, Debug)]
pub struct Settings {
    /// When to look again for what an object needs from another.
    pub requeue_dependency: Duration,
    /// Objects may refer only to sources of their own namespace.
    pub no_cross_namespace_refs: bool,
    /// The ServiceAccount to act as where an object names none.
    pub default_service_account: Option<String>,
    /// The ServiceAccount whose tokens open clusters of `spec.kubeConfig.configMapRef` that name none. Needs the gate
    /// `ObjectLevelWorkloadIdentity`.
    pub default_kubeconfig_service_account: Option<String>,
    /// The ServiceAccount that decrypts where an object names none. Needs the same gate.
    pub default_decryption_service_account: Option<String>,
    /// Where objects go that name no namespace and get none by a `targetNamespace`; with Flux, and where this is empty, they are
    /// refused.
    pub default_namespace: String,
    /// Managers whose fields are taken over besides those that always are.
    pub override_managers: Vec<String>,
    /// Kinds that are applied before all others but definitions and classes.
    pub custom_stage_kinds: Vec<GroupKind>,
    /// How often an artifact that cannot be fetched is tried again.
    pub http_retry: u32,
    /// The host, with its port, to fetch artifacts from instead of the one that they name.
    pub source_host: Option<String>,
    /// Whether the first object that has failed ends a wait for health.
    pub fail_fast: bool,
    /// Whether a wait for health that a newer revision ends is told as such: the gate `CancelHealthCheckOnNewRevision`.
    pub tell_canceled: bool,
    /// Whether a variable without a value is an error: the gate `StrictPostBuildSubstitutions`.
    pub strict_substitutions: bool,
    /// Whether expressions of dependencies are asked besides the check that they replace otherwise: the gate
    /// `AdditiveCELDependencyCheck`.
    pub additive_dependency_check: bool,
    /// Whether artifacts of others can be sources: the gate `ExternalArtifact`.
    pub external_artifact: bool,
    /// How much may be pruned at once of an object without the annotation `sluice.dev/prune-budget`. With Flux, and where this is
    /// nothing, all that a revision does not have any more.
    pub default_prune_budget: Option<PruneBudget>,
    /// Whether bases and files that are elsewhere are refused.
    pub no_remote_bases: bool,
    /// Objects may name ServiceAccounts whose identity they use at clouds: the gate `ObjectLevelWorkloadIdentity`.
    pub object_level_workload_identity: bool,
    /// The labels of ConfigMaps and Secrets whose changes wake those that read them; none are watched where there is nothing.
    pub watch_configs: Option<String>,
    /// What kubeconfigs of other clusters may do.
    pub kubeconfigs: KubeconfigRules,
    /// The Secret of the controller's namespace with age identities for objects that name none: namespace and name.
    pub sops_age_secret: Option<(String, String)>,
    /// The ConfigMap of the controller's namespace with the Vaults that ServiceAccounts may log in to: namespace and name.
    pub sops_vault_config_map: Option<(String, String)>,
}

impl Default for Settings {
    /// The defaults of Flux's flags.
    fn default() -> Self {
        Settings {
            requeue_dependency: Duration::from_secs(30),
            no_cross_namespace_refs: false,
            default_service_account: None,
            default_kubeconfig_service_account: None,
            default_decryption_service_account: None,
            default_namespace: String::new(),
            override_managers: Vec::new(),
            custom_stage_kinds: Vec::new(),
            http_retry: 9,
            source_host: None,
            fail_fast: true,
            tell_canceled: false,
            strict_substitutions: true,
            additive_dependency_check: false,
            external_artifact: false,
            default_prune_budget: None,
            no_remote_bases: false,
            object_level_workload_identity: false,
            watch_configs: Some(WATCHED.to_owned()),
            kubeconfigs: KubeconfigRules::default(),
            sops_age_secret: None,
            sops_vault_config_map: None,
        }
    }
}

impl Settings {
    /// The clusters that objects may be applied in.
    pub(super) fn clusters(&self, client: &Client) -> Clusters {
        Clusters::new(
            client.clone(),
            self.kubeconfigs,
            TokenRules {
                accounts: self.object_level_workload_identity,
                default_account: self.default_kubeconfig_service_account.clone(),
                locked_down: self.is_locked_down(),
            },
        )
    }

    /// Whether tenants share the cluster: one of the flags of Flux's multi-tenancy lockdown is set. Then nothing is done with
    /// the identity of the controller at servers that objects name.
    fn is_locked_down(&self) -> bool {
        let accounts = [
            &self.default_service_account,
            &self.default_kubeconfig_service_account,
            &self.default_decryption_service_account,
        ];
        self.no_cross_namespace_refs || accounts.iter().any(|account| account.is_some())
    }

    /// Who an object is applied as, and where.
    pub(super) fn identity(&self, object: &Kustomization) -> Identity {
        let (spec, namespace) = (&object.spec, object.namespace().unwrap_or_default());
        let accounts = [
            spec.service_account_name.as_ref(),
            self.default_service_account.as_ref(),
        ];
        Identity::of(&namespace, spec.kube_config.as_ref(), accounts)
    }
}
