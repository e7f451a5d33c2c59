//! The directory that gives tokens to applications.

use std::fmt;
use std::sync::Arc;

use aws_lc_rs::signature::{KeyPair as _, RSA_PKCS1_2048_8192_SHA256, RsaKeyPair, UnparsedPublicKey};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use rcgen::{CertificateParams, KeyPair, PKCS_RSA_SHA256};
use serde_json::{Value, json};
use sha1::{Digest as _, Sha1};

use crate::http::{Method, Reply, Request, Server, Service};

const JWT_BEARER: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// The directory `tenant-1` with the application `client-1`. Whoever proves to be the application gets the token `aad:<scope>`;
/// whether a form does is for `is_proof` to say.
pub fn directory(is_proof: impl Fn(&Request) -> bool + Send + Sync + 'static) -> Server<impl Service> {
    Server::serve(move |request: &Request| {
        let form = request.form();
        let field = |name: &str| form.get(name).map_or("", String::as_str);
        let is_call = request.method == Method::POST
            && request.path() == "/tenant-1/oauth2/v2.0/token"
            && field("client_id") == "client-1"
            && field("grant_type") == "client_credentials";
        if !is_call || !is_proof(request) {
            return Reply::json(json!({"error": "invalid_client"}).to_string()).with_status(401);
        }
        let token = format!("aad:{}", field("scope"));
        Reply::json(json!({"token_type": "Bearer", "expires_in": 3599, "access_token": token}).to_string())
    })
}

/// The assertion that a form shows in the place of a secret, if it says of what kind it is.
pub fn assertion_of(request: &Request) -> Option<String> {
    let mut form = request.form();
    let kind = form.remove("client_assertion_type");
    let assertion = form.remove("client_assertion");
    assertion.filter(|_| kind.as_deref() == Some(JWT_BEARER))
}

/// A certificate by which an application is known. Clones are the same certificate.
#[derive(Clone)]
pub struct Certificate(Arc<Parts>);

struct Parts {
    certificate: rcgen::Certificate,
    key: KeyPair,
}

impl Default for Certificate {
    fn default() -> Self {
        let key = KeyPair::generate_for(&PKCS_RSA_SHA256).expect("the system gives randomness");
        let certificate = CertificateParams::default().self_signed(&key);
        Certificate(Arc::new(Parts {
            certificate: certificate.expect("these parameters make a certificate"),
            key,
        }))
    }
}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certificate").finish_non_exhaustive()
    }
}

impl Certificate {
    /// The certificate and its key, as one PEM text.
    pub fn pem(&self) -> String {
        format!("{}{}", self.0.certificate.pem(), self.0.key.serialize_pem())
    }

    /// The certificate and its key (PKCS #8), both as DER.
    pub fn der(&self) -> (Vec<u8>, Vec<u8>) {
        let key = self.0.key.serialized_der().to_vec();
        (self.0.certificate.der().to_vec(), key)
    }

    /// Whether the application `client-1` proves itself by this certificate, and shows it where that is wanted.
    pub fn is_shown_by(&self, request: &Request, with_chain: bool) -> bool {
        let assertion = assertion_of(request).unwrap_or_default();
        let (text, signature) = assertion.rsplit_once('.').unwrap_or_default();
        let signature = URL_SAFE_NO_PAD.decode(signature).unwrap_or_default();
        let pair = RsaKeyPair::from_pkcs8(self.0.key.serialized_der()).expect("it is an RSA key");
        let key = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, pair.public_key().as_ref());
        let part = |number: usize| -> Value {
            let part = text.split('.').nth(number).unwrap_or_default();
            serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap_or_default()).unwrap_or_default()
        };
        let (head, claims) = (part(0), part(1));
        let der = self.0.certificate.der();
        let chain = match with_chain {
            true => json!([STANDARD.encode(der)]),
            false => Value::Null,
        };
        let address = format!("{}/tenant-1/oauth2/v2.0/token", request.origin());
        key.verify(text.as_bytes(), &signature).is_ok()
            && head["x5t"] == URL_SAFE_NO_PAD.encode(Sha1::digest(der)).as_str()
            && head["x5c"] == chain
            && claims["iss"] == "client-1"
            && claims["sub"] == "client-1"
            && claims["aud"] == address.as_str()
    }
}
