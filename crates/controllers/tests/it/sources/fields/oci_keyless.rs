//! OCIRepository: `verify` without keys, by who signed; with an authority and a log of our own in the place of sigstore's.

use api::source::OciRepositorySpec;
use controllers::sources::OciRepositories;
use serde_json::{Value, json};
use testkit::oci::{Artifact, Referrers, Server};
use testkit::sigstore::{ISSUER, Instance, SUBJECT};

use crate::sources::bad_input::{artifact, with};
use crate::sources::bed::{Bed, condition};
use crate::sources::follow::shown;

fn spec(registry: &Server, verify: Value) -> Value {
    let url = format!("oci://{}/team/app", registry.host());
    let verify = with(
        json!({"provider": "cosign", "trustedRootSecretRef": {"name": "root"}}),
        verify,
    );
    json!({"url": url, "interval": "1h", "insecure": true, "verify": verify})
}

async fn started(instance: &Instance) -> Bed<OciRepositorySpec> {
    let mut bed = Bed::start().await;
    bed.run(OciRepositories::new);
    let root = json!({"trusted_root.json": instance.trusted_root()});
    bed.secret("root", "Opaque", root).await;
    let other = json!({"trusted_root.json": Instance::default().trusted_root()});
    bed.secret("other-root", "Opaque", other).await;
    bed.secret("no-root", "Opaque", json!({"root.json": "{}"})).await;
    bed
}

/// A registry with an artifact that is signed as this version of cosign signs.
fn signed(instance: &Instance, cosign: u8, referrers: Referrers) -> (Server, String) {
    let registry = Server::start();
    registry.set_referrers(referrers);
    let digest = registry.push("team/app", "latest", &Artifact::files(&[("a.yaml", "a: 1\n")]));
    match cosign {
        2 => instance.push_signature(&registry, "team/app", &digest),
        _ => {
            let manifest = registry.manifest("team/app", "latest").unwrap().to_string();
            instance.attach_bundle(&registry, "team/app", &digest, manifest.as_bytes());
        }
    }
    (registry, digest)
}

fn identity(issuer: &str, subject: &str) -> Value {
    json!({"issuer": issuer, "subject": subject})
}

/// V4, V5: one of the identities must match, each by patterns; without any, everyone may sign
#[tokio::test]
async fn who_signed_without_a_key_must_be_one_of_the_wanted() {
    let instance = Instance::default();
    let bed = started(&instance).await;
    let (issuer, subject) = (ISSUER.replace('.', "\\."), SUBJECT.replace('.', "\\."));
    let (issuer, subject) = (format!("^{issuer}$"), format!("^{subject}$"));
    for (way, cosign, referrers) in [
        ("tag", 2, Referrers::Api),
        ("bundle", 3, Referrers::Api),
        ("bundle-in-tag", 3, Referrers::Tags),
    ] {
        let (registry, digest) = signed(&instance, cosign, referrers);
        for (name, identities, is_good) in [
            ("anyone", json!([]), true),
            ("exact", json!([identity(&issuer, &subject)]), true),
            ("part", json!([identity("^https://login", "/org/")]), true),
            (
                "second",
                json!([identity("nobody", ".*"), identity(".*", "release\\.yaml$")]),
                true,
            ),
            ("issuer", json!([identity("^https://other", ".*")]), false),
            (
                "subject",
                json!([identity(&issuer, "^mallory$"), identity("nobody", &subject)]),
                false,
            ),
        ] {
            let name = format!("{way}-{name}");
            let verify = json!({ "matchOIDCIdentity": identities });
            bed.create(&name, spec(&registry, verify)).await;
            if is_good {
                let object = bed.ready(&name, "True", "Succeeded").await;
                let verified = condition(&object, "SourceVerified").unwrap();
                let told = format!("verified signature of revision latest@{digest}");
                assert_eq!(verified.message, told);
                assert!(artifact(&object).is_some());
                continue;
            }
            let object = bed.ready(&name, "False", "VerificationError").await;
            assert_eq!(shown(&object, "SourceVerified"), "False/VerificationError");
            let message = condition(&object, "Ready").unwrap().message;
            assert!(
                message.starts_with("failed to verify the signature using provider 'cosign keyless'")
                    && message.contains("is none of the wanted identities"),
                "{message}"
            );
            assert!(artifact(&object).is_none());
        }
    }
}

/// V4, V6, V9: only whom the authorities of the Secret vouch for counts, and what is not signed is not stored
#[tokio::test]
async fn signatures_without_a_key_are_trusted_by_their_authority() {
    let instance = Instance::default();
    let bed = started(&instance).await;
    let (registry, digest) = signed(&instance, 3, Referrers::Api);
    bed.create("good", spec(&registry, json!({}))).await;
    bed.ready("good", "True", "Succeeded").await;
    for (name, verify, told) in [
        (
            "stranger",
            json!({"trustedRootSecretRef": {"name": "other-root"}}),
            "no matching signatures were found",
        ),
        // Without the field it is the public instance, which did not vouch for this signer.
        (
            "public",
            json!({"trustedRootSecretRef": null}),
            "no matching signatures were found",
        ),
        (
            "empty",
            json!({"trustedRootSecretRef": {"name": "no-root"}}),
            "/no-root' has no key 'trusted_root.json'",
        ),
        (
            "nowhere",
            json!({"trustedRootSecretRef": {"name": "nowhere"}}),
            "/nowhere' does not exist",
        ),
        (
            "pattern",
            json!({"matchOIDCIdentity": [identity("(", ".*")]}),
            "(",
        ),
    ] {
        bed.create(name, spec(&registry, verify)).await;
        let object = bed.ready(name, "False", "VerificationError").await;
        let message = condition(&object, "Ready").unwrap().message;
        assert!(message.contains(told), "{name}: {message}");
        assert!(artifact(&object).is_none());
    }

    // A revision that nobody signed does not replace the one that somebody did.
    let next = registry.push("team/app", "latest", &Artifact::files(&[("a.yaml", "a: 2\n")]));
    assert_ne!(next, digest);
    let words = ["no matching signatures were found"];
    bed.fails("good", "SourceVerified", "VerificationError", &words)
        .await;
    instance.push_signature(&registry, "team/app", &next);
    let object = bed.recovers("good").await;
    assert_eq!(
        artifact(&object).unwrap().revision.to_string(),
        format!("latest@{next}")
    );
}
