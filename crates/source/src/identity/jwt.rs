//! Statements that are signed with an RSA key (RFC 7519, RS256).

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

/// A signed statement. Nothing where the key cannot sign.
pub(crate) fn sign(key: &RsaKeyPair, header: &Value, claims: &Value) -> Option<SecretString> {
    let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let text = format!("{}.{}", encode(header), encode(claims));
    let mut signature = vec![0; key.public_modulus_len()];
    let random = SystemRandom::new();
    key.sign(&RSA_PKCS1_SHA256, &random, text.as_bytes(), &mut signature)
        .ok()?;
    let signature = URL_SAFE_NO_PAD.encode(signature);
    Some(format!("{text}.{signature}").into())
}

/// A private key in one of its two PEM forms, PKCS #1 and PKCS #8.
pub(crate) fn key(text: &str) -> Option<RsaKeyPair> {
    let first = pem(text, "RSA PRIVATE KEY").and_then(|der| RsaKeyPair::from_der(&der).ok());
    first.or_else(|| RsaKeyPair::from_pkcs8(&pem(text, "PRIVATE KEY")?).ok())
}

/// The bytes of the first PEM block of a kind.
pub(crate) fn pem(text: &str, kind: &str) -> Option<Vec<u8>> {
    let (_, rest) = text.split_once(&format!("-----BEGIN {kind}-----"))?;
    let (body, _) = rest.split_once(&format!("-----END {kind}-----"))?;
    let plain: String = body.split_whitespace().collect();
    STANDARD.decode(plain).ok()
}

/// When a token says that it ends. It is not verified: who gave it to us is trusted.
pub(super) fn expiry(token: &SecretString) -> Option<Timestamp> {
    let claims = token.expose_secret().split('.').nth(1)?;
    let claims = URL_SAFE_NO_PAD.decode(claims.trim_end_matches('=')).ok()?;
    let claims: Value = serde_json::from_slice(&claims).ok()?;
    let end = claims.get("exp")?;
    #[allow(clippy::cast_possible_truncation, reason = "fractions of seconds are dropped")]
    let end = end.as_i64().or_else(|| end.as_f64().map(|end| end as i64))?;
    Timestamp::from_second(end).ok()
}
