//! Signatures of cosign 2: a small JSON document that names the artifact, signed, with everything else in annotations.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::Digest;
use serde::Deserialize;

use crate::oci::Descriptor;
use crate::verify::PublicKey;

const MEDIA_TYPE: &str = "application/vnd.dev.cosign.simplesigning.v1+json";
const SIGNATURE: &str = "dev.cosignproject.cosign/signature";
const CERTIFICATE: &str = "dev.sigstore.cosign/certificate";
const BUNDLE: &str = "dev.sigstore.cosign/bundle";

/// One signature.
pub(super) struct Signature {
    pub(super) payload: Vec<u8>,
    pub(super) signature: Vec<u8>,
    /// The certificate of a keyless signature, as PEM.
    pub(super) certificate: Option<String>,
    /// What the transparency log said of a keyless signature, as JSON.
    pub(super) log_entry: Option<String>,
}

#[derive(Deserialize)]
struct Payload {
    critical: Critical,
}

#[derive(Deserialize)]
struct Critical {
    image: Image,
}

#[derive(Deserialize)]
struct Image {
    #[serde(rename = "docker-manifest-digest")]
    digest: String,
}

impl Signature {
    /// The signature that a layer of the signatures' manifest holds, still without its payload.
    pub(super) fn described(layer: &Descriptor) -> Option<Self> {
        if layer.media_type != MEDIA_TYPE {
            return None;
        }
        let annotation = |key: &str| {
            layer
                .annotations
                .get(key)
                .cloned()
                .filter(|text| !text.is_empty())
        };
        Some(Signature {
            payload: Vec::new(),
            signature: STANDARD.decode(annotation(SIGNATURE)?.trim()).ok()?,
            certificate: annotation(CERTIFICATE),
            log_entry: annotation(BUNDLE),
        })
    }

    pub(super) fn with_payload(self, payload: Vec<u8>) -> Self {
        Signature { payload, ..self }
    }

    /// Whether it is about the artifact.
    pub(super) fn is_about(&self, digest: Digest) -> bool {
        let payload: Result<Payload, _> = serde_json::from_slice(&self.payload);
        payload.is_ok_and(|payload| payload.critical.image.digest == digest.to_string())
    }

    /// Whether it is about the artifact and made with the key.
    pub(super) fn is_signed(&self, digest: Digest, key: &PublicKey) -> bool {
        key.verifies(&self.payload, &self.signature) && self.is_about(digest)
    }
}
