//! Azure Key Vault.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::Client;
use secrecy::{ExposeSecret, SecretSlice, SecretString};
use serde::Deserialize;
use serde_json::json;
use url::Url;

use super::Error;
use super::ask::Server;
use crate::http::escape;

/// The version of the interface.
const VERSION: &str = "7.4";

/// What to decrypt.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// Where the vault is.
    pub vault_url: &'a str,
    /// The name of the key.
    pub name: &'a str,
    /// The version of the key; empty is the newest.
    pub version: &'a str,
    /// What to decrypt, as base64 for URLs without padding.
    pub ciphertext: &'a str,
}

/// What a token for a vault is asked for: the cloud that the vault is in. A token for one cloud is of no use to a server
/// elsewhere.
///
/// # Errors
/// Where the address is none of a vault.
pub fn scope(vault_url: &str) -> Result<String, Error> {
    let url = parse(vault_url)?;
    let domain = url
        .host_str()
        .and_then(|host| host.split_once('.'))
        .map(|(_, domain)| domain);
    match domain {
        Some(domain) if domain.contains('.') => Ok(format!("https://{domain}/.default")),
        _ => Err(not_a_vault()),
    }
}

/// Decrypts with a key, by RSA-OAEP-256.
///
/// # Errors
/// Where Azure refuses, or does not answer.
pub async fn decrypt(
    client: &Client,
    token: &SecretString,
    request: &Request<'_>,
) -> Result<SecretSlice<u8>, Error> {
    #[derive(Deserialize)]
    struct Decrypted {
        value: String,
    }
    let ciphertext = URL_SAFE_NO_PAD.decode(request.ciphertext);
    let ciphertext = ciphertext.map_err(|_| Error::Ciphertext("base64 for URLs"))?;
    let url = parse(request.vault_url)?;
    if escape::leads_away(request.name) || matches!(request.version, "." | "..") {
        return Err(Error::Key(
            "the Azure key has no name: name and version must be set, and lead nowhere else".to_owned(),
        ));
    }
    let mut path = format!("keys/{}", escape::escape(request.name));
    if !request.version.is_empty() {
        path = format!("{path}/{}", escape::escape(request.version));
    }
    let base = url.as_str().trim_end_matches('/');
    let address = format!("{base}/{path}/decrypt?api-version={VERSION}");
    let body = json!({"alg": "RSA-OAEP-256", "value": URL_SAFE_NO_PAD.encode(ciphertext)});
    let server = Server::new(&address, [token]);
    let call = client
        .post(&address)
        .bearer_auth(token.expose_secret())
        .header("content-type", "application/json")
        .body(body.to_string());
    let decrypted: Decrypted = server.json(call, "decrypted key").await?;
    let plaintext = URL_SAFE_NO_PAD.decode(decrypted.value.trim_end_matches('='));
    plaintext
        .map(Into::into)
        .map_err(|_| server.unreadable("decrypted key"))
}

fn parse(vault_url: &str) -> Result<Url, Error> {
    let url = Url::parse(vault_url)
        .ok()
        .filter(|url| url.query().is_none() && url.fragment().is_none());
    url.filter(|url| matches!(url.scheme(), "https" | "http"))
        .ok_or_else(not_a_vault)
}

fn not_a_vault() -> Error {
    Error::Key(
        "the vault of the Azure key has no address: it must be like 'https://NAME.vault.azure.net'"
            .to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_for_the_cloud_that_the_vault_is_in() {
        for (vault, wanted) in [
            (
                "https://flux.vault.azure.net",
                Some("https://vault.azure.net/.default"),
            ),
            (
                "https://flux.vault.azure.net/",
                Some("https://vault.azure.net/.default"),
            ),
            (
                "https://flux.vault.azure.cn",
                Some("https://vault.azure.cn/.default"),
            ),
            (
                "https://flux.managedhsm.azure.net",
                Some("https://managedhsm.azure.net/.default"),
            ),
            ("https://localhost", None),
            ("flux.vault.azure.net", None),
            ("https://flux.vault.azure.net/?x", None),
        ] {
            assert_eq!(scope(vault).ok().as_deref(), wanted, "{vault}");
        }
    }
}
