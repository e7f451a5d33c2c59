//! Signatures of requests (AWS Signature Version 4). Pure: the time is an argument.

use std::fmt::Write as _;

use aws_lc_rs::hmac;
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

use super::super::escape::query;

/// The digest of no body.
pub(super) const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

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

/// A request without a body, in the parts that are signed.
pub(super) struct Unsigned<'a> {
    pub(super) method: &'a str,
    pub(super) host: &'a str,
    /// The path, escaped.
    pub(super) path: &'a str,
    /// The query, not escaped.
    pub(super) query: &'a [(&'a str, String)],
}

/// The headers that make a request signed.
pub(super) fn headers(
    request: &Unsigned<'_>,
    key: &Key,
    region: &str,
    now: Timestamp,
) -> Vec<(&'static str, String)> {
    let time = now.strftime("%Y%m%dT%H%M%SZ").to_string();
    let date = &time[..8];
    let mut headers = vec![
        ("host", request.host.to_owned()),
        ("x-amz-content-sha256", EMPTY.to_owned()),
        ("x-amz-date", time.clone()),
    ];
    if let Some(session) = &key.session {
        headers.push(("x-amz-security-token", session.expose_secret().to_owned()));
    }
    let signed: Vec<&str> = headers.iter().map(|(name, _)| *name).collect();
    let signed = signed.join(";");
    let mut canonical = format!("{}\n{}\n{}\n", request.method, request.path, query(request.query));
    for (name, value) in &headers {
        let _ = writeln!(canonical, "{name}:{}", value.trim());
    }
    let _ = write!(canonical, "\n{signed}\n{EMPTY}");

    let scope = format!("{date}/{region}/s3/aws4_request");
    let text = format!(
        "AWS4-HMAC-SHA256\n{time}\n{scope}\n{}",
        hex(&Sha256::digest(canonical))
    );
    let secret = format!("AWS4{}", key.secret.expose_secret());
    let chain = [date, region, "s3", "aws4_request", &text];
    let signature = chain
        .iter()
        .fold(secret.into_bytes(), |key, part| mac(&key, part));
    let authorization = format!(
        "AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={signed}, Signature={}",
        key.id,
        hex(&signature)
    );
    // The host is sent by the client itself.
    headers.remove(0);
    headers.push(("authorization", authorization));
    headers
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
