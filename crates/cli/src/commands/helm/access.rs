//! How servers that have charts are reached: flags that all commands share.

use std::fs;
use std::path::PathBuf;

use anyhow::Context as _;
use source::http::{self, Login, Tls};
use source::oci::{self, Client, Credential, Keychain, Session};

use super::repositories::Entry;
use crate::commands::keychain;

/// Credentials and certificates.
#[derive(clap::Args, Clone, Default)]
pub(in crate::commands) struct Access {
    /// The user of the repository or registry
    #[arg(long)]
    username: Option<String>,
    /// The password of the user
    #[arg(long)]
    password: Option<String>,
    /// A client certificate in a PEM file
    #[arg(long, value_name = "FILE")]
    cert_file: Option<PathBuf>,
    /// The private key of that certificate in a PEM file
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// Trust the authorities in this PEM file too
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// Take any certificate of the server
    #[arg(long)]
    insecure_skip_tls_verify: bool,
    /// Speak to the registry without TLS
    #[arg(long)]
    plain_http: bool,
    /// The file with credentials for registries [default: that of helm, then that of docker]
    #[arg(
        long,
        value_name = "FILE",
        env = "HELM_REGISTRY_CONFIG",
        hide_env_values = true
    )]
    registry_config: Option<PathBuf>,
}

impl Access {
    /// What was given, and else what Helm knows of a repository. A user and a password belong together.
    pub(super) fn or(self, entry: Entry) -> Access {
        let (username, password) = match self.login() {
            Some(_) => (self.username, self.password),
            None => (entry.username, entry.password),
        };
        Access {
            username,
            password,
            cert_file: self.cert_file.or(entry.cert_file),
            key_file: self.key_file.or(entry.key_file),
            ca_file: self.ca_file.or(entry.ca_file),
            insecure_skip_tls_verify: self.insecure_skip_tls_verify || entry.insecure_skip_tls_verify,
            ..self
        }
    }

    /// Certificates and authorities, as they were given.
    pub(super) fn http(&self) -> anyhow::Result<http::Options> {
        let read = |file: &Option<PathBuf>| match file {
            Some(file) => {
                let content = fs::read(file);
                content
                    .map(Some)
                    .with_context(|| format!("can't create TLS config for client: {}", file.display()))
            }
            None => Ok(None),
        };
        let key = read(&self.key_file)?.map(|key| String::from_utf8_lossy(&key).into_owned().into());
        Ok(http::Options {
            tls: Tls {
                authorities: read(&self.ca_file)?,
                certificate: read(&self.cert_file)?,
                key,
                accept_any: self.insecure_skip_tls_verify,
            },
            ..http::Options::default()
        })
    }

    /// The user, if one was given. Helm takes one without a password too.
    pub(super) fn login(&self) -> Option<Login> {
        match (&self.username, &self.password) {
            (None, None) => None,
            (user, password) => Some(Login {
                user: user.clone().unwrap_or_default(),
                password: password.clone().unwrap_or_default().into(),
            }),
        }
    }

    /// A client for the registry of a repository: with the user that was given, or with what helm and docker know of it.
    pub(super) fn registry(&self, repository: &oci::Repository) -> anyhow::Result<Client> {
        let keychain = match self.login() {
            Some(Login { user, password }) => {
                Keychain::for_registry_of(repository, Credential::Basic { user, password })
            }
            None => keychain::helm(self.registry_config.as_deref())?,
        };
        let options = oci::Options {
            http: self.http()?,
            plain: self.plain_http,
            ..oci::Options::default()
        };
        Ok(Client::new(&options, keychain, &Session::new())?)
    }
}
