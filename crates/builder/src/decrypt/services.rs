//! Asks key management services, each with the credentials that a Secret has for it, or else as the workload that this is.

use std::error::Error;
use std::time::Duration;

use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretSlice, SecretString};
use sops::{
    AwsKmsKey, AzureCredentials, AzureKey, AzureMethod, GcpKmsKey, Keys, Remote, RemoteKey, VaultKey,
};
use source::identity::aws::{Key, Place};
use source::identity::azure::{AUTHORITY, Application, Proof};
use source::identity::gcp::KeyFile;
use source::identity::{Asker, CredentialSource, Destination, Identities};
use source::{http, kms};
use tokio::runtime::Handle;

use super::{KeyServices, VaultLogins};
use crate::waiting::{Interrupted, LIMIT, WaitBudget};

/// How long a request may take, where nothing else is said: a build waits for it on a thread of its own.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The services of the clouds, and Vault.
///
/// A build waits for their answers, so that it must run on a thread that may block: `spawn_blocking`.
pub struct CloudServices<'k> {
    /// Credentials of a Secret. Those for a service come before any identity.
    pub keys: &'k Keys,
    /// Who gives credentials where the Secret has none.
    pub identities: &'k Identities,
    /// Who asks then.
    pub asker: Asker,
    /// How the services are reached.
    pub http: http::Options,
    /// Where AWS is, if not where it always is.
    pub aws: kms::aws::Endpoints,
    /// Where Google Cloud KMS is, if not where it always is.
    pub gcp: Option<String>,
    /// Which Vaults the workload may log in to where the Secret has no token; without it, none.
    pub vault: Option<&'k VaultLogins>,
    /// What runs the requests.
    pub runtime: Handle,
    /// The time that all requests of the build together may take.
    pub budget: WaitBudget,
}

impl KeyServices for CloudServices<'_> {
    fn decrypt(&self, key: &RemoteKey) -> Result<SecretSlice<u8>, String> {
        let answer = self.budget.wait(&self.runtime, self.ask(key));
        answer.unwrap_or_else(|interrupted| {
            Err(match interrupted {
                Interrupted::Spent => format!(
                    "not decrypted: all requests of a build to key management services together may take {LIMIT:?}: check \
                     the services, or remove recipients that do not answer"
                ),
                Interrupted::Cancelled => "not decrypted: the build was cancelled".to_owned(),
            })
        })
    }
}

