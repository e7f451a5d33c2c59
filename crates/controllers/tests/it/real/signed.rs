//! OCIRepository with what cosign and notation have signed on the registry of Debian.

use serde_json::json;
use testkit::program;

use super::oci::{spec, started};
use super::registry::Registry;
use crate::sources::follow::shown;

/// Pushes an artifact; its reference by digest.
fn push(registry: &Registry, tag: &str) -> String {
    let file = registry.folder().join("app.txt");
    std::fs::write(file, tag).unwrap();
    let reference = format!("{}/team/app:{tag}", registry.host());
    let pushed = registry.client(
        "oras",
        &[
            "push",
            "--plain-http",
            "--format=go-template={{.digest}}",
            &reference,
            "app.txt:text/plain",
        ],
    );
    format!("{}/team/app@{}", registry.host(), pushed.trim())
}

/// V3, V5: cosign with a key, in the form of a bundle and in that of a tag
#[tokio::test]
async fn what_cosign_signs_is_verified() {
    let (Some(registry), Some(_), Some(_)) =
        (Registry::start(), program::find("cosign"), program::find("oras"))
    else {
        return;
    };
    registry.client("cosign", &["generate-key-pair"]);
    let key = std::fs::read_to_string(registry.folder().join("cosign.pub")).unwrap();
    let bed = started().await;
    bed.secret("keys", "Opaque", json!({"cosign.pub": key})).await;
    let other = rcgen::KeyPair::generate().unwrap().public_key_pem();
    bed.secret("other", "Opaque", json!({"cosign.pub": other})).await;
    for (tag, format) in [
        ("bundle", "--new-bundle-format=true"),
        ("tag", "--new-bundle-format=false"),
    ] {
        let reference = push(&registry, tag);
        let verified = |secret: &str| {
            json!({
                "ref": {"tag": tag}, "layerSelector": {"operation": "copy"},
                "verify": {"provider": "cosign", "secretRef": {"name": secret}},
            })
        };
        bed.create(tag, spec(&registry, verified("keys"))).await;
        bed.ready(tag, "False", "VerificationError").await;
        let quiet = [
            "--use-signing-config=false",
            "--tlog-upload=false",
            "--allow-http-registry",
            "-y",
        ];
        let arguments = ["sign", "--key", "cosign.key", format];
        registry.client(
            "cosign",
            &[&arguments[..], &quiet[..], &[reference.as_str()]].concat(),
        );
        let object = bed.recovers(tag).await;
        assert_eq!(shown(&object, "SourceVerified"), "True/Succeeded", "{tag}");
        let other = format!("{tag}-other");
        bed.create(&other, spec(&registry, verified("other"))).await;
        bed.ready(&other, "False", "VerificationError").await;
    }
}

/// V7: notation with a certificate
#[tokio::test]
async fn what_notation_signs_is_verified() {
    let (Some(registry), Some(_), Some(_)) = (
        Registry::start(),
        program::find("notation"),
        program::find("oras"),
    ) else {
        return;
    };
    registry.client(
        "notation",
        &["cert", "generate-test", "--default", "test.example.com"],
    );
    let certificate = registry.folder().join("notation/localkeys/test.example.com.crt");
    let certificate = std::fs::read_to_string(certificate).unwrap();
    let policy = json!({"version": "1.0", "trustPolicies": [{
        "name": "test", "registryScopes": ["*"], "signatureVerification": {"level": "strict"},
        "trustStores": ["ca:test"], "trustedIdentities": ["*"],
    }]});
    let bed = started().await;
    let data = json!({"trustpolicy.json": policy.to_string(), "ca.crt": certificate});
    bed.secret("policy", "Opaque", data).await;
    for format in ["jws", "cose"] {
        let reference = push(&registry, format);
        let verified = json!({
            "ref": {"tag": format}, "layerSelector": {"operation": "copy"},
            "verify": {"provider": "notation", "secretRef": {"name": "policy"}},
        });
        bed.create(format, spec(&registry, verified)).await;
        bed.ready(format, "False", "VerificationError").await;
        let arguments = [
            "sign",
            "--insecure-registry",
            "--signature-format",
            format,
            &reference,
        ];
        registry.client("notation", &arguments);
        let object = bed.recovers(format).await;
        assert_eq!(shown(&object, "SourceVerified"), "True/Succeeded", "{format}");
    }
}
