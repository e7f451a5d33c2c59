use std::path::Path;
use std::process::Command;

use jiff::Timestamp;
use source::verify::notation::{Error, Notation, Verdict};
use testkit::oci::{Artifact, Referrers, Server};
use testkit::program;

use super::cosign::artifact;
use crate::oci::{anonymous, repository};

/// Recorded of notation 1.3 signing the artifact of `cosign.rs`.
const CERTIFICATE: &[u8] = include_bytes!("../../data/notation/certificate.pem");
const ENVELOPE: &str = include_str!("../../data/notation/envelope.json");
const COSE_ENVELOPE: &[u8] = include_bytes!("../../data/notation/envelope.cose");
/// Within the day for which the recorded certificate is good.
const THEN: &str = "2026-11-16T01:00:00Z";
const SIGNATURE: &str = "application/vnd.cncf.notary.signature";

fn policy(level: &str, scope: &str, identity: &str) -> String {
    format!(
        r#"{{"version":"1.0","trustPolicies":[{{"name":"test","registryScopes":["{scope}"],"signatureVerification":{{"level":"{level}"}},"trustStores":["ca:certs"],"trustedIdentities":["{identity}"]}}]}}"#
    )
}

async fn verify(
    registry: &Server,
    digest: &str,
    policy: &str,
    certificate: &[u8],
    time: &str,
) -> Result<Verdict, Error> {
    let notation = Notation::new(policy.as_bytes(), [certificate])?;
    let time: Timestamp = time.parse().unwrap();
    notation
        .verify(
            &anonymous(),
            &repository(registry, "team/app"),
            digest.parse().unwrap(),
            time,
        )
        .await
}

fn signed(envelope: &str) -> (Server, String) {
    let registry = Server::start();
    let digest = registry.push("team/app", "latest", &artifact());
    attach(&registry, &digest, envelope);
    (registry, digest)
}

fn attach(registry: &Server, digest: &str, envelope: &str) {
    let signature = Artifact::empty(SIGNATURE).layer("application/jose+json", envelope.to_owned());
    registry.attach("team/app", digest, &signature);
}

fn other_certificate() -> String {
    testkit::tls::Authority::default().pem()
}

#[tokio::test]
async fn a_signature_of_someone_trusted_is_verified() {
    let (registry, digest) = signed(ENVELOPE);
    let exact = format!("{}/team/app", registry.host());
    for (scope, identity) in [
        ("*", "*"),
        (exact.as_str(), "x509.subject: C=US, ST=WA, O=Notary"),
    ] {
        for level in ["strict", "permissive", "audit"] {
            let found = verify(
                &registry,
                &digest,
                &policy(level, scope, identity),
                CERTIFICATE,
                THEN,
            )
            .await;
            assert_eq!(found.unwrap(), Verdict::Verified, "{level}");
        }
    }
}

#[tokio::test]
async fn envelopes_in_cbor_are_read_too() {
    let registry = Server::start();
    let digest = registry.push("team/app", "latest", &artifact());
    let mut broken = COSE_ENVELOPE.to_vec();
    *broken.last_mut().unwrap() ^= 1;
    for (envelope, is_good) in [(broken, false), (COSE_ENVELOPE.to_vec(), true)] {
        let signature = Artifact::empty(SIGNATURE).layer("application/cose", envelope);
        registry.attach("team/app", &digest, &signature);
        let policy = policy("strict", "*", "x509.subject: C=US, ST=WA, O=Notary");
        let found = verify(&registry, &digest, &policy, CERTIFICATE, THEN).await;
        assert_eq!(found.is_ok(), is_good, "{found:?}");
    }
}

#[tokio::test]
async fn what_is_not_trusted_is_refused_or_ignored_as_the_policy_says() {
    let (registry, digest) = signed(ENVELOPE);
    let other = other_certificate();
    let strangers = [
        (other.as_bytes(), "*"),
        (CERTIFICATE, "x509.subject: C=US, ST=WA, O=Other"),
    ];
    for (certificate, identity) in strangers {
        let check = async |level| {
            verify(
                &registry,
                &digest,
                &policy(level, "*", identity),
                certificate,
                THEN,
            )
            .await
        };
        let error = check("strict").await.unwrap_err();
        assert!(matches!(error, Error::Refused { .. }), "{error}");
        check("permissive").await.unwrap_err();
        assert_eq!(check("audit").await.unwrap(), Verdict::Ignored);
        assert_eq!(check("skip").await.unwrap(), Verdict::Ignored);
    }
}

