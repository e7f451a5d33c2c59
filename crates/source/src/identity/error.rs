//! Why there are no credentials.

use std::io;
use std::sync::Arc;

use crate::http;

/// Why there are no credentials. It can be cloned, because all who waited for one exchange are told why it failed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The environment or the object lacks something.
    #[error("{0}")]
    Setup(String),
    /// The registry is not one of this cloud.
    #[error("invalid {cloud} registry: '{registry}'. must match {pattern}")]
    Registry {
        /// The cloud.
        cloud: &'static str,
        /// The registry.
        registry: String,
        /// How its registries are named.
        pattern: &'static str,
    },
    /// The repository is not one of this cloud.
    #[error("invalid {what} Git URL: '{host}'")]
    Repository {
        /// What it should be.
        what: &'static str,
        /// The host of the address.
        host: String,
    },
    /// An annotation of the ServiceAccount says nothing that can be used.
    #[error("invalid {key} annotation of the service account '{account}': '{value}'. must match {pattern}")]
    Annotation {
        /// The ServiceAccount.
        account: String,
        /// The annotation.
        key: &'static str,
        /// What it says.
        value: String,
        /// What it must be.
        pattern: &'static str,
    },
    /// A file cannot be read.
    #[error("the file '{path}' cannot be read")]
    File {
        /// The file.
        path: String,
        /// Why not.
        #[source]
        source: Arc<io::Error>,
    },
    /// A key file cannot be used.
    #[error("the credentials in '{path}' cannot be used: {why}")]
    KeyFile {
        /// The file.
        path: String,
        /// Why not.
        why: String,
    },
    /// The server did not answer.
    #[error("'{endpoint}' cannot be reached{}", crate::http::remedy(.source.as_ref()))]
    Request {
        /// The server.
        endpoint: String,
        /// Why not.
        #[source]
        source: Arc<reqwest::Error>,
    },
    /// The server said no.
    #[error("'{endpoint}' gives no credentials: {why}")]
    Refused {
        /// The server.
        endpoint: String,
        /// What it said.
        why: String,
    },
    /// The answer cannot be read.
    #[error("'{endpoint}' answered with something that is no {what}")]
    Answer {
        /// The server.
        endpoint: String,
        /// What it should be.
        what: &'static str,
    },
    /// No client can be made.
    #[error("the HTTP client cannot be made")]
    Client(#[source] Arc<http::Error>),
    /// The cluster gives no token of the ServiceAccount.
    #[error("failed to create kubernetes token for service account '{account}'")]
    ServiceAccount {
        /// The ServiceAccount.
        account: String,
        /// Why not.
        #[source]
        source: Arc<dyn std::error::Error + Send + Sync>,
    },
    /// Credentials of an identity may not go to the server that an object names.
    #[error(
        "credentials of a cloud identity are not sent to '{address}' for {service}: {why}: use an endpoint of the cloud, set \
         spec.secretRef, or have the operator allow it with --trusted-identity-endpoints"
    )]
    Destination {
        /// The server.
        address: String,
        /// The service that the credentials are for.
        service: &'static str,
        /// Why not.
        why: &'static str,
    },
    /// A GitHub App gets no token.
    #[error("no token of the GitHub App")]
    App(#[source] Arc<crate::git::github_app::Error>),
}

impl From<http::Error> for Error {
    fn from(error: http::Error) -> Self {
        Error::Client(Arc::new(error))
    }
}
