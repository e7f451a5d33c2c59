//! What flags decide for all HelmReleases.

use std::time::Duration;

use api::helm::HelmRelease;
use kube::{Client, ResourceExt};
use model::digest::Algorithm;

use super::operator::Operator;
use crate::clusters::{Clusters, Identity, KubeconfigRules, TokenRules};

/// The label of ConfigMaps and Secrets that wake those that read them.
const WATCHED: &str = "reconcile.fluxcd.io/watch=Enabled";

/// What flags decide for all HelmReleases.
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
    /// Managers whose fields are taken over besides those that always are.
    pub override_managers: Vec<String>,
    /// How often an artifact that cannot be fetched is tried again.
    pub http_retry: u32,
    /// The host, with its port, to fetch artifacts from instead of the one that they name.
    pub source_host: Option<String>,
    /// Whether expressions of dependencies are asked besides the check that they replace otherwise: the gate
    /// `AdditiveCELDependencyCheck`.
    pub additive_dependency_check: bool,
    /// Whether artifacts of others can be sources: the gate `ExternalArtifact`.
    pub external_artifact: bool,
    /// Objects may name ServiceAccounts whose identity they use at clouds: the gate `ObjectLevelWorkloadIdentity`.
    pub object_level_workload_identity: bool,
    /// The digest of an OCI artifact is no part of the version of its chart: the gate `DisableChartDigestTracking`.
    pub no_chart_digests: bool,
    /// What fails is tried again rather than undone: the gate `DefaultToRetryOnFailure`.
    pub retry_on_failure: bool,
    /// Templates may look names up: the gate `AllowDNSLookups`.
    pub dns_lookups: bool,
    /// What is not said is as in Helm 3: the gate `UseHelm3Defaults`.
    pub helm3_defaults: bool,
    /// Whoever waits for health is ended by a request too, not only by something newer: the gate `CancelHealthCheckOnNewRevision`.
    pub cancel_health_checks: bool,
    /// Who this process is to others that work on the same releases, if it holds a lease.
    pub operator: Option<Operator>,
    /// The algorithm of the digests of snapshots.
    pub snapshot_digests: Algorithm,
    /// The labels of ConfigMaps and Secrets whose changes wake those that read them; none are watched where there is nothing.
    pub watch_configs: Option<String>,
    /// What kubeconfigs of other clusters may do.
    pub kubeconfigs: KubeconfigRules,
}

impl Default for Settings {
    /// The defaults of Flux's flags.
    fn default() -> Self {
        Settings {
            requeue_dependency: Duration::from_secs(30),
            no_cross_namespace_refs: false,
            default_service_account: None,
            default_kubeconfig_service_account: None,
            override_managers: Vec::new(),
            http_retry: 9,
            source_host: None,
            additive_dependency_check: false,
            external_artifact: false,
            object_level_workload_identity: false,
            no_chart_digests: false,
            retry_on_failure: false,
            dns_lookups: false,
            helm3_defaults: false,
            cancel_health_checks: false,
            operator: None,
            snapshot_digests: Algorithm::Sha256,
            watch_configs: Some(WATCHED.to_owned()),
            kubeconfigs: KubeconfigRules::default(),
        }
    }
}

impl Settings {
    /// The clusters that objects may be installed in.
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
        ];
        self.no_cross_namespace_refs || accounts.iter().any(|account| account.is_some())
    }

    /// Who an object is installed as, and where.
    pub(super) fn identity(&self, object: &HelmRelease) -> Identity {
        let (spec, namespace) = (&object.spec, object.namespace().unwrap_or_default());
        let accounts = [
            spec.service_account_name.as_ref(),
            self.default_service_account.as_ref(),
        ];
        Identity::of(&namespace, spec.kube_config.as_ref(), accounts)
    }
}
