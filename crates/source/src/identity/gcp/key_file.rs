//! Keys of Google service accounts.

use std::fmt;

use aws_lc_rs::signature::RsaKeyPair;
use futures::future::BoxFuture;
use jiff::Timestamp;
use reqwest::Client;
use secrecy::ExposeSecret;
use serde::Deserialize;
use serde_json::json;

use super::super::ask::{Server, form};
use super::super::{CredentialSource, Error, Grant, jwt};

/// What may be done with a token, unless said otherwise: reading objects.
const READ_OBJECTS: &str = "https://www.googleapis.com/auth/devstorage.read_only";

/// A service account with its key, as the file that Google hands out has it.
pub struct KeyFile {
    email: String,
    key_id: String,
    key: RsaKeyPair,
    token_server: String,
    scope: String,
    client: Client,
}

impl fmt::Debug for KeyFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyFile")
            .field("email", &self.email)
            .finish_non_exhaustive()
    }
}

/// Why a key file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// It is no such file.
    #[error("the service account is not the JSON of a key file: {0}")]
    Json(&'static str),
    /// It is of another kind.
    #[error("credentials of type '{0}' are not supported: create a key of a service account")]
    Kind(String),
    /// The key in it cannot be read.
    #[error("the private key of the service account is not a PKCS #8 RSA key in PEM form")]
    Key,
}

#[derive(Deserialize)]
struct File {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    client_email: String,
    private_key: Option<String>,
    #[serde(default)]
    private_key_id: String,
    token_uri: Option<String>,
}

impl KeyFile {
    /// Reads a key file. Tokens are asked for with the client, and are for reading objects.
    ///
    /// # Errors
    /// Where it is no key file of a service account.
    pub fn parse(json: &[u8], client: Client) -> Result<Self, KeyError> {
        let file: File = serde_json::from_slice(json).map_err(|_| KeyError::Json("it is no JSON object"))?;
        if file.kind != "service_account" {
            return Err(KeyError::Kind(file.kind.chars().take(64).collect()));
        }
        if file.client_email.is_empty() {
            return Err(KeyError::Json("it has no 'client_email'"));
        }
        let key = file.private_key.ok_or(KeyError::Key)?;
        Ok(KeyFile {
            email: file.client_email,
            key_id: file.private_key_id,
            key: jwt::key(&key).ok_or(KeyError::Key)?,
            token_server: file
                .token_uri
                .unwrap_or_else(|| "https://oauth2.googleapis.com/token".to_owned()),
            scope: READ_OBJECTS.to_owned(),
            client,
        })
    }

    /// Has tokens be for other things.
    #[must_use]
    pub fn with_scope(mut self, scope: String) -> Self {
        self.scope = scope;
        self
    }

    /// A token that begins at `now`.
    pub(super) async fn token(&self, now: Timestamp) -> Result<Grant, Error> {
        let header = json!({"alg": "RS256", "typ": "JWT", "kid": self.key_id});
        let claims = json!({
            "iss": self.email,
            "scope": self.scope,
            "aud": self.token_server,
            "iat": now.as_second(),
            "exp": now.as_second() + 3600,
        });
        let assertion = jwt::sign(&self.key, &header, &claims);
        let assertion = assertion
            .ok_or_else(|| Error::Setup("the private key of the service account cannot sign".to_owned()))?;
        let fields = [
            (
                "grant_type",
                "urn:ietf:params:oauth:grant-type:jwt-bearer".to_owned(),
            ),
            ("assertion", assertion.expose_secret().to_owned()),
        ];
        let server = Server::new(&self.token_server, [&assertion]);
        let request = form(self.client.post(&self.token_server), &fields);
        server.token(request, now).await
    }
}

impl CredentialSource for KeyFile {
    fn grant(&self) -> BoxFuture<'_, Result<Grant, Error>> {
        Box::pin(self.token(Timestamp::now()))
    }
}
