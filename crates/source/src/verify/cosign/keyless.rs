//! Signatures without a key: sigstore's authority vouches for who signed, its log for when.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::Digest;
use model::digest::Algorithm;
use model::regexp::Regexp;
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use sigstore_trust_root::{SigstoreInstance, TrustedRoot};
use sigstore_types::{Artifact, ArtifactDigest, Bundle, HashAlgorithm};
use sigstore_verify::{VerificationPolicy, Verifier};
use x509_cert::der::pem;

use super::find::{Found, find};
use super::legacy::Signature;
use super::{Error, no_match};
use crate::oci::{Client, Repository};

/// Who may sign: regular expressions that are looked for anywhere in the issuer and the subject of the certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Of the service that knew the signer, such as `^https://token.actions.githubusercontent.com$`.
    pub issuer: String,
    /// Of the signer, such as `^https://github.com/org/.*$`.
    pub subject: String,
}

/// Checks signatures against sigstore's public instance or another one. Nothing is asked of its servers: all that is needed
/// comes with the signature and the trusted root.
pub struct Keyless {
    verifier: Verifier,
    policy: VerificationPolicy,
    identities: Vec<(Regexp, Regexp)>,
}

impl Keyless {
    /// For the public instance, by the trusted root that is part of this program. One of the identities must match; without
    /// any, everyone may sign.
    ///
    /// # Errors
    /// Where an identity is no regular expression.
    pub fn public(identities: &[Identity]) -> Result<Self, Error> {
        let root = TrustedRoot::from_embedded(SigstoreInstance::PublicGood);
        Self::new(&root.map_err(unusable)?, identities)
    }

    /// For another instance, by its `trusted_root.json`.
    ///
    /// # Errors
    /// Where the root cannot be read, or an identity is no regular expression.
    pub fn with_root(json: &[u8], identities: &[Identity]) -> Result<Self, Error> {
        let text = std::str::from_utf8(json).map_err(unusable)?;
        Self::new(&TrustedRoot::from_json(text).map_err(unusable)?, identities)
    }

    pub(super) fn new(root: &TrustedRoot, identities: &[Identity]) -> Result<Self, Error> {
        let compile = |pattern: &str| {
            Regexp::new(pattern).map_err(|source| Error::Identity {
                pattern: pattern.to_owned(),
                source,
            })
        };
        let mut compiled = Vec::new();
        for identity in identities {
            compiled.push((compile(&identity.issuer)?, compile(&identity.subject)?));
        }
        let mut policy = VerificationPolicy::any_identity();
        if root.ctlogs.is_empty() {
            // An instance without a log of certificates cannot prove that they are logged.
            policy = policy.skip_sct();
        }
        Ok(Keyless {
            verifier: Verifier::new(root).map_err(unusable)?,
            policy,
            identities: compiled,
        })
    }

    /// Whether one of the identities signed an artifact.
    ///
    /// # Errors
    /// Where none of them did, or the signatures cannot be fetched.
    pub async fn verify(
        &self,
        client: &Client,
        repository: &Repository,
        digest: Digest,
    ) -> Result<(), Error> {
        let found = find(client, repository, digest).await?;
        let mut last = None;
        let mut refused = |checked: Result<(), String>| match checked {
            Ok(()) => false,
            Err(reason) => {
                last = Some(reason);
                true
            }
        };
        let all_refused = match &found {
            Found::Bundles { bundles, manifest } => bundles
                .iter()
                .all(|bundle| refused(self.check_bundle(bundle, manifest))),
            Found::Signatures(signatures) => signatures
                .iter()
                .all(|signature| refused(self.check_signature(signature, digest))),
        };
        if all_refused {
            return Err(no_match(repository, digest, &found, last));
        }
        Ok(())
    }

    /// Checks a bundle about something of this digest, wherever both come from.
    ///
    /// # Errors
    /// Says why the bundle is refused.
    pub fn verify_bundle(&self, bundle: &[u8], digest: Digest) -> Result<(), String> {
        let algorithm = match digest.algorithm() {
            Algorithm::Sha256 => HashAlgorithm::Sha2256,
            Algorithm::Sha384 => HashAlgorithm::Sha2384,
            Algorithm::Sha512 => HashAlgorithm::Sha2512,
            other => return Err(format!("bundles have no {} digests", other.name())),
        };
        let bytes = hex(&digest.hex()).ok_or("the digest is not hexadecimal")?;
        let digest = ArtifactDigest::new(algorithm, bytes).map_err(|error| error.to_string())?;
        let bundle: Bundle = serde_json::from_slice(bundle).map_err(|error| error.to_string())?;
        self.check(Artifact::from_digest(digest), &bundle)
    }

