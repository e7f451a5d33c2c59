//! An account with a key of its own, and the server that gives tokens for what the key signs.

use std::fmt;

use aws_lc_rs::signature::{KeyPair as _, RSA_PKCS1_2048_8192_SHA256, RsaKeyPair, UnparsedPublicKey};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rcgen::{KeyPair, PKCS_RSA_SHA256};
use serde_json::{Value, json};

use super::EMAIL;
use crate::http::{Reply, Request, Server, Service};

/// An account of Google Cloud, [`EMAIL`], with its private key.
pub struct Account {
    key: KeyPair,
}

impl Default for Account {
    fn default() -> Self {
        Account {
            key: KeyPair::generate_for(&PKCS_RSA_SHA256).expect("the system gives randomness"),
        }
    }
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Account").finish_non_exhaustive()
    }
}

impl Account {
    /// The file that holds the key, for the token server at this address.
    pub fn key_file(&self, token_uri: &str) -> String {
        let file = json!({
            "type": "service_account",
            "client_email": EMAIL,
            "private_key": self.key.serialize_pem(),
            "private_key_id": "1",
            "token_uri": token_uri,
        });
        file.to_string()
    }

    /// A server that gives the token to whoever shows a claim to this scope that the key signed.
    pub fn token_server(&self, token: &str, scope: &str) -> Server<impl Service + use<>> {
        let pair = RsaKeyPair::from_pkcs8(self.key.serialized_der()).expect("it is an RSA key");
        let public = pair.public_key().as_ref().to_vec();
        let (token, scope) = (token.to_owned(), scope.to_owned());
        Server::serve(move |request: &Request| {
            let assertion = request.form().remove("assertion").unwrap_or_default();
            let (text, signature) = assertion.rsplit_once('.').unwrap_or_default();
            let signature = URL_SAFE_NO_PAD.decode(signature).unwrap_or_default();
            let key = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, &public);
            let claims = text.split('.').nth(1).unwrap_or_default();
            let claims: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).unwrap_or_default())
                .unwrap_or_default();
            let is_right = key.verify(text.as_bytes(), &signature).is_ok()
                && claims["iss"] == EMAIL
                && claims["scope"] == scope.as_str();
            match is_right {
                true => Reply::json(json!({"access_token": token, "expires_in": 3600}).to_string()),
                false => Reply::json(json!({"error": "invalid_grant"}).to_string()).with_status(400),
            }
        })
    }
}
