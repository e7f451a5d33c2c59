//! How the registry is reached: flags that all commands share.

use std::env;
use std::fs;
use std::future::Future;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, bail};
use source::oci::{Client, Credential, Keychain, Options, Repository, Session};

use super::action;

#[derive(clap::Args)]
pub(super) struct RegistryArgs {
    /// Credentials in the format <user>[:<password>]; without them those of docker's config.json are used
    #[arg(long, value_name = "CREDENTIALS", hide_env_values = true)]
    creds: Option<String>,

    /// Who gives the credentials; only `generic` so far
    #[arg(long, default_value = "generic", value_parser = ["generic", "aws", "azure", "gcp"])]
    provider: String,

    /// Take a registry without TLS, or with a certificate that nobody vouches for
    #[arg(long)]
    insecure_registry: bool,

    /// The time everything may take, such as 30s or 5m
    #[arg(long, default_value = "5m", value_name = "DURATION", value_parser = duration)]
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
            None => docker_keychain()?,
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

/// What `docker login` left, if anything.
fn docker_keychain() -> anyhow::Result<Keychain> {
    let folder = match env::var_os("DOCKER_CONFIG") {
        Some(folder) => PathBuf::from(folder),
        None => match env::home_dir() {
            Some(home) => home.join(".docker"),
            None => return Ok(Keychain::anonymous()),
        },
    };
    let file = folder.join("config.json");
    match fs::read(&file) {
        Ok(json) => Keychain::docker_config(&json).with_context(|| file.display().to_string()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Keychain::anonymous()),
        Err(error) => Err(error).with_context(|| format!("failed to read {}", file.display())),
    }
}

/// A duration as Go writes them, whole numbers only: `90s`, `1h30m`.
fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("'{text}' is no duration: it must look like 90s or 1h30m");
    let mut total = Duration::ZERO;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest
            .find(|found: char| !found.is_ascii_digit())
            .ok_or_else(wrong)?;
        let number: u32 = rest[..digits].parse().map_err(|_| wrong())?;
        let after = &rest[digits..];
        let end = after
            .find(|found: char| found.is_ascii_digit())
            .unwrap_or(after.len());
        let unit = match &after[..end] {
            "ms" => Duration::from_millis(1),
            "s" => Duration::from_secs(1),
            "m" => Duration::from_secs(60),
            "h" => Duration::from_secs(3600),
            _ => return Err(wrong()),
        };
        total += unit.checked_mul(number).ok_or_else(wrong)?;
        rest = &after[end..];
    }
    if total.is_zero() { Err(wrong()) } else { Ok(total) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read() {
        assert_eq!(duration("5m"), Ok(Duration::from_secs(300)));
        assert_eq!(duration("1h30m5s"), Ok(Duration::from_secs(5405)));
        assert_eq!(duration("100ms"), Ok(Duration::from_millis(100)));
        for wrong in ["", "5", "m", "5x", "-5s", "0s", "99999999999s"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
