//! The transit engine of Vault or OpenBao.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::Client;
use secrecy::{ExposeSecret, SecretSlice, SecretString};
use serde::Deserialize;
use serde_json::json;
use url::Url;

use super::Error;
use super::ask::Server;
use crate::http::escape;

/// What to decrypt.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// Where the server is.
    pub address: &'a str,
    /// Where the engine is mounted.
    pub engine_path: &'a str,
    /// The name of the key.
    pub key_name: &'a str,
    /// What to decrypt: `vault:v1:…`.
    pub ciphertext: &'a str,
}

/// Who logs in.
#[derive(Clone, Debug)]
pub struct Login<'a> {
    /// Where the server is.
    pub address: &'a str,
    /// Where the method of logging in is mounted, with what follows it: `auth/kubernetes/login`.
    pub path: &'a str,
    /// The role to have.
    pub role: &'a str,
    /// The token of a ServiceAccount.
    pub jwt: &'a SecretString,
}

/// Decrypts with a key.
///
/// # Errors
/// Where the server refuses, or does not answer.
pub async fn decrypt(
    client: &Client,
    token: &SecretString,
    request: &Request<'_>,
) -> Result<SecretSlice<u8>, Error> {
    #[derive(Deserialize)]
    struct Data {
        plaintext: String,
    }
    #[derive(Deserialize)]
    struct Answer {
        data: Data,
    }
    // The engine may be mounted several names deep. The name of a key is one name.
    let mut names: Vec<&str> = request.engine_path.trim_matches('/').split('/').collect();
    names.extend(["decrypt", request.key_name]);
    let address = address(request.address, &names)?;
    let server = Server::new(&address, [token]);
    let call = client
        .put(&address)
        .header("x-vault-token", token.expose_secret())
        .header("x-vault-request", "true")
        .header("content-type", "application/json")
        .body(json!({"ciphertext": request.ciphertext}).to_string());
    let answer: Answer = server.json(call, "decrypted key").await?;
    let plaintext = STANDARD.decode(answer.data.plaintext);
    plaintext
        .map(Into::into)
        .map_err(|_| server.unreadable("decrypted key"))
}

/// Logs in: the token to decrypt with.
///
/// # Errors
/// Where the server refuses, or does not answer.
pub async fn login(client: &Client, login: &Login<'_>) -> Result<SecretString, Error> {
    #[derive(Deserialize)]
    struct Auth {
        client_token: String,
    }
    #[derive(Deserialize)]
    struct Answer {
        auth: Option<Auth>,
    }
    let names: Vec<&str> = login.path.trim_matches('/').split('/').collect();
    let address = address(login.address, &names)?;
    let server = Server::new(&address, [login.jwt]);
    let body = json!({"role": login.role, "jwt": login.jwt.expose_secret()});
    let call = client
        .put(&address)
        .header("x-vault-request", "true")
        .header("content-type", "application/json")
        .body(body.to_string());
    let answer: Answer = server.json(call, "login").await?;
    let token = answer
        .auth
        .map(|auth| auth.client_token)
        .filter(|token| !token.is_empty());
    token
        .map(SecretString::from)
        .ok_or_else(|| server.unreadable("login with a token"))
}

/// The address of something on the server. Each name is escaped, and leads nowhere else.
fn address(base: &str, names: &[&str]) -> Result<String, Error> {
    let wrong = || {
        Error::Key("the Vault key has no address: vault_address, engine_path and key_name must be set, and lead nowhere else".to_owned())
    };
    let url = Url::parse(base)
        .ok()
        .filter(|url| matches!(url.scheme(), "https" | "http"));
    let mut url = url.ok_or_else(wrong)?;
    if names.iter().any(|name| escape::leads_away(name)) {
        return Err(wrong());
    }
    url.set_query(None);
    url.set_fragment(None);
    url.path_segments_mut()
        .map_err(|()| wrong())?
        .pop_if_empty()
        .push("v1")
        .extend(names);
    Ok(url.into())
}
