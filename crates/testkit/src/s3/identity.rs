//! Who signed a request.

use http::header;
use jiff::Timestamp;

use super::failure::Failure;
use super::signature::{ALGORITHM, Canonical, Signer, pairs};
use crate::digest::sha256;
use crate::http::Request;

/// An access key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its name.
    pub id: String,
    /// Its secret.
    pub secret: String,
    /// What must be shown with it, if it is a temporary one.
    pub session: Option<String>,
}

impl Key {
    /// A key that lasts.
    pub fn new(id: &str, secret: &str) -> Self {
        Self {
            id: id.to_string(),
            secret: secret.to_string(),
            session: None,
        }
    }
}

/// How far a client's clock may be off, in seconds.
const SKEW: i64 = 15 * 60;

/// The signature that a request shows, in a header or in its address.
struct Shown {
    credential: String,
    signed_headers: Vec<String>,
    signature: String,
    time: String,
    /// For how many seconds a signed address is good.
    expires: Option<i64>,
    payload_hash: String,
}

/// What a good signature proves: the signer, and the signature that the pieces of the body continue.
#[derive(Debug)]
pub(super) struct Proof {
    pub(super) signer: Signer,
    pub(super) signature: String,
    pub(super) payload_hash: String,
}

/// Checks a request's signature against the keys that there are.
pub(super) fn check(request: &Request, keys: &[Key], region: &str, now: Timestamp) -> Result<Proof, Failure> {
    let shown = Shown::of(request)?.ok_or(Failure::AccessDenied)?;
    let malformed = |why: &str| Failure::AuthorizationHeaderMalformed(why.to_string());
    let mut scope = shown.credential.rsplitn(5, '/');
    let mut part = || {
        scope
            .next()
            .ok_or_else(|| malformed("the credential has too few parts"))
    };
    let (end, service, signed_region, day, id) = (part()?, part()?, part()?, part()?, part()?);
    let key = keys
        .iter()
        .find(|key| key.id == id)
        .ok_or(Failure::InvalidAccessKeyId)?;
    let session = request.header("x-amz-security-token").map(str::to_string);
    if session.or_else(|| request.query("X-Amz-Security-Token")) != key.session {
        return Err(Failure::InvalidToken);
    }
    if end != "aws4_request" || service != "s3" || !shown.time.starts_with(day) {
        return Err(malformed("the credential is for another day or service"));
    }
    if signed_region != region {
        return Err(malformed(&format!(
            "the region '{signed_region}' is wrong; expecting '{region}'"
        )));
    }
    if !shown.signed_headers.iter().any(|name| name == "host") {
        return Err(malformed("the host must be signed"));
    }
    check_time(&shown, now)?;
    let signer = Signer {
        key: key.clone(),
        time: shown.time.clone(),
        region: region.to_string(),
        service: service.to_string(),
    };
    let canonical = Canonical {
        method: request.method.as_str(),
        path: request.path(),
        query: request.uri.query().unwrap_or_default(),
        headers: &request.headers,
        host: request.host(),
        signed_headers: shown.signed_headers.iter().map(String::as_str).collect(),
        payload_hash: &shown.payload_hash,
    };
    if signer.sign(&canonical) != shown.signature {
        return Err(Failure::SignatureDoesNotMatch);
    }
    check_payload(&shown.payload_hash, request)?;
    Ok(Proof {
        signer,
        signature: shown.signature,
        payload_hash: shown.payload_hash,
    })
}

impl Shown {
    fn of(request: &Request) -> Result<Option<Self>, Failure> {
        if let Some(header) = request.header(header::AUTHORIZATION) {
            return Self::of_header(header, request).map(Some);
        }
        let query = request.uri.query().unwrap_or_default();
        let value = |name: &str| pairs(query).find(|(key, _)| key == name).map(|(_, value)| value);
        if value("X-Amz-Algorithm").as_deref() != Some(ALGORITHM) {
            return Ok(None);
        }
        let needed = |name: &str| {
            value(name).ok_or(Failure::InvalidArgument(
                "a parameter of the signature is missing",
            ))
        };
        Ok(Some(Self {
            credential: needed("X-Amz-Credential")?,
            signed_headers: needed("X-Amz-SignedHeaders")?
                .split(';')
                .map(str::to_string)
                .collect(),
            signature: needed("X-Amz-Signature")?,
            time: needed("X-Amz-Date")?,
            expires: Some(
                needed("X-Amz-Expires")?
                    .parse()
                    .map_err(|_| Failure::InvalidArgument("X-Amz-Expires"))?,
            ),
            payload_hash: "UNSIGNED-PAYLOAD".to_string(),
        }))
    }

    fn of_header(header: &str, request: &Request) -> Result<Self, Failure> {
        let malformed = |why: &str| Failure::AuthorizationHeaderMalformed(why.to_string());
        let fields = header
            .strip_prefix(ALGORITHM)
            .ok_or_else(|| malformed("the algorithm is not AWS4-HMAC-SHA256"))?;
        let field = |name: &str| {
            let value = fields
                .split(',')
                .find_map(|field| field.trim().strip_prefix(name)?.strip_prefix('='));
            value.ok_or_else(|| malformed(&format!("{name} is missing")))
        };
        Ok(Self {
            credential: field("Credential")?.to_string(),
            signed_headers: field("SignedHeaders")?.split(';').map(str::to_string).collect(),
            signature: field("Signature")?.to_string(),
            time: request
                .header("x-amz-date")
                .ok_or_else(|| malformed("x-amz-date is missing"))?
                .to_string(),
            expires: None,
            payload_hash: request
                .header("x-amz-content-sha256")
                .ok_or(Failure::InvalidArgument("x-amz-content-sha256 is missing"))?
                .to_string(),
        })
    }
}

fn check_time(shown: &Shown, now: Timestamp) -> Result<(), Failure> {
    let signed =
        parse_time(&shown.time).ok_or(Failure::InvalidArgument("the time is not like 20130524T000000Z"))?;
    let age = now.as_second() - signed.as_second();
    match shown.expires {
        Some(expires) if age > expires => Err(Failure::Expired),
        Some(_) if age < -SKEW => Err(Failure::TimeTooSkewed),
        None if age.abs() > SKEW => Err(Failure::TimeTooSkewed),
        _ => Ok(()),
    }
}

/// A time such as `20130524T000000Z`.
fn parse_time(text: &str) -> Option<Timestamp> {
    if text.len() != 16 || !text.is_ascii() {
        return None;
    }
    let part = |range: std::ops::Range<usize>| &text[range];
    let (date, time) = (
        (part(0..4), part(4..6), part(6..8)),
        (part(9..11), part(11..13), part(13..15)),
    );
    let text = format!(
        "{}-{}-{}T{}:{}:{}Z",
        date.0, date.1, date.2, time.0, time.1, time.2
    );
    text.parse().ok()
}

/// Whether the body is the one that was signed. Bodies in pieces are checked where they are put together.
fn check_payload(hash: &str, request: &Request) -> Result<(), Failure> {
    let is_open = hash == "UNSIGNED-PAYLOAD" || hash.starts_with("STREAMING-");
    match is_open || sha256(&request.body) == format!("sha256:{hash}") {
        true => Ok(()),
        false => Err(Failure::ContentMismatch),
    }
}
