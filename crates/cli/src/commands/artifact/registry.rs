//! How the registry is reached: flags that all commands share.

use std::future::Future;
use std::time::Duration;

use anyhow::bail;
use source::oci::{Client, Credential, Keychain, Options, Repository, Session};

use super::action;
use crate::commands::{keychain, pflag};

#[derive(clap::Args)]
pub(super) struct RegistryArgs {
    /// Credentials in the format <user>[:<password>]; without them those of docker's config.json are used
    #[arg(long, value_name = "CREDENTIALS", hide_env_values = true)]
    creds: Option<String>,

    /// Who gives the credentials; only `generic` so far
    #[arg(long, default_value = "generic", value_parser = ["generic", "aws", "azure", "gcp"])]
    provider: String,

    /// Take a registry without TLS, or with a certificate that nobody vouches for
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    insecure_registry: bool,

    /// The time everything may take, such as 30s or 5m
    #[arg(long, default_value = "5m", value_name = "DURATION", value_parser = pflag::duration)]
    timeout: Duration,
}

impl RegistryArgs {
    /// A client with the credentials that were given, or those of docker.
    pub(super) fn client(&self, repository: &Repository) -> anyhow::Result<Client> {
        if self.provider != "generic" {
            bail!(
                "logging in with provider '{}' is not supported yet: log in with --creds or docker login",
                self.provider
            );
        }
        let keychain = match &self.creds {
            Some(creds) => {
                action("logging in to registry with credentials");
                Keychain::for_registry_of(repository, Credential::parse(creds))
            }
            None => keychain::docker()?,
        };
        let options = Options {
            insecure: self.insecure_registry,
            ..Options::default()
        };
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
