//! Bundles of cosign 3, checked with a key.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::Digest;
use serde::Deserialize;

use crate::verify::PublicKey;

const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";
const STATEMENT: &str = "https://in-toto.io/Statement/";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Bundle {
    dsse_envelope: Option<Envelope>,
    message_signature: Option<MessageSignature>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope {
    payload: String,
    payload_type: String,
    signatures: Vec<Signed>,
}

#[derive(Deserialize)]
struct Signed {
    sig: String,
}

#[derive(Deserialize)]
struct MessageSignature {
    signature: String,
}

#[derive(Deserialize)]
struct Statement {
    #[serde(rename = "_type")]
    kind: String,
    subject: Vec<Subject>,
}

#[derive(Deserialize)]
struct Subject {
    digest: std::collections::BTreeMap<String, String>,
}

/// Whether a bundle is about an artifact and signed with a key. What cannot be read is not.
pub(super) fn is_signed(json: &[u8], digest: Digest, manifest: &[u8], key: &PublicKey) -> bool {
    let Ok(bundle) = serde_json::from_slice::<Bundle>(json) else {
        return false;
    };
    match (bundle.dsse_envelope, bundle.message_signature) {
        (Some(envelope), None) => envelope.is_signed(digest, key),
        (None, Some(message)) => {
            let signature = STANDARD.decode(message.signature);
            signature.is_ok_and(|signature| key.verifies(manifest, &signature))
        }
        _ => false,
    }
}

impl Envelope {
    fn is_signed(&self, digest: Digest, key: &PublicKey) -> bool {
        let Ok(payload) = STANDARD.decode(&self.payload) else {
            return false;
        };
        let message = encoded(&self.payload_type, &payload);
        let signed = self.signatures.iter().any(|signed| {
            let signature = STANDARD.decode(&signed.sig);
            signature.is_ok_and(|signature| key.verifies(&message, &signature))
        });
        signed && self.payload_type == PAYLOAD_TYPE && is_about(&payload, digest)
    }
}

/// What is signed of an envelope: its type and payload, each with its length.
fn encoded(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let mut text = format!("DSSEv1 {} {payload_type} {} ", payload_type.len(), payload.len()).into_bytes();
    text.extend_from_slice(payload);
    text
}

fn is_about(statement: &[u8], digest: Digest) -> bool {
    let Ok(statement) = serde_json::from_slice::<Statement>(statement) else {
        return false;
    };
    let (algorithm, hex) = (digest.algorithm().name(), digest.hex());
    let is_subject = |subject: &Subject| subject.digest.get(algorithm) == Some(&hex);
    statement.kind.starts_with(STATEMENT) && statement.subject.iter().any(is_subject)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_and_payload_are_signed_with_their_lengths() {
        assert_eq!(
            encoded("http://example.com/HelloWorld", b"hello world"),
            b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
        );
    }
}
