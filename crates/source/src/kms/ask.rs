//! Questions to services. Answers are limited, and nothing secret comes back in an error.

use std::time::Duration;

use reqwest::{RequestBuilder, StatusCode};
use secrecy::SecretString;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::Error;
use crate::helm::address::without_secrets;
use crate::identity::why;

/// How long a request may take, with its answer. The address may be one that the owner of an encrypted file has chosen.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The longest answer that is read.
const MAX_ANSWER: usize = 1 << 20;

/// A server, and what it is told and must not tell others.
pub(super) struct Server<'a> {
    endpoint: String,
    secrets: Vec<&'a SecretString>,
}

impl<'a> Server<'a> {
    pub(super) fn new(address: &str, secrets: impl IntoIterator<Item = &'a SecretString>) -> Self {
        Server {
            endpoint: without_secrets(address),
            secrets: secrets.into_iter().collect(),
        }
    }

    /// Sends a request; status and body.
    pub(super) async fn send(&self, request: RequestBuilder) -> Result<(StatusCode, Vec<u8>), Error> {
        let failed = |source: reqwest::Error| Error::Request {
            endpoint: self.endpoint.clone(),
            source: source.without_url(),
        };
        let mut response = request.timeout(TIMEOUT).send().await.map_err(failed)?;
        let status = response.status();
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(failed)? {
            body.extend_from_slice(&piece);
            if body.len() > MAX_ANSWER {
                return Err(self.unreadable("answer of this kind"));
            }
        }
        Ok((status, body))
    }

    /// Sends a request that is answered with JSON if all is well.
    pub(super) async fn json<T: DeserializeOwned>(
        &self,
        request: RequestBuilder,
        what: &'static str,
    ) -> Result<T, Error> {
        let (status, body) = self.send(request).await?;
        if !status.is_success() {
            return Err(self.refused(status, &complaint(&body)));
        }
        serde_json::from_slice(&body).map_err(|_| self.unreadable(what))
    }

    /// The server said no.
    pub(super) fn refused(&self, status: StatusCode, complaint: &str) -> Error {
        let why = why(status, complaint, &self.secrets);
        Error::Refused {
            endpoint: self.endpoint.clone(),
            why,
        }
    }

    /// The answer is none.
    pub(super) fn unreadable(&self, what: &'static str) -> Error {
        Error::Answer {
            endpoint: self.endpoint.clone(),
            what,
        }
    }
}

/// What a service complains of in JSON: as AWS, Azure, Google and Vault write it.
fn complaint(body: &[u8]) -> String {
    #[derive(Deserialize)]
    struct Inner {
        code: Option<serde_json::Value>,
        message: Option<String>,
    }
    #[derive(Default, Deserialize)]
    struct Complaint {
        error: Option<Inner>,
        #[serde(default)]
        errors: Vec<String>,
        #[serde(rename = "__type")]
        kind: Option<String>,
        #[serde(alias = "Message")]
        message: Option<String>,
    }
    let said: Complaint = serde_json::from_slice(body).unwrap_or_default();
    let mut parts = Vec::new();
    if let Some(inner) = said.error {
        parts.extend(inner.code.and_then(|code| code.as_str().map(str::to_owned)));
        parts.extend(inner.message);
    }
    parts.extend(said.kind);
    parts.extend(said.message);
    parts.extend(said.errors);
    parts.join(": ")
}
