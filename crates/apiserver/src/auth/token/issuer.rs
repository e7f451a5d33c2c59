//! Signing tokens, and recognising one's own.

use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair, UnparsedPublicKey,
};
use base64::Engine as _;
use base64::alphabet::URL_SAFE;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD};
use model::{Str, Value, json, value};
use sha2::{Digest, Sha256};

use super::claims::Claims;
use super::validate::Rejected;

/// Like Go, reads texts whose last bits are cut off, so that such a token is a broken one and not something else.
const BASE64: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, NO_PAD.with_decode_allow_trailing_bits(true));

/// Signs tokens with a P-256 key.
#[derive(Debug)]
pub struct Issuer {
    name: Str,
    audiences: Vec<Str>,
    key: EcdsaKeyPair,
    key_id: String,
}

/// The key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// It is not a PKCS#8 document with a P-256 key.
    #[error("the signing key is no P-256 key in PKCS#8: {0}")]
    Rejected(String),
    /// The system gave no randomness.
    #[error("no randomness for a signing key")]
    NoRandomness,
}

impl Issuer {
    /// An issuer that signs with this key, which [`Issuer::new_key`] makes. `audiences` are those of the API itself;
    /// tokens are for them where a request names no others.
    ///
    /// # Errors
    /// The key is not one.
    pub fn new(name: &str, audiences: &[&str], key: &[u8]) -> Result<Self, KeyError> {
        let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, key)
            .map_err(|rejected| KeyError::Rejected(rejected.to_string()))?;
        let public: PublicKeyX509Der<'_> = key
            .public_key()
            .as_der()
            .map_err(|_| KeyError::Rejected("it has no public half".into()))?;
        let key_id = BASE64.encode(Sha256::digest(public.as_ref()));
        Ok(Issuer {
            name: Str::new(name),
            audiences: audiences.iter().map(Str::new).collect(),
            key,
            key_id,
        })
    }

    /// A new key, as a PKCS#8 document.
    ///
    /// # Errors
    /// The system gave no randomness.
    pub fn new_key() -> Result<Vec<u8>, KeyError> {
        let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
        Ok(document.map_err(|_| KeyError::NoRandomness)?.as_ref().to_vec())
    }

    /// The audiences of the API itself.
    pub fn audiences(&self) -> &[Str] {
        &self.audiences
    }

    /// A token with these claims.
    pub fn sign(&self, claims: &Claims) -> String {
        let header = format!(r#"{{"alg":"ES256","kid":"{}"}}"#, self.key_id);
        let payload = json::to_vec(&claims.to_value(&self.name));
        let mut token = format!("{}.{}", BASE64.encode(header), BASE64.encode(payload));
        let signature = self.key.sign(&SystemRandom::new(), token.as_bytes());
        let signature =
            signature.expect("signing fails only without randomness, and then no key could be made");
        token.push('.');
        token.push_str(&BASE64.encode(signature));
        token
    }

    /// The claims of a token that this issuer signed. `None` says that the text is no token of this issuer, so that it
    /// may be another kind of credential. Neither times nor objects are looked at.
    ///
    /// # Errors
    /// The token claims to be of this issuer, but is not.
    pub fn verify(&self, token: &str) -> Result<Option<Claims>, Rejected> {
        let Some(parts) = Parts::of(token) else {
            return Ok(None);
        };
        if parts.payload.str_at(&["iss"]) != self.name {
            return Ok(None);
        }
        let key_id = parts.header.str_at(&["kid"]);
        if !key_id.is_empty() && key_id != self.key_id {
            return Err(Rejected::UnknownKey);
        }
        let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, self.key.public_key().as_ref());
        let signed = parts.header.str_at(&["alg"]) == "ES256"
            && key.verify(parts.signed.as_bytes(), &parts.signature).is_ok();
        match signed {
            true => Claims::from_value(&parts.payload)
                .map(Some)
                .ok_or(Rejected::Signature),
            false => Err(Rejected::Signature),
        }
    }

    /// The public key, as `/openid/v1/jwks` shows it.
    pub fn key_set(&self) -> Value {
        // An uncompressed point: one byte that says so, then both coordinates.
        let point = self.key.public_key().as_ref();
        let (x, y) = point[1..].split_at((point.len() - 1) / 2);
        value!({ "keys": [{
            "use": "sig", "kty": "EC", "kid": (self.key_id.as_str()), "crv": "P-256", "alg": "ES256",
            "x": (BASE64.encode(x)), "y": (BASE64.encode(y)),
        }] })
    }

    /// What `/.well-known/openid-configuration` shows of a server at this address (`https://127.0.0.1:6443`).
    pub fn configuration(&self, address: &str) -> Value {
        value!({
            "issuer": (self.name.clone()),
            "jwks_uri": (format!("{address}/openid/v1/jwks")),
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["ES256"],
        })
    }
}

/// A token taken apart, nothing of it verified.
struct Parts<'a> {
    header: Value,
    payload: Value,
    signed: &'a str,
    signature: Vec<u8>,
}

impl<'a> Parts<'a> {
    fn of(token: &'a str) -> Option<Self> {
        let (signed, signature) = token.rsplit_once('.')?;
        let (header, payload) = signed.split_once('.')?;
        let object = |text: &str| json::parse(&BASE64.decode(text).ok()?).ok();
        Some(Parts {
            header: object(header)?,
            payload: object(payload)?,
            signed,
            signature: BASE64.decode(signature).ok()?,
        })
    }
}
