//! The keys and credentials in the entries of a decryption Secret.

mod age;
mod azure;
mod cloud;
mod pgp;

use std::fmt;

use ::pgp::composed::SignedSecretKey;
use secrecy::{ExposeSecret, SecretString};

use crate::age::Identity;
pub use azure::{AzureCredentials, AzureMethod};
pub use cloud::AwsCredentials;

/// What data keys are decrypted with.
///
/// Age and PGP keys are used here. The others are credentials for services, handed through to whoever asks them. An
/// entry for a provider comes before any identity of the workload: see [`Keys::has`].
#[derive(Default)]
pub struct Keys {
    pub(crate) age: Vec<Identity>,
    pub(crate) pgp: Vec<SignedSecretKey>,
    /// The token for any Vault, from `sops.vault-token`.
    pub vault_token: Option<SecretString>,
    /// From `sops.aws-kms`.
    pub aws: Option<AwsCredentials>,
    /// From `sops.azure-kv`.
    pub azure: Option<AzureCredentials>,
    /// The JSON of a service account or another kind of Google credentials, from `sops.gcp-kms`.
    pub gcp: Option<SecretString>,
}

/// A provider that credentials can be for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Provider {
    /// AWS KMS.
    Aws,
    /// Azure Key Vault.
    Azure,
    /// Google Cloud KMS.
    Gcp,
    /// Vault or OpenBao.
    Vault,
}

/// Which entry cannot be used, and why.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("failed to import '{entry}' data from sops decryption Secret: {reason}")]
pub struct ImportError {
    /// The name of the entry.
    pub entry: String,
    /// What is wrong with it; never its content.
    pub reason: String,
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys")
            .field("age", &self.age.len())
            .field("pgp", &self.pgp.len())
            .field("vault_token", &self.vault_token.is_some())
            .field("aws", &self.aws.is_some())
            .field("azure", &self.azure.is_some())
            .field("gcp", &self.gcp.is_some())
            .finish()
    }
}

impl Keys {
    /// Takes all entries of a Secret. Those with names that mean nothing here are left alone.
    pub fn from_secret<'a>(
        entries: impl IntoIterator<Item = (&'a str, &'a [u8])>,
    ) -> Result<Keys, ImportError> {
        let mut keys = Keys::default();
        for (name, value) in entries {
            keys.import(name, value).map_err(|reason| ImportError {
                entry: name.to_owned(),
                reason,
            })?;
        }
        Ok(keys)
    }

    /// Takes the age identities only, as from the Secret that holds for a whole controller (`--sops-age-secret`), which
    /// is used where a Kustomization names no Secret: credentials in it would be in the way of workload identities.
    pub fn from_global_secret<'a>(
        entries: impl IntoIterator<Item = (&'a str, &'a [u8])>,
    ) -> Result<Keys, ImportError> {
        let is_age = |(name, _): &(&str, &[u8])| extension(name) == ".agekey";
        Keys::from_secret(entries.into_iter().filter(is_age))
    }

    /// Whether there are credentials for a provider. Only without them a workload identity is asked for.
    pub fn has(&self, provider: Provider) -> bool {
        match provider {
            Provider::Aws => self.aws.is_some(),
            Provider::Azure => self.azure.is_some(),
            Provider::Gcp => self.gcp.is_some(),
            Provider::Vault => self
                .vault_token
                .as_ref()
                .is_some_and(|token| !token.expose_secret().is_empty()),
        }
    }

    fn import(&mut self, name: &str, value: &[u8]) -> Result<(), String> {
        match name {
            _ if extension(name) == ".asc" => self.import_pgp(value),
            _ if extension(name) == ".agekey" => self.import_age(value),
            "sops.vault-token" => {
                self.vault_token = Some(text(value)?.trim().into());
                Ok(())
            }
            "sops.aws-kms" => {
                self.aws = Some(cloud::aws(value)?);
                Ok(())
            }
            "sops.azure-kv" => {
                self.azure = Some(azure::read(value)?);
                Ok(())
            }
            "sops.gcp-kms" => {
                self.gcp = Some(cloud::gcp(value)?);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// The end of a name from its last dot on.
fn extension(name: &str) -> &str {
    name.rfind('.').map_or("", |at| &name[at..])
}

fn text(value: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(value).map_err(|_| "it is no UTF-8".to_owned())
}
