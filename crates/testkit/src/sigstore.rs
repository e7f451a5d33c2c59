//! A sigstore in small: an authority that vouches for signers, and a log that remembers signatures. What it signs without keys
//! is stored in a registry as cosign stores it.
//!
//! ```
//! use testkit::oci::{Artifact, Server};
//! use testkit::sigstore::Instance;
//!
//! let (registry, sigstore) = (Server::start(), Instance::default());
//! let digest = registry.push("team/app", "latest", &Artifact::files(&[("a.yaml", "")]));
//! sigstore.push_signature(&registry, "team/app", &digest);
//! println!("trusted by whoever has {}", sigstore.trusted_root());
//! ```

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, CustomExtension, DnType, ExtendedKeyUsagePurpose,
    IsCa, KeyPair, KeyUsagePurpose, PublicKeyData as _, SanType, SigningKey as _,
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::oci::{Artifact, Server};

/// Who says who the signer is.
pub const ISSUER: &str = "https://login.example.com";
/// The signer.
pub const SUBJECT: &str = "https://example.com/org/repo/release.yaml";

const BUNDLE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";

/// An authority with its log.
pub struct Instance {
    authority: CertifiedIssuer<'static, KeyPair>,
    log: KeyPair,
}

struct Signed {
    certificate: String,
    certificate_der: Vec<u8>,
    signature: Vec<u8>,
}

impl Default for Instance {
    fn default() -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let authority = CertifiedIssuer::self_signed(params, fresh_key());
        Instance {
            authority: authority.expect("these parameters make a certificate"),
            log: fresh_key(),
        }
    }
}

impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instance").finish_non_exhaustive()
    }
}

impl Instance {
    fn log_id(&self) -> Vec<u8> {
        Sha256::digest(self.log.subject_public_key_info()).to_vec()
    }

    /// What to trust this instance by: the content of a `trusted_root.json`.
    pub fn trusted_root(&self) -> String {
        let since = json!({"start": "2020-01-01T00:00:00Z"});
        let root = json!({
            "mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
            "tlogs": [{
                "baseUrl": "https://log.example.com",
                "hashAlgorithm": "SHA2_256",
                "publicKey": {
                    "rawBytes": STANDARD.encode(self.log.subject_public_key_info()),
                    "keyDetails": "PKIX_ECDSA_P256_SHA_256",
                    "validFor": since,
                },
                "logId": {"keyId": STANDARD.encode(self.log_id())},
            }],
            "certificateAuthorities": [{
                "subject": {"organization": "example", "commonName": "authority"},
                "uri": "https://authority.example.com",
                "certChain": {"certificates": [{"rawBytes": STANDARD.encode(self.authority.der())}]},
                "validFor": since,
            }],
            "ctlogs": [],
            "timestampAuthorities": [],
        });
        root.to_string()
    }

