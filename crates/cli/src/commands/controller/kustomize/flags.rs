//! The flags of Flux's kustomize-controller, as they are typed.

use super::super::applying;
use super::super::flags::Common;

/// Build and apply what Kustomizations name, and keep it as it is
///
/// Takes the flags and variables of Flux's kustomize-controller. The program does the same when it is called by the name
/// kustomize-controller.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) apply: Apply,
    #[command(flatten)]
    pub(super) applying: applying::ApplyingFlags,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Building and applying")]
pub(crate) struct Apply {
    /// Taken as Flux takes it; as many requests are sent at once as the API server answers well
    #[arg(long, default_value = "4", value_name = "COUNT")]
    pub(super) concurrent_ssa: String,

    /// Refuse bases and files that would have to be fetched from elsewhere
    #[arg(long, default_value = "false", value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(super) no_remote_bases: String,

    /// A Secret of RUNTIME_NAMESPACE with age identities, for Kustomizations that decrypt and name none
    #[arg(long, default_value = "", value_name = "NAME", hide_default_value = true)]
    pub(super) sops_age_secret: String,

    /// A ConfigMap of RUNTIME_NAMESPACE with the Vaults that ServiceAccounts may log in to
    #[arg(long, default_value = "", value_name = "NAME", hide_default_value = true)]
    pub(super) sops_vault_configmap: String,

    /// The service account of Kustomizations that decrypt and name none; needs the gate ObjectLevelWorkloadIdentity
    #[arg(long, default_value = "", value_name = "NAME", hide_default_value = true)]
    pub(super) default_decryption_service_account: String,

    /// How much a Kustomization may prune at once without confirmation: 5, 20% or 5,20%
    #[arg(long, value_name = "BUDGET")]
    pub(super) default_prune_budget: Option<String>,

    /// Kinds that are applied before all others but definitions and classes: GROUP/KIND,GROUP/KIND
    #[arg(long, default_value = "", value_name = "KINDS", hide_default_value = true)]
    pub(super) custom_apply_stage_kinds: String,
}
