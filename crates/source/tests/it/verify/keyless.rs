//! Keyless signatures, with an authority and a log of our own in the place of sigstore's.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, CustomExtension, DnType, ExtendedKeyUsagePurpose,
    IsCa, KeyPair, KeyUsagePurpose, PublicKeyData as _, SanType,
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use source::verify::cosign::{Error, Identity, Keyless};
use testkit::oci::{Artifact, Server};

use super::cosign::artifact;
use crate::oci::{anonymous, repository};

const ISSUER: &str = "https://login.example.com";
const SUBJECT: &str = "https://example.com/org/repo/release.yaml";
const BUNDLE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";

/// A sigstore in small: an authority that vouches for signers and a log that remembers signatures.
struct Instance {
    authority: CertifiedIssuer<'static, KeyPair>,
    log: KeyPair,
}

struct Signed {
    certificate: String,
    certificate_der: Vec<u8>,
    signature: Vec<u8>,
}

fn ecdsa_sign(key: &KeyPair, message: &[u8]) -> Vec<u8> {
    let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &key.serialize_der()).unwrap();
    pair.sign(&SystemRandom::new(), message)
        .unwrap()
        .as_ref()
        .to_vec()
}

impl Instance {
    fn new() -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        Instance {
            authority: CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap(),
            log: KeyPair::generate().unwrap(),
        }
    }

    fn log_id(&self) -> Vec<u8> {
        Sha256::digest(self.log.subject_public_key_info()).to_vec()
    }

    fn trusted_root(&self) -> Vec<u8> {
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
        root.to_string().into_bytes()
    }

    /// Signs with a fresh key that the authority vouches for.
    fn sign(&self, message: &[u8]) -> Signed {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.subject_alt_names = vec![SanType::URI(SUBJECT.try_into().unwrap())];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::CodeSigning];
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.use_authority_key_identifier_extension = true;
        let issuer =
            CustomExtension::from_oid_content(&[1, 3, 6, 1, 4, 1, 57264, 1, 1], ISSUER.as_bytes().to_vec());
        params.custom_extensions = vec![issuer];
        let certificate = params.signed_by(&key, &self.authority).unwrap();
        Signed {
            certificate: certificate.pem(),
            certificate_der: certificate.der().to_vec(),
            signature: ecdsa_sign(&key, message),
        }
    }

    /// What the log remembers of a signature.
    fn body(&self, message: &[u8], signed: &Signed) -> String {
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

    /// The log's promise to remember.
    fn promise(&self, body: &str, time: i64) -> (Value, String) {
        let payload = json!({
            "body": body,
            "integratedTime": time,
            "logIndex": 0,
            "logID": hex(&self.log_id()),
        });
        let timestamp = STANDARD.encode(ecdsa_sign(&self.log, payload.to_string().as_bytes()));
        (payload, timestamp)
    }

    /// The signature as cosign 2 stores it.
    fn push_signature(&self, registry: &Server, digest: &str) {
        let payload = format!("{{\"critical\":{{\"image\":{{\"docker-manifest-digest\":\"{digest}\"}}}}}}");
        let signed = self.sign(payload.as_bytes());
        let (entry, timestamp) = self.promise(&self.body(payload.as_bytes(), &signed), now());
        let bundle = json!({"SignedEntryTimestamp": timestamp, "Payload": entry});
        let signatures = Artifact::with_config("application/vnd.oci.image.config.v1+json", "{}")
            .layer("application/vnd.dev.cosign.simplesigning.v1+json", payload)
            .layer_annotation(
                "dev.cosignproject.cosign/signature",
                &STANDARD.encode(&signed.signature),
            )
            .layer_annotation("dev.sigstore.cosign/certificate", &signed.certificate)
            .layer_annotation("dev.sigstore.cosign/bundle", &bundle.to_string());
        registry.push(
            "team/app",
            &format!("{}.sig", digest.replacen(':', "-", 1)),
            &signatures,
        );
    }

    /// The signature as cosign 3 stores it, with a proof that the log has it: the only entry of a log proves itself.
    fn attach_bundle(&self, registry: &Server, digest: &str, message: &[u8]) {
        let signed = self.sign(message);
        let body = self.body(message, &signed);
        let (_, timestamp) = self.promise(&body, now());
        let leaf = STANDARD.decode(&body).unwrap();
        let root = Sha256::digest([&[0], leaf.as_slice()].concat());
        let note = format!("log.example.com\n1\n{}\n", STANDARD.encode(root));
        let hint = &self.log_id()[..4];
        let line = STANDARD.encode([hint, &ecdsa_sign(&self.log, note.as_bytes())].concat());
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
                "messageDigest": {"algorithm": "SHA2_256", "digest": STANDARD.encode(Sha256::digest(message))},
                "signature": STANDARD.encode(&signed.signature),
            },
        });
        let bundle = Artifact::empty(BUNDLE).layer(BUNDLE, bundle.to_string());
        registry.attach("team/app", digest, &bundle);
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The log's clock: within the life of every certificate here.
fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    i64::try_from(since.unwrap().as_secs()).unwrap()
}

