use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{self, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RsaKeyPair};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use source::verify::PublicKey;
use source::verify::cosign::{self, Error};
use testkit::http::Method;
use testkit::oci::{Artifact, Referrers, Server};

use crate::oci::{anonymous, repository};

const SIMPLE: &str = "application/vnd.dev.cosign.simplesigning.v1+json";
const BUNDLE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";
/// Recorded of cosign 3.1 signing the artifact of [`artifact`].
const KEY: &[u8] = include_bytes!("../../data/cosign/cosign.pub");
const PAYLOAD: &str = include_str!("../../data/cosign/payload.json");
const SIGNATURE: &str = include_str!("../../data/cosign/signature.txt");
const RECORDED: &str = include_str!("../../data/cosign/bundle.json");

pub(super) fn artifact() -> Artifact {
    Artifact::with_config("text/config", "{}").layer("text/plain", "signed content")
}

fn key(pem: &[u8]) -> Vec<PublicKey> {
    cosign::keys([("cosign.pub", pem), ("README", b"no key")]).unwrap()
}

async fn verify(registry: &Server, digest: &str, keys: &[PublicKey]) -> Result<(), Error> {
    let repository = repository(registry, "team/app");
    cosign::verify_with_keys(&anonymous(), &repository, digest.parse().unwrap(), keys).await
}

fn sign(registry: &Server, digest: &str, payload: &str, signature: &str) {
    let tag = format!("{}.sig", digest.replacen(':', "-", 1));
    let signatures = Artifact::with_config("application/vnd.oci.image.config.v1+json", "{}")
        .layer(SIMPLE, payload.to_owned())
        .layer_annotation("dev.cosignproject.cosign/signature", signature.trim());
    registry.push("team/app", &tag, &signatures);
}

fn attach(registry: &Server, digest: &str, bundle: &str) {
    let bundle = Artifact::empty(BUNDLE).layer(BUNDLE, bundle.to_owned());
    registry.attach("team/app", digest, &bundle);
}

#[tokio::test]
async fn a_signature_of_cosign_2_is_verified_with_its_key() {
    let registry = Server::start();
    let digest = registry.push("team/app", "latest", &artifact());
    let error = verify(&registry, &digest, &key(KEY)).await.unwrap_err();
    let reference = format!("{}/team/app@{digest}", registry.host());
    assert_eq!(
        error.to_string(),
        format!(
            "no matching signatures were found for '{reference}': have it signed with cosign by a key or an identity that is \
             trusted, or trust the one that signed it"
        )
    );
    sign(&registry, &digest, PAYLOAD, SIGNATURE);
    verify(&registry, &digest, &key(KEY)).await.unwrap();
}

#[tokio::test]
async fn a_bundle_of_cosign_3_is_verified_with_its_key() {
    for way in [Referrers::Api, Referrers::Tags] {
        let registry = Server::start();
        registry.set_referrers(way);
        let digest = registry.push("team/app", "latest", &artifact());
        attach(&registry, &digest, RECORDED);
        verify(&registry, &digest, &key(KEY)).await.unwrap();
        assert_eq!(registry.count(Method::GET, ".sig"), 0, "{way:?}");
    }
}

#[tokio::test]
async fn another_key_another_artifact_or_another_payload_is_refused() {
    let registry = Server::start();
    let digest = registry.push("team/app", "latest", &artifact());
    let other_key = [ecdsa(&signature::ECDSA_P256_SHA256_ASN1_SIGNING).key];
    sign(&registry, &digest, PAYLOAD, SIGNATURE);
    let error = verify(&registry, &digest, &other_key).await.unwrap_err();
    assert!(error.to_string().contains("(1 signatures were tried)"), "{error}");
    sign(
        &registry,
        &digest,
        &PAYLOAD.replace("sha256:", "sha256:0"),
        SIGNATURE,
    );
    verify(&registry, &digest, &key(KEY)).await.unwrap_err();

    // A signature and a bundle of one artifact that are moved to another one.
    let other = registry.push("team/app", "other", &artifact().layer("text/plain", "more"));
    sign(&registry, &other, PAYLOAD, SIGNATURE);
    verify(&registry, &other, &key(KEY)).await.unwrap_err();
    attach(&registry, &other, RECORDED);
    let error = verify(&registry, &other, &key(KEY)).await.unwrap_err();
    assert!(error.to_string().contains("(1 bundles were tried)"), "{error}");
}

