//! Keys of Google service accounts.

use std::fmt;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use futures::future::BoxFuture;
use jiff::Timestamp;
use reqwest::Client;
use serde::Deserialize;
use serde_json::json;

use crate::bucket::store::Error;
use crate::bucket::token::{self, Token, TokenSource};

/// What may be done with a token: reading objects.
const SCOPE: &str = "https://www.googleapis.com/auth/devstorage.read_only";

/// A service account with its key, as the file that Google hands out has it.
pub struct ServiceAccount {
    email: String,
    key_id: String,
    key: RsaKeyPair,
    token_server: String,
    client: Client,
}

impl fmt::Debug for ServiceAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceAccount")
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
    #[serde(default)]
    private_key: String,
    #[serde(default)]
    private_key_id: String,
    token_uri: Option<String>,
}

impl ServiceAccount {
    /// Reads a key file. Tokens are asked for with the client.
    pub fn parse(json: &[u8], client: Client) -> Result<Self, KeyError> {
        let file: File = serde_json::from_slice(json).map_err(|_| KeyError::Json("it is no JSON object"))?;
        if file.kind != "service_account" {
            return Err(KeyError::Kind(file.kind));
        }
        if file.client_email.is_empty() {
            return Err(KeyError::Json("it has no 'client_email'"));
        }
        let der = pem(&file.private_key).ok_or(KeyError::Key)?;
        Ok(ServiceAccount {
            email: file.client_email,
            key_id: file.private_key_id,
            key: RsaKeyPair::from_pkcs8(&der).map_err(|_| KeyError::Key)?,
            token_server: file
                .token_uri
                .unwrap_or_else(|| "https://oauth2.googleapis.com/token".to_owned()),
            client,
        })
    }

    /// A signed claim to be this account.
    fn assertion(&self, now: Timestamp) -> Result<String, Error> {
        let header = json!({"alg": "RS256", "typ": "JWT", "kid": self.key_id});
        let claims = json!({
            "iss": self.email,
            "scope": SCOPE,
            "aud": self.token_server,
            "iat": now.as_second(),
            "exp": now.as_second() + 3600,
        });
        let encode = |value: serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let text = format!("{}.{}", encode(header), encode(claims));
        let mut signature = vec![0; self.key.public_modulus_len()];
        self.key
            .sign(
                &RSA_PKCS1_SHA256,
                &SystemRandom::new(),
                text.as_bytes(),
                &mut signature,
            )
            .map_err(|_| Error::Sts {
                endpoint: self.token_server.clone(),
                code: "the private key of the service account cannot sign".to_owned(),
            })?;
        Ok(format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }
}

/// The bytes of the one PEM block.
fn pem(text: &str) -> Option<Vec<u8>> {
    let (_, rest) = text.split_once("-----BEGIN PRIVATE KEY-----")?;
    let (body, _) = rest.split_once("-----END PRIVATE KEY-----")?;
    let body: String = body.split_whitespace().collect();
    STANDARD.decode(body).ok()
}

impl TokenSource for ServiceAccount {
    fn token(&self) -> BoxFuture<'_, Result<Token, Error>> {
        Box::pin(async move {
            let form = [
                (
                    "grant_type",
                    "urn:ietf:params:oauth:grant-type:jwt-bearer".to_owned(),
                ),
                ("assertion", self.assertion(Timestamp::now())?),
            ];
            token::ask(&self.client, &self.token_server, &form).await
        })
    }
}
