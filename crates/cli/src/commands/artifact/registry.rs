//! How the registry is reached: flags that all commands share.

use std::future::Future;
use std::time::Duration;

use anyhow::{Context as _, bail};
use source::identity::{Asker, Cloud, Destination, Environment, Identities, Settings};
use source::oci::{Client, Credential, Keychain, Options, Repository, Session};

use super::action;
use crate::commands::{keychain, pflag};

#[derive(clap::Args)]
pub(super) struct RegistryArgs {
    /// Credentials in the format <user>[:<password>]; without them those of docker's config.json are used
    #[arg(long, value_name = "CREDENTIALS", hide_env_values = true)]
    creds: Option<String>,

    /// The OCI provider; a cloud is asked for credentials of its own registries
    #[arg(long, value_enum, default_value_t = Provider::Generic)]
    provider: Provider,

    /// Take a registry without TLS, or with a certificate that nobody vouches for
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    insecure_registry: bool,

    /// The time everything may take, such as 30s or 5m
    #[arg(long, default_value = "5m", value_name = "DURATION", value_parser = pflag::duration)]
    timeout: Duration,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Provider {
    Generic,
    Aws,
    Azure,
    Gcp,
}

impl Provider {
    fn cloud(self) -> Option<(Cloud, &'static str)> {
        match self {
            Provider::Generic => None,
            Provider::Aws => Some((Cloud::Aws, "aws")),
            Provider::Azure => Some((Cloud::Azure, "azure")),
            Provider::Gcp => Some((Cloud::Gcp, "gcp")),
        }
    }
}

impl RegistryArgs {
    /// A client with the credentials of the provider, those that were given, or those of docker.
    pub(super) async fn client(&self, repository: &Repository) -> anyhow::Result<Client> {
        let keychain = match (self.provider.cloud(), &self.creds) {
            (Some((cloud, name)), _) => {
                action("logging in to registry with provider credentials");
                let login = self.limited(login(cloud, repository)).await;
                let login = login.with_context(|| {
                    format!("error during login with provider: could not login to provider {name} with url {repository}")
                })?;
                Keychain::for_registry_of(repository, login)
            }
            (None, Some(creds)) => {
                action("logging in to registry with credentials");
                Keychain::for_registry_of(repository, Credential::parse(creds))
            }
            (None, None) => keychain::docker()?,
        };
        let mut options = Options {
            insecure: self.insecure_registry,
            ..Options::default()
        };
        options.http.timeout = Some(self.timeout);
        Ok(Client::new(&options, keychain, &Session::new())?)
    }

    /// Waits no longer than it was said.
    pub(super) async fn limited<T>(
        &self,
        work: impl Future<Output = anyhow::Result<T>>,
    ) -> anyhow::Result<T> {
        match tokio::time::timeout(self.timeout, work).await {
            Ok(done) => done,
            Err(_) => bail!("not done after {:?}: --timeout gives it more time", self.timeout),
        }
    }
}

/// Asks a cloud for the login of one of its registries. The registry of anyone else is refused before the cloud is asked.
async fn login(cloud: Cloud, repository: &Repository) -> anyhow::Result<Credential> {
    let identities = Identities::new(Settings::new(Environment::of_process()));
    let asker = Asker::default();
    let credential = identities.registry(cloud, &asker, repository.registry(), Destination::Configured);
    Ok(credential.await?)
}
