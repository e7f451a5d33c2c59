//! AWS Signature Version 4: what is signed, and how.

use hmac::{Hmac, KeyInit, Mac};
use http::HeaderMap;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use sha2::{Digest, Sha256};

use super::identity::Key;
use crate::digest::hex;
use crate::http::percent_decode;

/// The words after which a signature is named.
pub(super) const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// What a signature is bound to: a day, a region and a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Signer {
    /// The key.
    pub(super) key: Key,
    /// The time, such as `20130524T000000Z`.
    pub(super) time: String,
    /// The region, such as `us-east-1`.
    pub(super) region: String,
    /// The service: `s3`, or `sts`.
    pub(super) service: String,
}

/// A request as it is signed.
pub(super) struct Canonical<'a> {
    pub(super) method: &'a str,
    /// Percent-encoded, as it came.
    pub(super) path: &'a str,
    /// Percent-encoded, as it came.
    pub(super) query: &'a str,
    pub(super) headers: &'a HeaderMap,
    pub(super) host: &'a str,
    /// In lower case, in the order in which they are signed.
    pub(super) signed_headers: Vec<&'a str>,
    pub(super) payload_hash: &'a str,
}

impl Signer {
    /// The day and all else that the signing key is bound to.
    pub(super) fn scope(&self) -> String {
        format!("{}/{}/{}/aws4_request", self.day(), self.region, self.service)
    }

    fn day(&self) -> &str {
        self.time.get(..8).unwrap_or(&self.time)
    }

    /// The signature of a request.
    pub(super) fn sign(&self, canonical: &Canonical<'_>) -> String {
        let hash = hex(&Sha256::digest(canonical.text()));
        self.sign_text(&format!("{ALGORITHM}\n{}\n{}\n{hash}", self.time, self.scope()))
    }

    /// The signature of one piece of a body, which is bound to the signature before it.
    pub(super) fn sign_chunk(&self, previous: &str, data: &[u8]) -> String {
        let (nothing, data) = (hex(&Sha256::digest(b"")), hex(&Sha256::digest(data)));
        let scope = self.scope();
        self.sign_text(&format!(
            "{ALGORITHM}-PAYLOAD\n{}\n{scope}\n{previous}\n{nothing}\n{data}",
            self.time
        ))
    }

    fn sign_text(&self, text: &str) -> String {
        let secret = format!("AWS4{}", self.key.secret);
        let parts = [self.day(), &self.region, &self.service, "aws4_request"];
        let key = parts
            .iter()
            .fold(secret.into_bytes(), |key, part| mac(&key, part));
        hex(&mac(&key, text))
    }
}

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key may have any length");
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

impl Canonical<'_> {
    fn text(&self) -> String {
        let mut headers = String::new();
        for name in &self.signed_headers {
            headers.push_str(&format!("{name}:{}\n", self.header(name)));
        }
        format!(
            "{}\n{}\n{}\n{headers}\n{}\n{}",
            self.method,
            encode_path(&percent_decode(self.path)),
            canonical_query(self.query),
            self.signed_headers.join(";"),
            self.payload_hash
        )
    }

    /// All values of a header, trimmed, with single spaces.
    fn header(&self, name: &str) -> String {
        if name == "host" {
            return self.host.to_string();
        }
        let values = self.headers.get_all(name).iter();
        let values = values.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        let trimmed = values.map(|value| value.split_whitespace().collect::<Vec<_>>().join(" "));
        trimmed.collect::<Vec<_>>().join(",")
    }
}

/// The names and values, encoded in the one way that counts, sorted, without the signature itself.
fn canonical_query(query: &str) -> String {
    let mut pairs: Vec<(String, String)> = pairs(query)
        .filter(|(name, _)| name != "X-Amz-Signature")
        .map(|(name, value)| (encode(&name), encode(&value)))
        .collect();
    pairs.sort();
    pairs
        .into_iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect::<Vec<_>>()
        .join("&")
}

/// The names and values of a query. Unlike in forms a plus is a plus.
pub(super) fn pairs(query: &str) -> impl Iterator<Item = (String, String)> {
    query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (percent_decode(name), percent_decode(value))
    })
}

/// What is encoded: all but letters, digits and these four.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The same for a path, whose slashes stay.
const ENCODED_IN_PATH: &AsciiSet = &ENCODED.remove(b'/');

/// Percent-encodes a text as signatures want it.
pub(super) fn encode(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

/// Percent-encodes a path, whose slashes stay.
pub(super) fn encode_path(text: &str) -> String {
    utf8_percent_encode(text, ENCODED_IN_PATH).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The key and day of the examples in the S3 documentation ("Signature Calculations for the Authorization Header").
    fn signer() -> Signer {
        Signer {
            key: Key::new("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
            time: "20130524T000000Z".to_string(),
            region: "us-east-1".to_string(),
            service: "s3".to_string(),
        }
    }

    const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    fn sign(
        method: &str,
        path: &str,
        query: &str,
        headers: &[(&'static str, &str)],
        payload_hash: &str,
    ) -> String {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        let mut signed_headers: Vec<_> = headers.iter().map(|(name, _)| *name).chain(["host"]).collect();
        signed_headers.sort_unstable();
        let host = "examplebucket.s3.amazonaws.com";
        signer().sign(&Canonical {
            method,
            path,
            query,
            headers: &map,
            host,
            signed_headers,
            payload_hash,
        })
    }

    #[test]
    fn the_examples_of_the_documentation_come_out() {
        let date = ("x-amz-date", "20130524T000000Z");
        let hash = ("x-amz-content-sha256", EMPTY);
        assert_eq!(
            sign(
                "GET",
                "/test.txt",
                "",
                &[("range", "bytes=0-9"), hash, date],
                EMPTY
            ),
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        );
        let content = "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072";
        let put = [
            ("date", "Fri, 24 May 2013 00:00:00 GMT"),
            ("x-amz-content-sha256", content),
            date,
            ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
        ];
        assert_eq!(
            sign("PUT", "/test%24file.text", "", &put, content),
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
        );
        assert_eq!(
            sign("GET", "/", "lifecycle", &[hash, date], EMPTY),
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
        );
        assert_eq!(
            sign("GET", "/", "max-keys=2&prefix=J", &[hash, date], EMPTY),
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
        );
    }

    #[test]
    fn the_example_of_a_signed_address_comes_out() {
        let query = "X-Amz-Algorithm=AWS4-HMAC-SHA256\
            &X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request\
            &X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host";
        assert_eq!(
            sign("GET", "/test.txt", query, &[], "UNSIGNED-PAYLOAD"),
            "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"
        );
    }

    #[test]
    fn the_example_of_a_body_in_signed_pieces_comes_out() {
        let seed = "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9";
        let first = signer().sign_chunk(seed, &[b'a'; 65536]);
        assert_eq!(
            first,
            "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648"
        );
        let second = signer().sign_chunk(&first, &[b'a'; 1024]);
        assert_eq!(
            second,
            "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497"
        );
        assert_eq!(
            signer().sign_chunk(&second, b""),
            "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9"
        );
    }
}
