//! The keys that encrypted files of a Kustomization are read with: those of a Secret, and those of services that are asked.

use api::Reason;
use api::kustomize::{Decryption, Kustomization};
use builder::{CloudServices, VaultLogins, WaitBudget};
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use source::identity::{Asker, Caller};
use tokio::runtime::Handle;

use super::{Shared, vault};
use crate::kit::{Failure, chain, named};
use crate::sources::account;

/// The gate that lets objects name ServiceAccounts.
const GATE: &str = "ObjectLevelWorkloadIdentity";

/// What files are decrypted with.
pub(super) struct Keys {
    pub(super) own: sops::Keys,
    asker: Asker,
    vault: Option<VaultLogins>,
}

impl Keys {
    /// The keys of an object; `None` where nothing is decrypted.
    pub(super) async fn of(object: &Kustomization, shared: &Shared) -> Result<Option<Keys>, Failure> {
        let Some(decryption) = &object.spec.decryption else {
            return Ok(None);
        };
        let failed = |message: String| Failure::transient(Reason::BUILD_FAILED, message);
        let namespace = object.namespace().unwrap_or_default();
        let named = decryption
            .service_account_name
            .as_deref()
            .filter(|name| !name.is_empty());
        let usual = shared.settings.default_decryption_service_account.as_deref();
        let caller = match named.or(usual) {
            // As with Flux, also while tenants are locked down. Files name the services that they are decrypted by, so that the identity of
            // the controller goes to the clouds and to Vaults that the operator lists only.
            None => Caller::Controller,
            Some(_) if !shared.settings.object_level_workload_identity => return Err(no_gate()),
            Some(name) => {
                let caller = account(&shared.client, &namespace, name).await;
                caller.map_err(|error| failed(chain(&error)))?
            }
        };
        let own = secret_keys(decryption, &namespace, shared)
            .await
            .map_err(failed)?;
        let vault = match &shared.settings.sops_vault_config_map {
            Some((namespace, name)) => vault::logins(&shared.client, (namespace, name), &caller).await,
            None => None,
        };
        let asker = Asker { caller, proxy: None };
        Ok(Some(Keys { own, asker, vault }))
    }

    /// The services that are asked where there is no key.
    pub(super) fn services<'k>(
        &'k self,
        shared: &'k Shared,
        runtime: Handle,
        budget: WaitBudget,
    ) -> CloudServices<'k> {
        CloudServices {
            keys: &self.own,
            identities: &shared.identities,
            asker: self.asker.clone(),
            http: shared.http.clone(),
            aws: Default::default(),
            gcp: None,
            vault: self.vault.as_ref(),
            runtime,
            budget,
        }
    }
}

fn no_gate() -> Failure {
    let message = format!(
        "to use spec.decryption.serviceAccountName for decryption authentication please enable the {GATE} feature gate in \
         the controller"
    );
    Failure::stalled(Reason::FEATURE_GATE_DISABLED, message)
}

async fn secret_keys(
    decryption: &Decryption,
    namespace: &str,
    shared: &Shared,
) -> Result<sops::Keys, String> {
    let (namespace, name) = match (&decryption.secret_ref, &shared.settings.sops_age_secret) {
        (Some(secret), _) => (namespace, secret.name.as_str()),
        (None, Some((namespace, name))) => (namespace.as_str(), name.as_str()),
        (None, None) => return Ok(sops::Keys::default()),
    };
    let secret = named::get::<Secret>(&shared.client, namespace, name).await;
    let secret = secret.map_err(|error| {
        format!(
            "cannot get decryption Secret '{namespace}/{name}': {}",
            chain(&error)
        )
    })?;
    let data = secret.data.unwrap_or_default();
    let entries = data
        .iter()
        .map(|(name, value)| (name.as_str(), value.0.as_slice()));
    let keys = match decryption.secret_ref.is_some() {
        true => sops::Keys::from_secret(entries),
        false => sops::Keys::from_global_secret(entries),
    };
    keys.map_err(|error| chain(&error))
}