async fn verify(
    registry: &Server,
    digest: &str,
    root: &[u8],
    identities: &[(&str, &str)],
) -> Result<(), Error> {
    let identities: Vec<Identity> = identities
        .iter()
        .map(|(issuer, subject)| Identity {
            issuer: (*issuer).into(),
            subject: (*subject).into(),
        })
        .collect();
    let keyless = Keyless::with_root(root, &identities)?;
    keyless
        .verify(
            &anonymous(),
            &repository(registry, "team/app"),
            digest.parse().unwrap(),
        )
        .await
}

#[tokio::test]
async fn a_signature_of_cosign_2_is_verified_by_who_signed() {
    let (registry, instance) = (Server::start(), Instance::new());
    let digest = registry.push("team/app", "latest", &artifact());
    let root = instance.trusted_root();
    verify(&registry, &digest, &root, &[]).await.unwrap_err();
    instance.push_signature(&registry, &digest);
    check_identities(&registry, &digest, &root).await;
}

#[tokio::test]
async fn a_bundle_of_cosign_3_is_verified_by_who_signed() {
    let (registry, instance) = (Server::start(), Instance::new());
    let digest = registry.push("team/app", "latest", &artifact());
    let manifest = registry.manifest("team/app", "latest").unwrap().to_string();
    assert_eq!(format!("sha256:{}", hex(&Sha256::digest(&manifest))), digest);
    instance.attach_bundle(&registry, &digest, manifest.as_bytes());
    check_identities(&registry, &digest, &instance.trusted_root()).await;
}

/// One of the identities must match, anywhere in the text; without any, everyone may sign.
async fn check_identities(registry: &Server, digest: &str, root: &[u8]) {
    verify(registry, digest, root, &[]).await.unwrap();
    verify(registry, digest, root, &[("^https://login", "/org/")])
        .await
        .unwrap();
    verify(
        registry,
        digest,
        root,
        &[("nobody", ".*"), (".*", "release.yaml$")],
    )
    .await
    .unwrap();
    let error = verify(registry, digest, root, &[("nobody", ".*"), (".*", "^mallory$")])
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("is none of the wanted identities"),
        "{error}"
    );
    let error = verify(registry, digest, root, &[("(", "")]).await.unwrap_err();
    assert!(matches!(error, Error::Identity { .. }), "{error}");
    let other = Instance::new().trusted_root();
    let error = verify(registry, digest, &other, &[]).await.unwrap_err();
    assert!(matches!(error, Error::NoMatch { .. }), "{error}");
    let error = verify(registry, digest, b"{}", &[]).await.unwrap_err();
    assert!(matches!(error, Error::TrustedRoot(_)), "{error}");
}

#[tokio::test]
async fn a_signature_of_another_artifact_is_refused() {
    let (registry, instance) = (Server::start(), Instance::new());
    let digest = registry.push("team/app", "latest", &artifact());
    let other = registry.push("team/app", "other", &artifact().layer("text/plain", "more"));
    let root = instance.trusted_root();
    let other_manifest = registry.manifest("team/app", "other").unwrap().to_string();
    instance.attach_bundle(&registry, &digest, other_manifest.as_bytes());
    verify(&registry, &digest, &root, &[]).await.unwrap_err();
    instance.push_signature(&registry, &other);
    let tag = |digest: &str| format!("{}.sig", digest.replacen(':', "-", 1));
    let moved = registry.digest("team/app", &tag(&other)).unwrap();
    let third = registry.push("team/app", "third", &artifact().layer("text/plain", "third"));
    registry.tag("team/app", &tag(&third), &moved);
    let error = verify(&registry, &third, &root, &[]).await.unwrap_err();
    assert!(error.to_string().contains("about another artifact"), "{error}");
}

#[test]
fn the_public_instance_is_known() {
    Keyless::public(&[]).unwrap();
}
