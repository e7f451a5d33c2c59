//! Signatures of requests (AWS Signature Version 4). Pure: the time is an argument.

use std::fmt::Write as _;

use aws_lc_rs::hmac;
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

use crate::http::escape::query;

/// The digest of no body.
pub(crate) const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// A key to sign with.
#[derive(Clone, Debug)]
pub struct Key {
    /// Its public part.
    pub id: String,
    /// Its secret part.
    pub secret: SecretString,
    /// The session it belongs to, where it is temporary.
    pub session: Option<SecretString>,
}

impl Key {
    /// What must not be shown.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &SecretString> {
        [Some(&self.secret), self.session.as_ref()].into_iter().flatten()
    }
}

/// A request in the parts that are signed.
pub(crate) struct Unsigned<'a> {
    pub(crate) method: &'a str,
    pub(crate) host: &'a str,
    /// The path, escaped.
    pub(crate) path: &'a str,
    /// The query, not escaped.
    pub(crate) query: &'a [(&'a str, String)],
    /// What else is said, with names in small letters.
    pub(crate) headers: &'a [(&'static str, String)],
    pub(crate) body: &'a [u8],
    /// Which service it is for.
    pub(crate) service: &'a str,
}

/// The headers that make a request signed, with those that were signed.
pub(crate) fn headers(
    request: &Unsigned<'_>,
    key: &Key,
    region: &str,
    now: Timestamp,
) -> Vec<(&'static str, String)> {
    let time = now.strftime("%Y%m%dT%H%M%SZ").to_string();
    let scope = Scope {
        time: &time,
        region,
        service: request.service,
    };
    let mut headers = request.headers.to_vec();
    headers.push(("host", request.host.to_owned()));
    headers.push(("x-amz-date", time.clone()));
    if let Some(session) = &key.session {
        headers.push(("x-amz-security-token", session.expose_secret().to_owned()));
    }
    headers.sort();
    let signed: Vec<&str> = headers.iter().map(|(name, _)| *name).collect();
    let signed = signed.join(";");
    let mut canonical = format!("{}\n{}\n{}\n", request.method, request.path, query(request.query));
    for (name, value) in &headers {
        let _ = writeln!(canonical, "{name}:{}", value.trim());
    }
    let _ = write!(canonical, "\n{signed}\n{}", hex(&Sha256::digest(request.body)));
    let authorization = format!(
        "AWS4-HMAC-SHA256 Credential={}/{}, SignedHeaders={signed}, Signature={}",
        key.id,
        scope.text(),
        scope.signature(&canonical, &key.secret)
    );
    // The host is sent by the client itself.
    headers.retain(|(name, _)| *name != "host");
    headers.push(("authorization", authorization));
    headers
}

/// What a signature is bound to.
pub(super) struct Scope<'a> {
    /// Such as `20130524T000000Z`.
    pub(super) time: &'a str,
    pub(super) region: &'a str,
    pub(super) service: &'a str,
}

impl Scope<'_> {
    fn date(&self) -> &str {
        self.time.get(..8).unwrap_or_default()
    }

    fn text(&self) -> String {
        format!("{}/{}/{}/aws4_request", self.date(), self.region, self.service)
    }

    /// The signature of a request in its canonical form.
    pub(super) fn signature(&self, canonical: &str, secret: &SecretString) -> String {
        let digest = hex(&Sha256::digest(canonical));
        let text = format!("AWS4-HMAC-SHA256\n{}\n{}\n{digest}", self.time, self.text());
        let secret = format!("AWS4{}", secret.expose_secret());
        let chain = [self.date(), self.region, self.service, "aws4_request", &text];
        let signature = chain
            .iter()
            .fold(secret.into_bytes(), |key, part| mac(&key, part));
        hex(&signature)
    }
}

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    hmac::sign(&key, text.as_bytes()).as_ref().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signature_is_that_of_the_documentation() {
        // "GET Bucket (List Objects)" of the S3 documentation of Signature Version 4.
        let key = Key {
            id: "AKIAIOSFODNN7EXAMPLE".into(),
            secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".into(),
            session: None,
        };
        let query = [("max-keys", "2".to_owned()), ("prefix", "J".to_owned())];
        let request = Unsigned {
            method: "GET",
            host: "examplebucket.s3.amazonaws.com",
            path: "/",
            query: &query,
            headers: &[("x-amz-content-sha256", EMPTY.to_owned())],
            body: b"",
            service: "s3",
        };
        let now: Timestamp = "2013-05-24T00:00:00Z".parse().unwrap();
        let headers = headers(&request, &key, "us-east-1", now);
        let authorization = &headers.last().unwrap().1;
        assert!(
            authorization
                .ends_with("Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
            "{authorization}"
        );
        assert!(!format!("{key:?}").contains("wJalr"));
    }
}