impl CloudServices<'_> {
    async fn ask(&self, key: &RemoteKey) -> Result<SecretSlice<u8>, String> {
        match &key.key {
            Remote::AwsKms(kms) => self.aws(kms, &key.ciphertext).await,
            Remote::AzureKeyVault(vault) => self.azure(vault, &key.ciphertext).await,
            Remote::GcpKms(kms) => self.gcp(kms, &key.ciphertext).await,
            Remote::Vault(vault) => self.vault(vault, &key.ciphertext).await,
        }
    }

    fn client(&self) -> Result<reqwest::Client, String> {
        let mut http = self.http.clone();
        http.timeout.get_or_insert(TIMEOUT);
        http.client().map_err(shown)
    }

    async fn aws(&self, key: &AwsKmsKey, ciphertext: &str) -> Result<SecretSlice<u8>, String> {
        let region = key
            .region()
            .ok_or_else(|| format!("no valid ARN found in '{}'", key.arn))?;
        let (client, now) = (self.client()?, Timestamp::now());
        let mut credentials = match &self.keys.aws {
            Some(given) => Key {
                id: given.access_key_id.clone(),
                secret: given.secret_access_key.clone(),
                session: given.session_token.clone(),
            },
            None => {
                let place = Place {
                    region: Some(region.to_owned()),
                    sts: None,
                };
                let source = self
                    .identities
                    .s3(self.asker.clone(), place, Destination::Configured)
                    .map_err(shown)?;
                source.grant().await.map_err(shown)?.key()
            }
        };
        if let Some(role) = &key.role {
            let assumed = kms::aws::assume_role(&client, &self.aws, &credentials, role, region, now).await;
            credentials =
                assumed.map_err(|error| format!("failed to assume role '{role}': {}", shown(error)))?;
        }
        let request = kms::aws::Request {
            arn: &key.arn,
            region,
            ciphertext,
            context: &key.context,
        };
        kms::aws::decrypt(&client, &self.aws, &credentials, &request, now)
            .await
            .map_err(shown)
    }

    async fn azure(&self, key: &AzureKey, ciphertext: &str) -> Result<SecretSlice<u8>, String> {
        let scope = kms::azure::scope(&key.vault_url).map_err(shown)?;
        let client = self.client()?;
        let token = match &self.keys.azure {
            Some(given) => {
                self.azure_token(given, &key.vault_url, scope, client.clone())
                    .await?
            }
            None => self.azure_identity(&key.vault_url, None, scope).await?,
        };
        let request = kms::azure::Request {
            vault_url: &key.vault_url,
            name: &key.name,
            version: &key.version,
            ciphertext,
        };
        kms::azure::decrypt(&client, &token, &request)
            .await
            .map_err(shown)
    }

    /// A token of the identity of the object or controller, or of one that Azure manages for the machine.
    async fn azure_identity(
        &self,
        vault: &str,
        client: Option<String>,
        scope: String,
    ) -> Result<SecretString, String> {
        // Who wrote the file chose the vault.
        let destination = Destination::Named {
            address: vault,
            tls: &self.http.tls,
            proxied: false,
        };
        let source = self
            .identities
            .azure_key_vault(self.asker.clone(), client, scope, destination);
        grant(source.map_err(shown)?.as_ref()).await
    }

    /// A token for what a Secret has.
    async fn azure_token(
        &self,
        given: &AzureCredentials,
        vault: &str,
        scope: String,
        client: reqwest::Client,
    ) -> Result<SecretString, String> {
        let (tenant, client_id, proof) = match &given.method {
            AzureMethod::Secret {
                tenant_id,
                client_id,
                client_secret,
            } => (tenant_id, client_id, Proof::Secret(client_secret.clone())),
            AzureMethod::Certificate {
                password: Some(_), ..
            } => {
                return Err("the private key of the client certificate is encrypted, which is not supported: store it without a password".to_owned());
            }
            AzureMethod::Certificate {
                tenant_id,
                client_id,
                certificate,
                send_chain,
                ..
            } => {
                let proof = Proof::certificate(certificate, *send_chain).map_err(shown)?;
                (tenant_id, client_id, proof)
            }
            AzureMethod::ManagedIdentity { client_id } => {
                return self.azure_identity(vault, Some(client_id.clone()), scope).await;
            }
        };
        let application = Application {
            tenant: tenant.clone(),
            client_id: client_id.clone(),
            proof,
            authority: given
                .authority_host
                .clone()
                .unwrap_or_else(|| AUTHORITY.to_owned()),
            client,
        };
        Ok(application
            .token(&scope, Timestamp::now())
            .await
            .map_err(shown)?
            .secret)
    }

    async fn gcp(&self, key: &GcpKmsKey, ciphertext: &str) -> Result<SecretSlice<u8>, String> {
        let client = self.client()?;
        let token = match &self.keys.gcp {
            Some(given) => {
                let file = KeyFile::parse(given.expose_secret().as_bytes(), client.clone()).map_err(shown)?;
                grant(&file.with_scope(kms::gcp::SCOPE.to_owned())).await?
            }
            None => {
                let source = self.identities.gcs(self.asker.clone(), Destination::Configured);
                grant(source.map_err(shown)?.as_ref()).await?
            }
        };
        let request = kms::gcp::Request {
            resource_id: &key.resource_id,
            ciphertext,
        };
        kms::gcp::decrypt(&client, self.gcp.as_deref(), &token, &request)
            .await
            .map_err(shown)
    }

    async fn vault(&self, key: &VaultKey, ciphertext: &str) -> Result<SecretSlice<u8>, String> {
        let token = self
            .keys
            .vault_token
            .as_ref()
            .filter(|token| !token.expose_secret().is_empty());
        let client = self.client()?;
        let logged_in;
        let token = match (token, self.vault) {
            (Some(token), _) => token,
            (None, Some(logins)) => {
                logged_in = logins.token(&client, &key.address).await?;
                &logged_in
            }
            (None, None) => return Err("there is no token for it".to_owned()),
        };
        let request = kms::vault::Request {
            address: &key.address,
            engine_path: &key.engine_path,
            key_name: &key.key_name,
            ciphertext,
        };
        kms::vault::decrypt(&client, token, &request).await.map_err(shown)
    }
}

async fn grant(source: &dyn CredentialSource) -> Result<SecretString, String> {
    Ok(source.grant().await.map_err(shown)?.secret)
}

/// An error with its causes.
pub(super) fn shown(error: impl Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}
