//! Envelopes: what is signed, when, and by which certificates. In JSON (JWS) here, in CBOR in `cose`.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use jiff::Timestamp;
use serde::Deserialize;

use super::chain::Certificate;
use crate::oci;

pub(super) const PAYLOAD_TYPE: &str = "application/vnd.cncf.notary.payload.v1+json";
pub(super) const SCHEME: &str = "io.cncf.notary.signingScheme";
const SIGNING_TIME: &str = "io.cncf.notary.signingTime";
pub(super) const AUTHENTIC_TIME: &str = "io.cncf.notary.authenticSigningTime";
pub(super) const EXPIRY: &str = "io.cncf.notary.expiry";
/// The attributes that we understand. Whoever signs can mark others as ones that must be.
const UNDERSTOOD: [&str; 4] = [SCHEME, SIGNING_TIME, AUTHENTIC_TIME, EXPIRY];

#[derive(Deserialize)]
struct Jws {
    payload: String,
    protected: String,
    header: Header,
    signature: String,
}

#[derive(Deserialize)]
struct Header {
    x5c: Vec<String>,
}

#[derive(Deserialize)]
struct Protected {
    alg: String,
    #[serde(default)]
    crit: Vec<String>,
    cty: String,
    #[serde(rename = "io.cncf.notary.signingScheme")]
    scheme: String,
    #[serde(rename = "io.cncf.notary.authenticSigningTime")]
    authentic_time: Option<Timestamp>,
    #[serde(rename = "io.cncf.notary.expiry")]
    expiry: Option<Timestamp>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Payload {
    target_artifact: oci::Descriptor,
}

/// A signature with its certificates, the signer's first.
pub(super) struct Envelope {
    pub(super) certificates: Vec<Certificate>,
    /// As JWS names it.
    pub(super) algorithm: String,
    pub(super) scheme: String,
    pub(super) authentic_time: Option<Timestamp>,
    pub(super) expiry: Option<Timestamp>,
    /// What was signed.
    pub(super) message: Vec<u8>,
    pub(super) signature: Vec<u8>,
    pub(super) target: oci::Descriptor,
}

/// What a payload says is signed.
pub(super) fn target_of(payload: &[u8]) -> Result<oci::Descriptor, String> {
    let payload: Payload =
        serde_json::from_slice(payload).map_err(|error| format!("the envelope cannot be read: {error}"))?;
    Ok(payload.target_artifact)
}

/// Refuses an attribute that must be understood and is not.
pub(super) fn understood(name: &str) -> Result<(), String> {
    if UNDERSTOOD.contains(&name) {
        return Ok(());
    }
    Err(format!("the signature needs '{name}', which is not supported"))
}

impl Envelope {
    /// Reads an envelope in JSON.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let wrong = |what: &str| format!("the envelope cannot be read: {what}");
        let jws: Jws = serde_json::from_slice(bytes).map_err(|error| wrong(&error.to_string()))?;
        let decode = |text: &str| {
            URL_SAFE_NO_PAD
                .decode(text)
                .map_err(|_| wrong("it is not base64url"))
        };
        let protected: Protected =
            serde_json::from_slice(&decode(&jws.protected)?).map_err(|error| wrong(&error.to_string()))?;
        if protected.cty != PAYLOAD_TYPE {
            return Err(wrong("its payload is of another type"));
        }
        for name in &protected.crit {
            understood(name)?;
        }
        let certificate = |text: &String| {
            STANDARD
                .decode(text)
                .ok()
                .and_then(|der| Certificate::parse(&der))
        };
        let certificates: Option<Vec<_>> = jws.header.x5c.iter().map(certificate).collect();
        Ok(Envelope {
            certificates: certificates.ok_or_else(|| wrong("one of its certificates is none"))?,
            algorithm: protected.alg,
            scheme: protected.scheme,
            authentic_time: protected.authentic_time,
            expiry: protected.expiry,
            message: format!("{}.{}", jws.protected, jws.payload).into_bytes(),
            signature: decode(&jws.signature)?,
            target: target_of(&decode(&jws.payload)?)?,
        })
    }

    pub(super) fn check_signature(&self, signer: &Certificate) -> Result<(), String> {
        let good = signer
            .key()
            .is_some_and(|key| key.verifies_jws(&self.algorithm, &self.message, &self.signature));
        if good {
            Ok(())
        } else {
            Err("the signature is not that of its certificate".to_owned())
        }
    }

    /// Whether the signature is about the artifact.
    pub(super) fn check_target(&self, found: &oci::Content) -> Result<(), String> {
        let target = &self.target;
        let same = target.digest == found.digest
            && target.size == found.bytes.len() as u64
            && target.media_type == found.media_type;
        if same {
            Ok(())
        } else {
            Err("the signature is about another artifact".to_owned())
        }
    }

    pub(super) fn store_type(&self) -> &'static str {
        if self.scheme == "notary.x509.signingAuthority" {
            "signingAuthority"
        } else {
            "ca"
        }
    }

    pub(super) fn check_expiry(&self, now: Timestamp) -> Result<(), String> {
        match self.expiry {
            Some(expiry) if expiry < now => Err(format!("the signature expired at {expiry}")),
            _ => Ok(()),
        }
    }

    /// Whether the certificates were good when it was signed: at the time that a signing authority vouches for, else now, for
    /// nobody vouches for the time that a signer claims.
    pub(super) fn check_time(&self, now: Timestamp) -> Result<(), String> {
        let time = match (self.store_type(), self.authentic_time) {
            ("signingAuthority", Some(time)) => time,
            ("signingAuthority", None) => return Err("the signature has no authentic time".to_owned()),
            _ => now,
        };
        if self
            .certificates
            .iter()
            .all(|certificate| certificate.is_good_at(time))
        {
            Ok(())
        } else {
            Err(format!("a certificate of the signature is not good at {time}"))
        }
    }
}