    fn check_bundle(&self, json: &[u8], manifest: &[u8]) -> Result<(), String> {
        let bundle: Bundle = serde_json::from_slice(json).map_err(|error| error.to_string())?;
        self.check(Artifact::from(manifest), &bundle)
    }

    fn check_signature(&self, signature: &Signature, digest: Digest) -> Result<(), String> {
        if !signature.is_about(digest) {
            return Err("the signature is about another artifact".to_owned());
        }
        let bundle = as_bundle(signature)?;
        self.check(Artifact::from(&signature.payload), &bundle)
    }

    fn check(&self, artifact: Artifact<'_>, bundle: &Bundle) -> Result<(), String> {
        let result = self.verifier.verify(artifact, bundle, &self.policy);
        let result = result.map_err(|error| error.to_string())?;
        let issuer = result.issuer().unwrap_or_default();
        let subject = result
            .identity()
            .map(|identity| identity.as_str())
            .unwrap_or_default();
        let matches =
            |(issuers, subjects): &(Regexp, Regexp)| issuers.is_match(issuer) && subjects.is_match(subject);
        if self.identities.is_empty() || self.identities.iter().any(matches) {
            return Ok(());
        }
        Err(format!(
            "the signer '{subject}' of '{issuer}' is none of the wanted identities"
        ))
    }
}

impl std::fmt::Debug for Keyless {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keyless")
            .field("identities", &self.identities)
            .finish_non_exhaustive()
    }
}

pub(super) fn unusable(error: impl ToString) -> Error {
    Error::TrustedRoot(error.to_string())
}

/// What the log said, as cosign 2 keeps it.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct LogEntry {
    signed_entry_timestamp: String,
    payload: LogPayload,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LogPayload {
    body: String,
    integrated_time: i64,
    log_index: i64,
    #[serde(rename = "logID")]
    log_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LogBody {
    api_version: String,
    kind: String,
}

/// A signature of cosign 2 in the form of cosign 3, so that one verifier checks both.
fn as_bundle(signature: &Signature) -> Result<Bundle, String> {
    let certificate = signature
        .certificate
        .as_deref()
        .ok_or("there is no certificate")?;
    let (_, certificate) =
        pem::decode_vec(certificate.trim().as_bytes()).map_err(|error| error.to_string())?;
    let entry = signature
        .log_entry
        .as_deref()
        .ok_or("there is no entry of the log")?;
    let entry: LogEntry = serde_json::from_str(entry).map_err(|error| error.to_string())?;
    let body = STANDARD
        .decode(&entry.payload.body)
        .map_err(|error| error.to_string())?;
    let body: LogBody = serde_json::from_slice(&body).map_err(|error| error.to_string())?;
    let log_id = hex(&entry.payload.log_id).ok_or("the log's name is not hexadecimal")?;
    let bundle = json!({
        "mediaType": "application/vnd.dev.sigstore.bundle+json;version=0.1",
        "verificationMaterial": {
            "x509CertificateChain": {"certificates": [{"rawBytes": STANDARD.encode(certificate)}]},
            "tlogEntries": [{
                "logIndex": entry.payload.log_index.to_string(),
                "logId": {"keyId": STANDARD.encode(log_id)},
                "kindVersion": {"kind": body.kind, "version": body.api_version},
                "integratedTime": entry.payload.integrated_time.to_string(),
                "inclusionPromise": {"signedEntryTimestamp": entry.signed_entry_timestamp},
                "canonicalizedBody": entry.payload.body,
            }],
        },
        "messageSignature": {
            "messageDigest": {
                "algorithm": "SHA2_256",
                "digest": STANDARD.encode(Sha256::digest(&signature.payload)),
            },
            "signature": STANDARD.encode(&signature.signature),
        },
    });
    serde_json::from_value(bundle).map_err(|error| error.to_string())
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .map(|digit| digit.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    Some(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}
