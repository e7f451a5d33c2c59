//! Keyless signatures, with an authority and a log of our own in the place of sigstore's.

use sha2::{Digest as _, Sha256};
use source::verify::cosign::{Error, Identity, Keyless};
use testkit::oci::Server;
use testkit::sigstore::Instance;

use super::cosign::artifact;
use crate::oci::{anonymous, repository};

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
    let (registry, instance) = (Server::start(), Instance::default());
    let digest = registry.push("team/app", "latest", &artifact());
    let root = instance.trusted_root().into_bytes();
    verify(&registry, &digest, &root, &[]).await.unwrap_err();
    instance.push_signature(&registry, "team/app", &digest);
    check_identities(&registry, &digest, &root).await;
}

#[tokio::test]
async fn a_bundle_of_cosign_3_is_verified_by_who_signed() {
    let (registry, instance) = (Server::start(), Instance::default());
    let digest = registry.push("team/app", "latest", &artifact());
    let manifest = registry.manifest("team/app", "latest").unwrap().to_string();
    let bytes = Sha256::digest(&manifest);
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(format!("sha256:{hex}"), digest);
    instance.attach_bundle(&registry, "team/app", &digest, manifest.as_bytes());
    check_identities(&registry, &digest, instance.trusted_root().as_bytes()).await;
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
    let other = Instance::default().trusted_root().into_bytes();
    let error = verify(registry, digest, &other, &[]).await.unwrap_err();
    assert!(matches!(error, Error::NoMatch { .. }), "{error}");
    let error = verify(registry, digest, b"{}", &[]).await.unwrap_err();
    assert!(matches!(error, Error::TrustedRoot(_)), "{error}");
}

#[tokio::test]
async fn a_signature_of_another_artifact_is_refused() {
    let (registry, instance) = (Server::start(), Instance::default());
    let digest = registry.push("team/app", "latest", &artifact());
    let other = registry.push("team/app", "other", &artifact().layer("text/plain", "more"));
    let root = instance.trusted_root().into_bytes();
    let other_manifest = registry.manifest("team/app", "other").unwrap().to_string();
    instance.attach_bundle(&registry, "team/app", &digest, other_manifest.as_bytes());
    verify(&registry, &digest, &root, &[]).await.unwrap_err();
    instance.push_signature(&registry, "team/app", &other);
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
