//! Google Cloud KMS.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::Client;
use secrecy::{ExposeSecret, SecretSlice, SecretString};
use serde::Deserialize;
use serde_json::json;

use super::Error;
use super::ask::Server;

/// Where the service is.
pub const ENDPOINT: &str = "https://cloudkms.googleapis.com";

/// What tokens for it are asked for.
pub const SCOPE: &str =
    "https://www.googleapis.com/auth/cloud-platform https://www.googleapis.com/auth/cloudkms";

/// What to decrypt.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The name of the key: `projects/P/locations/L/keyRings/R/cryptoKeys/K`.
    pub resource_id: &'a str,
    /// What to decrypt, as base64.
    pub ciphertext: &'a str,
}

/// Decrypts with a key. The endpoint is [`ENDPOINT`], unless it is said otherwise.
///
/// # Errors
/// Where Google refuses, or does not answer.
pub async fn decrypt(
    client: &Client,
    endpoint: Option<&str>,
    token: &SecretString,
    request: &Request<'_>,
) -> Result<SecretSlice<u8>, Error> {
    #[derive(Deserialize)]
    struct Decrypted {
        #[serde(default)]
        plaintext: String,
    }
    check(request.resource_id)?;
    let ciphertext = STANDARD
        .decode(request.ciphertext)
        .map_err(|_| Error::Ciphertext("base64"))?;
    let base = endpoint.unwrap_or(ENDPOINT).trim_end_matches('/');
    let address = format!("{base}/v1/{}:decrypt", request.resource_id);
    let server = Server::new(&address, [token]);
    let call = client
        .post(&address)
        .bearer_auth(token.expose_secret())
        .header("content-type", "application/json")
        .body(json!({"ciphertext": STANDARD.encode(ciphertext)}).to_string());
    let decrypted: Decrypted = server.json(call, "decrypted key").await?;
    let plaintext = STANDARD.decode(decrypted.plaintext);
    plaintext
        .map(Into::into)
        .map_err(|_| server.unreadable("decrypted key"))
}

/// The name is part of the address, so that it must be one.
fn check(resource_id: &str) -> Result<(), Error> {
    let parts: Vec<&str> = resource_id.split('/').collect();
    let is_name = |part: &str| {
        let known = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
        !part.is_empty() && part != "." && part != ".." && part.bytes().all(known)
    };
    let named = ["projects", "locations", "keyRings", "cryptoKeys"];
    let fits = parts.len() == 8
        && parts.iter().step_by(2).eq(named.iter())
        && parts.iter().skip(1).step_by(2).all(|part| is_name(part));
    if fits {
        return Ok(());
    }
    Err(Error::Key(
        "the GCP KMS key has no name: it must be like 'projects/P/locations/L/keyRings/R/cryptoKeys/K'"
            .to_owned(),
    ))
}
