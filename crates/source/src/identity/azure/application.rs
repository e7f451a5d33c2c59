//! Applications of a directory, known by a secret, a certificate or the word of somebody who is trusted.

use std::fmt;

use aws_lc_rs::rand::{SecureRandom, SystemRandom};
use aws_lc_rs::signature::RsaKeyPair;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use futures::future::BoxFuture;
use jiff::Timestamp;
use reqwest::Client;
use secrecy::SecretString;
use serde_json::json;
use sha1::{Digest, Sha1};

use super::super::ask::{Server, form};
use super::super::{CredentialSource, Error, Grant, jwt};
use super::{STORAGE, field, pkcs12};
use crate::http::escape;

/// Who gives tokens, unless said otherwise.
pub const AUTHORITY: &str = "https://login.microsoftonline.com/";

/// An application.
#[derive(Debug)]
pub struct Application {
    /// The directory it is in.
    pub tenant: String,
    /// Its identifier.
    pub client_id: String,
    /// How it proves who it is.
    pub proof: Proof,
    /// Who gives tokens; see [`AUTHORITY`].
    pub authority: String,
    /// The client to ask with.
    pub client: Client,
}

/// How an application proves who it is.
pub enum Proof {
    /// By a secret.
    Secret(SecretString),
    /// By the word of somebody whom the directory trusts: the cluster's.
    Assertion(SecretString),
    /// By a certificate.
    Certificate(Box<Certificate>),
}

/// A certificate with its key.
pub struct Certificate {
    key: RsaKeyPair,
    /// The certificate, and what it was issued by, in the order of the file.
    chain: Vec<Vec<u8>>,
    send_chain: bool,
}

/// Why a certificate cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CertificateError {
    /// One part is missing, or cannot be read.
    #[error(
        "the client certificate cannot be used: it must be PEM or PKCS #12, with the certificate and its RSA private key, and \
         'clientCertificatePassword' the password of the latter"
    )]
    Unreadable,
    /// The key is encrypted.
    #[error(
        "the private key of the client certificate is encrypted, which only a PKCS #12 file may be: make one ('openssl pkcs12 \
         -export'), or store the key decrypted ('openssl pkcs8 -in KEY') and without 'clientCertificatePassword'"
    )]
    Encrypted,
}

impl Proof {
    /// By a certificate and its key in one PEM text. With `send_chain` the directory is shown the certificate, so that it can
    /// trust its issuer instead.
    ///
    /// # Errors
    /// Where one of them is not there or cannot be read.
    pub fn certificate(pem: &SecretString, send_chain: bool) -> Result<Self, CertificateError> {
        use secrecy::ExposeSecret;
        let text = pem.expose_secret();
        let is_encrypted = ["-----BEGIN ENCRYPTED PRIVATE KEY-----", "Proc-Type: 4,ENCRYPTED"];
        if is_encrypted.iter().any(|mark| text.contains(mark)) {
            return Err(CertificateError::Encrypted);
        }
        let key = jwt::key(text).ok_or(CertificateError::Unreadable)?;
        let blocks = text.split("-----BEGIN CERTIFICATE-----").skip(1);
        let chain: Option<Vec<Vec<u8>>> = blocks
            .map(|block| jwt::pem(&format!("-----BEGIN CERTIFICATE-----{block}"), "CERTIFICATE"))
            .collect();
        let chain = chain
            .filter(|chain| !chain.is_empty())
            .ok_or(CertificateError::Unreadable)?;
        Ok(Proof::Certificate(Box::new(Certificate {
            key,
            chain,
            send_chain,
        })))
    }

    /// By a certificate and its key in a file: PEM, or PKCS #12, which may have a password.
    ///
    /// # Errors
    /// As [`Proof::certificate`].
    pub fn certificate_file(
        file: &[u8],
        password: Option<&SecretString>,
        send_chain: bool,
    ) -> Result<Self, CertificateError> {
        use secrecy::ExposeSecret;
        if let Some(text) = str::from_utf8(file)
            .ok()
            .filter(|text| text.contains("-----BEGIN "))
        {
            return Self::certificate(&text.into(), send_chain);
        }
        let password = password.map_or("", |password| password.expose_secret());
        let (key, chain) = pkcs12::read(file, password).ok_or(CertificateError::Unreadable)?;
        Ok(Proof::Certificate(Box::new(Certificate {
            key,
            chain,
            send_chain,
        })))
    }
}

impl Certificate {
    /// A signed claim to be the application.
    fn assertion(&self, client_id: &str, audience: &str, now: Timestamp) -> Option<SecretString> {
        let mut header = json!({
            "alg": "RS256",
            "typ": "JWT",
            "x5t": URL_SAFE_NO_PAD.encode(Sha1::digest(&self.chain[0])),
        });
        if self.send_chain {
            let chain: Vec<String> = self.chain.iter().map(|one| STANDARD.encode(one)).collect();
            header["x5c"] = json!(chain);
        }
        let mut number = [0; 16];
        SystemRandom::new().fill(&mut number).ok()?;
        let begins = now.as_second();
        let claims = json!({
            "aud": audience,
            "iss": client_id,
            "sub": client_id,
            "jti": URL_SAFE_NO_PAD.encode(number),
            "nbf": begins,
            "exp": begins + 600,
        });
        jwt::sign(&self.key, &header, &claims)
    }
}

impl Application {
    /// A token for one thing.
    ///
    /// # Errors
    /// Where none is given.
    pub async fn token(&self, scope: &str, now: Timestamp) -> Result<Grant, Error> {
        let authority = self.authority.trim_end_matches('/');
        let address = format!("{authority}/{}/oauth2/v2.0/token", escape::escape(&self.tenant));
        let signed;
        let (proof, secret) = match &self.proof {
            Proof::Secret(secret) => ("client_secret", secret),
            Proof::Assertion(assertion) => ("client_assertion", assertion),
            Proof::Certificate(certificate) => {
                let assertion = certificate.assertion(&self.client_id, &address, now);
                signed = assertion.ok_or_else(|| {
                    Error::Setup("the private key of the client certificate cannot sign".to_owned())
                })?;
                ("client_assertion", &signed)
            }
        };
        let mut fields = vec![
            ("client_id", self.client_id.clone()),
            (proof, field(secret)),
            ("grant_type", "client_credentials".to_owned()),
            ("scope", scope.to_owned()),
        ];
        if proof == "client_assertion" {
            let kind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
            fields.push(("client_assertion_type", kind.to_owned()));
        }
        let server = Server::new(&address, [secret]);
        server.token(form(self.client.post(&address), &fields), now).await
    }
}

/// Tokens for Blob Storage, which is what applications in Secrets are for.
impl CredentialSource for Application {
    fn grant(&self) -> BoxFuture<'_, Result<Grant, Error>> {
        Box::pin(self.token(STORAGE, Timestamp::now()))
    }
}

impl fmt::Debug for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Proof::Secret(_) => "Secret",
            Proof::Assertion(_) => "Assertion",
            Proof::Certificate(_) => "Certificate",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_certificate_is_refused_and_not_shown() {
        let half = SecretString::from("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\ngeheim");
        let error = Proof::certificate(&half, false).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("geheim"));
        assert_eq!(error, CertificateError::Unreadable);
    }

    #[test]
    fn encrypted_keys_are_told_from_broken_ones() {
        for mark in [
            "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----",
            "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END RSA PRIVATE KEY-----",
        ] {
            let error = Proof::certificate(&SecretString::from(mark), false).unwrap_err();
            assert_eq!(error, CertificateError::Encrypted);
        }
    }
}
