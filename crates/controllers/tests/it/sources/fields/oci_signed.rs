//! OCIRepository: `verify` with what the real cosign has signed.

use api::source::OciRepositorySpec;
use controllers::sources::OciRepositories;
use serde_json::{Value, json};
use testkit::oci::{Artifact, Referrers, Server};

use crate::sources::bad_input::{artifact, with};
use crate::sources::bed::{Bed, condition};
use crate::sources::follow::shown;

const BUNDLE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";
const SIMPLE: &str = "application/vnd.dev.cosign.simplesigning.v1+json";
/// Recorded of cosign 3.1 signing the artifact of [`signed_artifact`].
const KEY: &str = include_str!("../../../../../source/tests/data/cosign/cosign.pub");
const PAYLOAD: &str = include_str!("../../../../../source/tests/data/cosign/payload.json");
const SIGNATURE: &str = include_str!("../../../../../source/tests/data/cosign/signature.txt");
const RECORDED: &str = include_str!("../../../../../source/tests/data/cosign/bundle.json");

async fn started() -> Bed<OciRepositorySpec> {
    let mut bed = Bed::start().await;
    bed.run(OciRepositories::new);
    let stranger = rcgen::KeyPair::generate().unwrap().public_key_pem();
    // Every key is tried, whatever it is called.
    let keys = json!({"a.pub": stranger, "b.pub": KEY, "readme": "no key"});
    bed.secret("keys", "Opaque", keys).await;
    bed.secret("strangers", "Opaque", json!({"a.pub": stranger}))
        .await;
    bed.secret("nothing", "Opaque", json!({"readme": "no key"})).await;
    bed
}

fn signed_artifact() -> Artifact {
    Artifact::with_config("text/config", "{}").layer("text/plain", "signed content")
}

fn spec(registry: &Server, secret: &str) -> Value {
    let url = format!("oci://{}/team/app", registry.host());
    let spec =
        json!({"url": url, "interval": "1h", "insecure": true, "layerSelector": {"operation": "copy"}});
    with(
        spec,
        json!({"verify": {"provider": "cosign", "secretRef": {"name": secret}}}),
    )
}

/// V3, V5: every key is tried, on bundles by both ways to them and on signatures in tags
#[tokio::test]
async fn what_one_of_the_keys_has_signed_is_stored() {
    let bed = started().await;
    for (name, way, bundle) in [
        ("bundle", Referrers::Api, true),
        ("bundle-in-tag", Referrers::Tags, true),
        ("tag", Referrers::Api, false),
    ] {
        let registry = Server::start();
        registry.set_referrers(way);
        let digest = registry.push("team/app", "latest", &signed_artifact());
        if bundle {
            let bundle = Artifact::empty(BUNDLE).layer(BUNDLE, RECORDED);
            registry.attach("team/app", &digest, &bundle);
        } else {
            let signature = Artifact::with_config("application/vnd.oci.image.config.v1+json", "{}")
                .layer(SIMPLE, PAYLOAD)
                .layer_annotation("dev.cosignproject.cosign/signature", SIGNATURE.trim());
            let tag = format!("{}.sig", digest.replacen(':', "-", 1));
            registry.push("team/app", &tag, &signature);
        }
        bed.create(name, spec(&registry, "keys")).await;
        let object = bed.ready(name, "True", "Succeeded").await;
        let verified = condition(&object, "SourceVerified").unwrap();
        assert_eq!(
            verified.message,
            format!("verified signature of revision latest@{digest}")
        );
        for secret in ["strangers", "nothing"] {
            let other = format!("{name}-{secret}");
            bed.create(&other, spec(&registry, secret)).await;
            let object = bed.ready(&other, "False", "VerificationError").await;
            assert_eq!(shown(&object, "SourceVerified"), "False/VerificationError");
            assert!(artifact(&object).is_none());
        }
    }
}

/// V8: a revision is verified once for each generation of the object, and again after a failure
#[tokio::test]
async fn signatures_are_fetched_only_when_something_is_new() {
    let registry = Server::start();
    let digest = registry.push("team/app", "latest", &signed_artifact());
    let bundle = Artifact::empty(BUNDLE).layer(BUNDLE, RECORDED);
    registry.attach("team/app", &digest, &bundle);
    let bed = started().await;
    bed.create("app", spec(&registry, "keys")).await;
    bed.ready("app", "True", "Succeeded").await;
    registry.forget_requests();
    bed.recovers("app").await;
    assert_eq!(registry.requests().len(), 1, "only the digest is asked for");
    let change = json!({"spec": {"verify": {"secretRef": {"name": "strangers"}}}});
    bed.patch("app", change).await;
    let words = ["no matching signatures were found"];
    bed.fails("app", "SourceVerified", "VerificationError", &words)
        .await;
    bed.patch(
        "app",
        json!({"spec": {"verify": {"secretRef": {"name": "keys"}}}}),
    )
    .await;
    let object = bed.recovers("app").await;
    assert_eq!(shown(&object, "SourceVerified"), "True/Succeeded");
}