#[tokio::test]
async fn every_key_and_every_signature_is_tried() {
    let registry = Server::start();
    let digest = registry.push("team/app", "latest", &artifact());
    attach(&registry, &digest, "no bundle");
    attach(
        &registry,
        &digest,
        "{\"dsseEnvelope\":{\"payload\":\"e30=\",\"payloadType\":\"x\",\"signatures\":[]}}",
    );
    attach(&registry, &digest, RECORDED);
    let mut keys = vec![ecdsa(&signature::ECDSA_P256_SHA256_ASN1_SIGNING).key];
    keys.extend(key(KEY));
    verify(&registry, &digest, &keys).await.unwrap();
}

#[tokio::test]
async fn all_kinds_of_keys_are_known() {
    let registry = Server::start();
    let digest = registry.push("team/app", "latest", &artifact());
    let payload = format!("{{\"critical\":{{\"image\":{{\"docker-manifest-digest\":\"{digest}\"}}}}}}");
    let signers = [
        ecdsa(&signature::ECDSA_P256_SHA256_ASN1_SIGNING),
        ecdsa(&signature::ECDSA_P521_SHA256_ASN1_SIGNING),
        ed25519(),
        rsa(),
    ];
    for signer in signers {
        sign(
            &registry,
            &digest,
            &payload,
            &STANDARD.encode((signer.sign)(payload.as_bytes())),
        );
        verify(&registry, &digest, std::slice::from_ref(&signer.key))
            .await
            .unwrap();
        let wrong = STANDARD.encode((signer.sign)(b"something else"));
        sign(&registry, &digest, &payload, &wrong);
        verify(&registry, &digest, &[signer.key]).await.unwrap_err();
    }
}

#[tokio::test]
async fn what_is_no_key_is_named() {
    let error = cosign::keys([("team.pub", b"x".as_slice())]).unwrap_err();
    assert_eq!(error.to_string(), "'team.pub' is no public key");
}

type Sign = Box<dyn Fn(&[u8]) -> Vec<u8>>;

struct Signer {
    key: PublicKey,
    sign: Sign,
}

fn ecdsa(algorithm: &'static signature::EcdsaSigningAlgorithm) -> Signer {
    let pair = EcdsaKeyPair::generate(algorithm).unwrap();
    let der: PublicKeyX509Der<'_> = pair.public_key().as_der().unwrap();
    Signer {
        key: PublicKey::from_der(der.as_ref()).unwrap(),
        sign: Box::new(move |message| {
            pair.sign(&SystemRandom::new(), message)
                .unwrap()
                .as_ref()
                .to_vec()
        }),
    }
}

fn ed25519() -> Signer {
    let pair = Ed25519KeyPair::generate().unwrap();
    let der: PublicKeyX509Der<'_> = pair.public_key().as_der().unwrap();
    Signer {
        key: PublicKey::from_der(der.as_ref()).unwrap(),
        sign: Box::new(move |message| pair.sign(message).as_ref().to_vec()),
    }
}

fn rsa() -> Signer {
    let pair = RsaKeyPair::generate(aws_lc_rs::rsa::KeySize::Rsa2048).unwrap();
    let der: PublicKeyX509Der<'_> = pair.public_key().as_der().unwrap();
    Signer {
        key: PublicKey::from_der(der.as_ref()).unwrap(),
        sign: Box::new(move |message| {
            let mut signed = vec![0; pair.public_modulus_len()];
            let random = SystemRandom::new();
            pair.sign(&signature::RSA_PKCS1_SHA256, &random, message, &mut signed)
                .unwrap();
            signed
        }),
    }
}