    /// Signs with a fresh key that the authority vouches for.
    fn sign(&self, message: &[u8]) -> Signed {
        let key = fresh_key();
        let mut params = CertificateParams::default();
        let subject = SUBJECT.try_into().expect("the address is ASCII");
        params.subject_alt_names = vec![SanType::URI(subject)];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::CodeSigning];
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.use_authority_key_identifier_extension = true;
        let issuer =
            CustomExtension::from_oid_content(&[1, 3, 6, 1, 4, 1, 57264, 1, 1], ISSUER.as_bytes().to_vec());
        params.custom_extensions = vec![issuer];
        let certificate = params.signed_by(&key, &self.authority);
        let certificate = certificate.expect("the authority signs what it vouches for");
        Signed {
            certificate: certificate.pem(),
            certificate_der: certificate.der().to_vec(),
            signature: signature_of(&key, message),
        }
    }

    /// The log's promise to remember.
    fn promise(&self, body: &str, time: u64) -> (Value, String) {
        let payload = json!({
            "body": body,
            "integratedTime": time,
            "logIndex": 0,
            "logID": hex(&self.log_id()),
        });
        let timestamp = STANDARD.encode(signature_of(&self.log, payload.to_string().as_bytes()));
        (payload, timestamp)
    }

    /// Signs an artifact and stores the signature as cosign 2 does.
    pub fn push_signature(&self, registry: &Server, repository: &str, digest: &str) {
        let payload = format!("{{\"critical\":{{\"image\":{{\"docker-manifest-digest\":\"{digest}\"}}}}}}");
        let signed = self.sign(payload.as_bytes());
        let (entry, timestamp) = self.promise(&body(payload.as_bytes(), &signed), now());
        let bundle = json!({"SignedEntryTimestamp": timestamp, "Payload": entry});
        let signatures = Artifact::with_config("application/vnd.oci.image.config.v1+json", "{}")
            .layer("application/vnd.dev.cosign.simplesigning.v1+json", payload)
            .layer_annotation(
                "dev.cosignproject.cosign/signature",
                &STANDARD.encode(&signed.signature),
            )
            .layer_annotation("dev.sigstore.cosign/certificate", &signed.certificate)
            .layer_annotation("dev.sigstore.cosign/bundle", &bundle.to_string());
        let tag = format!("{}.sig", digest.replacen(':', "-", 1));
        registry.push(repository, &tag, &signatures);
    }

    /// Signs a manifest and stores the signature as cosign 3 does, with a proof that the log has it: the only entry of a log
    /// proves itself.
    pub fn attach_bundle(&self, registry: &Server, repository: &str, digest: &str, manifest: &[u8]) {
        let signed = self.sign(manifest);
        let body = body(manifest, &signed);
        let (_, timestamp) = self.promise(&body, now());
        let leaf = STANDARD.decode(&body).expect("it was encoded just now");
        let root = Sha256::digest([&[0], leaf.as_slice()].concat());
        let note = format!("log.example.com\n1\n{}\n", STANDARD.encode(root));
        let hint = &self.log_id()[..4];
        let line = STANDARD.encode([hint, &signature_of(&self.log, note.as_bytes())].concat());
        let bundle = json!({
            "mediaType": BUNDLE,
            "verificationMaterial": {
                "certificate": {"rawBytes": STANDARD.encode(&signed.certificate_der)},
                "tlogEntries": [{
                    "logIndex": "0",
                    "logId": {"keyId": STANDARD.encode(self.log_id())},
                    "kindVersion": {"kind": "hashedrekord", "version": "0.0.1"},
                    "integratedTime": now().to_string(),
                    "inclusionPromise": {"signedEntryTimestamp": timestamp},
                    "inclusionProof": {
                        "logIndex": "0",
                        "rootHash": STANDARD.encode(root),
                        "treeSize": "1",
                        "hashes": [],
                        "checkpoint": {"envelope": format!("{note}\n— log.example.com {line}\n")},
                    },
                    "canonicalizedBody": body,
                }],
            },
            "messageSignature": {
                "messageDigest": {"algorithm": "SHA2_256", "digest": STANDARD.encode(Sha256::digest(manifest))},
                "signature": STANDARD.encode(&signed.signature),
            },
        });
        let bundle = Artifact::empty(BUNDLE).layer(BUNDLE, bundle.to_string());
        registry.attach(repository, digest, &bundle);
    }
}

/// What the log remembers of a signature.
fn body(message: &[u8], signed: &Signed) -> String {
    let body = json!({
        "apiVersion": "0.0.1",
        "kind": "hashedrekord",
        "spec": {
            "data": {"hash": {"algorithm": "sha256", "value": hex(&Sha256::digest(message))}},
            "signature": {
                "content": STANDARD.encode(&signed.signature),
                "publicKey": {"content": STANDARD.encode(&signed.certificate)},
            },
        },
    });
    STANDARD.encode(body.to_string())
}

fn fresh_key() -> KeyPair {
    KeyPair::generate().expect("the system gives randomness")
}

fn signature_of(key: &KeyPair, message: &[u8]) -> Vec<u8> {
    key.sign(message).expect("a fresh key signs")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The log's clock: within the life of every certificate here.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.expect("it is later than 1970").as_secs()
}