#[tokio::test]
async fn a_certificate_that_ended_is_refused_if_the_policy_is_strict() {
    let (registry, digest) = signed(ENVELOPE);
    let later = "2036-01-01T00:00:00Z";
    let error = verify(
        &registry,
        &digest,
        &policy("strict", "*", "*"),
        CERTIFICATE,
        later,
    )
    .await
    .unwrap_err();
    assert!(
        error.to_string().contains("is not good at 2036-01-01T00:00:00Z"),
        "{error}"
    );
    let found = verify(
        &registry,
        &digest,
        &policy("permissive", "*", "*"),
        CERTIFICATE,
        later,
    )
    .await;
    assert_eq!(found.unwrap(), Verdict::Verified);
}

#[tokio::test]
async fn integrity_is_never_given_up() {
    let mut envelope: serde_json::Value = serde_json::from_str(ENVELOPE).unwrap();
    let flipped = envelope["signature"].as_str().unwrap();
    let flipped = format!(
        "{}{}",
        if flipped.starts_with('A') { 'B' } else { 'A' },
        &flipped[1..]
    );
    envelope["signature"] = flipped.into();
    let (registry, digest) = signed(&envelope.to_string());
    let error = verify(&registry, &digest, &policy("audit", "*", "*"), CERTIFICATE, THEN)
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("the signature is not that of its certificate"),
        "{error}"
    );
    let other = registry.push("team/app", "other", &artifact().layer("text/plain", "more"));
    attach(&registry, &other, ENVELOPE);
    let error = verify(&registry, &other, &policy("audit", "*", "*"), CERTIFICATE, THEN)
        .await
        .unwrap_err();
    assert!(error.to_string().contains("about another artifact"), "{error}");
}

#[tokio::test]
async fn three_signatures_are_tried_and_no_more() {
    let (registry, digest) = signed("1");
    attach(&registry, &digest, "2");
    attach(&registry, &digest, "3");
    attach(&registry, &digest, "4");
    let error = verify(&registry, &digest, &policy("strict", "*", "*"), CERTIFICATE, THEN)
        .await
        .unwrap_err();
    assert!(
        error.to_string().ends_with("(only 3 of 4 signatures were tried)"),
        "{error}"
    );
}

#[tokio::test]
async fn what_is_missing_is_told() {
    let registry = Server::start();
    let digest = registry.push("team/app", "latest", &artifact());
    let error = verify(&registry, &digest, &policy("strict", "*", "*"), CERTIFICATE, THEN)
        .await
        .unwrap_err();
    assert!(matches!(error, Error::NoSignature(_)), "{error}");
    let elsewhere = policy("strict", "example.com/other", "*");
    let error = verify(&registry, &digest, &elsewhere, CERTIFICATE, THEN)
        .await
        .unwrap_err();
    assert!(matches!(error, Error::NoStatement(_)), "{error}");
    assert!(matches!(Notation::new(b"{}", []), Err(Error::Policy(_))));
    let policy = policy("strict", "*", "*");
    assert!(matches!(
        Notation::new(policy.as_bytes(), [b"x".as_slice()]),
        Err(Error::Certificate)
    ));
}

fn run(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new("notation");
    command
        .args(arguments)
        .env("XDG_CONFIG_HOME", folder)
        .env("HOME", folder);
    program::run(&mut command);
}

#[tokio::test]
async fn what_notation_signs_is_verified() {
    if program::find("notation").is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["cert", "generate-test", "--default", "test.example.com"];
    run(folder.path(), &arguments);
    let keys = folder.path().join("notation/localkeys/test.example.com.crt");
    let certificate = std::fs::read(keys).unwrap();
    for (way, format) in [
        (Referrers::Api, "jws"),
        (Referrers::Tags, "jws"),
        (Referrers::Api, "cose"),
        (Referrers::Tags, "cose"),
    ] {
        let registry = Server::start();
        registry.set_referrers(way);
        let digest = registry.push("team/app", "latest", &artifact());
        let reference = format!("{}/team/app@{digest}", registry.host());
        run(
            folder.path(),
            &[
                "sign",
                "--insecure-registry",
                "--signature-format",
                format,
                &reference,
            ],
        );
        let now = Timestamp::now().to_string();
        let found = verify(
            &registry,
            &digest,
            &policy("strict", "*", "*"),
            &certificate,
            &now,
        )
        .await;
        assert_eq!(found.unwrap(), Verdict::Verified, "{way:?} {format}");
    }
}
