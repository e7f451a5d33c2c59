//! OCIRepository.

use std::io::Read;

use api::ReconcileStatus;
use api::source::{OciRepository, OciRepositorySpec};
use controllers::sources::OciRepositories;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use testkit::http::Fault;
use testkit::oci::{Artifact, Server};

use super::bed::{Bed, condition};

fn artifact_of(object: &OciRepository) -> Option<&model::Artifact> {
    object.status.as_ref()?.artifact.as_ref()
}

type OciBed = Bed<OciRepositorySpec>;

fn spec(registry: &Server, rest: Value) -> Value {
    let mut spec = json!({
        "url": format!("oci://{}/team/app", registry.host()), "interval": "1h", "insecure": true,
    });
    spec.as_object_mut()
        .unwrap()
        .extend(rest.as_object().unwrap().clone());
    spec
}

async fn started() -> OciBed {
    let mut bed = OciBed::start().await;
    bed.run(OciRepositories::new);
    bed
}

/// A1, A2, A3, A4, A7, O4, O7: all that a status tells of an artifact
#[tokio::test]
async fn an_artifact_is_stored_and_told_of() {
    let registry = Server::start();
    let pushed = Artifact::files(&[("app.yaml", "replicas: 1\n"), ("logo.png", "")])
        .annotation("org.opencontainers.image.source", "https://example.com/app")
        .annotation("org.opencontainers.image.revision", "main@sha1:1");
    let digest = registry.push("team/app", "latest", &pushed);
    let bed = started().await;
    bed.create("app", spec(&registry, json!({}))).await;
    let object = bed.ready("app", "True", "Succeeded").await;
    let status = object.status.clone().unwrap();
    let artifact = status.artifact.clone().unwrap();
    let namespace = &bed.namespace;
    assert_eq!(artifact.revision.to_string(), format!("latest@{digest}"));
    assert_eq!(
        artifact.path,
        format!("ocirepository/{namespace}/app/{digest}.tar.gz")
    );
    assert_eq!(artifact.url, format!("http://store.test/{}", artifact.path));
    assert_eq!(
        artifact.metadata["org.opencontainers.image.revision"],
        "main@sha1:1"
    );
    let file = std::fs::read(bed.store.root().join(&artifact.path)).unwrap();
    assert_eq!(artifact.size, Some(file.len() as i64));
    let hex: String = Sha256::digest(&file)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(artifact.digest.unwrap().to_string(), format!("sha256:{hex}"));
    let now = jiff::Timestamp::now();
    let age = now.duration_since(artifact.last_update_time.timestamp());
    assert!(age.as_secs() >= 0 && age.as_secs() < 300, "{age:?}");
    assert_eq!(
        status.url.as_deref(),
        Some(format!("http://store.test/ocirepository/{namespace}/app/latest.tar.gz").as_str())
    );
    assert_eq!(status.observed_generation, Some(1));
    let kinds: Vec<&str> = status.conditions().iter().map(|one| one.kind.as_str()).collect();
    assert_eq!(kinds, ["Ready", "ArtifactInStorage"]);
    let ready = condition(&object, "Ready").unwrap();
    assert_eq!(
        ready.message,
        format!("stored artifact for digest 'latest@{digest}'")
    );
    assert_eq!(
        bed.names(artifact_of(&object)),
        [".", "app.yaml"],
        "pictures are left out"
    );
    let finalizers = object.metadata.finalizers.clone().unwrap();
    assert_eq!(finalizers, ["finalizers.fluxcd.io"]);
    let message = format!(
        "stored artifact with revision 'latest@{digest}' from 'oci://{}/team/app', origin source \
         'https://example.com/app', origin revision 'main@sha1:1'",
        registry.host()
    );
    bed.until_told("app", "Normal", "NewArtifact", &message).await;
}

#[tokio::test]
async fn a_request_for_a_run_that_finds_nothing_new_makes_one_request_and_one_answer() {
    let registry = Server::start();
    registry.push("team/app", "latest", &Artifact::files(&[("a", "1")]));
    let bed = started().await;
    bed.create("app", spec(&registry, json!({}))).await;
    let before = bed.ready("app", "True", "Succeeded").await;
    let asked = registry.requests().len();
    let request = json!({"metadata": {"annotations": {"reconcile.fluxcd.io/requestedAt": "now"}}});
    bed.patch("app", request).await;
    let after = bed
        .until("app", |object| {
            let status = object.status.as_ref();
            status.and_then(|status| status.last_handled_reconcile_at.as_deref()) == Some("now")
                && condition(object, "Reconciling").is_none()
        })
        .await;
    assert_eq!(registry.requests().len(), asked + 1);
    let artifact = |object: &OciRepository| object.status.as_ref().unwrap().artifact.clone();
    assert_eq!(artifact(&after), artifact(&before));
    assert_eq!(
        condition(&after, "Ready"),
        condition(&before, "Ready"),
        "Ready does not flap"
    );
}

#[tokio::test]
async fn a_new_revision_replaces_the_artifact_and_a_failure_does_not() {
    let registry = Server::start();
    registry.push("team/app", "1.0.0", &Artifact::files(&[("a", "1")]));
    let bed = started().await;
    let range = json!({"ref": {"semver": "1.x"}, "interval": "1s"});
    bed.create("app", spec(&registry, range)).await;
    bed.ready("app", "True", "Succeeded").await;
    let digest = registry.push("team/app", "1.1.0", &Artifact::files(&[("b", "2")]));
    let revision = format!("1.1.0@{digest}");
    let stored = bed
        .until("app", |object| {
            let artifact = object.status.as_ref().and_then(|status| status.artifact.as_ref());
            artifact.is_some_and(|artifact| artifact.revision.to_string() == revision)
                && condition(object, "Ready").is_some_and(|ready| ready.status.to_string() == "True")
        })
        .await;
    assert_eq!(bed.names(artifact_of(&stored)), [".", "b"]);
    registry.fail(Fault::status(403).forever());
    let failed = bed.ready("app", "False", "OCIArtifactPullFailed").await;
    assert_eq!(
        bed.names(artifact_of(&failed)),
        [".", "b"],
        "the last good artifact stays"
    );
    let reconciling = condition(&failed, "Reconciling").unwrap();
    assert_eq!(reconciling.reason, "ProgressingWithRetry");
    assert!(condition(&failed, "FetchFailed").is_some());
    registry.heal();
    bed.ready("app", "True", "Succeeded").await;
}

#[tokio::test]
async fn many_objects_of_one_revision_cost_one_pull() {
    let registry = Server::start();
    let digest = registry.push("team/app", "latest", &Artifact::files(&[("a", "1")]));
    let bed = started().await;
    let names: Vec<String> = (0..20).map(|number| format!("app-{number}")).collect();
    for (number, name) in names.iter().enumerate() {
        let reference = match number % 2 {
            0 => json!({"tag": "latest"}),
            _ => json!({"digest": digest}),
        };
        bed.create(name, spec(&registry, json!({"ref": reference}))).await;
    }
    for name in &names {
        bed.ready(name, "True", "Succeeded").await;
    }
    let pulls = registry.requests();
    let pulls = pulls.iter().filter(|request| request.path.contains("/blobs/"));
    assert_eq!(pulls.count(), 1);
}

#[tokio::test]
async fn what_another_object_pulled_is_not_for_one_that_may_not() {
    let registry = Server::builder().basic("ada", "geheim").start();
    let digest = registry.push("team/app", "latest", &Artifact::files(&[("a", "1")]));
    let bed = started().await;
    let config = json!({"auths": {registry.host(): {"username": "ada", "password": "geheim"}}});
    let data = json!({".dockerconfigjson": config.to_string()});
    bed.secret("pull", "kubernetes.io/dockerconfigjson", data).await;
    let reference = json!({"digest": digest});
    bed.create(
        "ada",
        spec(
            &registry,
            json!({"ref": reference, "secretRef": {"name": "pull"}}),
        ),
    )
    .await;
    bed.ready("ada", "True", "Succeeded").await;
    bed.create("eve", spec(&registry, json!({"ref": reference})))
        .await;
    let object = bed.ready("eve", "False", "OCIArtifactPullFailed").await;
    assert!(object.status.unwrap().artifact.is_none());
}

#[tokio::test]
async fn credentials_come_from_a_pull_secret() {
    let registry = Server::builder().basic("ada", "geheim").start();
    registry.push("team/app", "latest", &Artifact::files(&[("a", "1")]));
    let bed = started().await;
    let config = json!({"auths": {registry.host(): {"username": "ada", "password": "geheim"}}});
    let data = json!({".dockerconfigjson": config.to_string()});
    bed.secret("pull", "kubernetes.io/dockerconfigjson", data).await;
    let other = json!({"auths": {"example.com": {"username": "ada", "password": "geheim"}}});
    let data = json!({".dockerconfigjson": other.to_string()});
    bed.secret("other", "kubernetes.io/dockerconfigjson", data).await;
    bed.create("good", spec(&registry, json!({"secretRef": {"name": "pull"}})))
        .await;
    bed.ready("good", "True", "Succeeded").await;
    bed.create("none", spec(&registry, json!({}))).await;
    bed.ready("none", "False", "OCIArtifactPullFailed").await;
    bed.create(
        "missing",
        spec(&registry, json!({"secretRef": {"name": "nowhere"}})),
    )
    .await;
    bed.ready("missing", "False", "AuthenticationFailed").await;
    bed.create("other", spec(&registry, json!({"secretRef": {"name": "other"}})))
        .await;
    let refused = bed.ready("other", "False", "OCIArtifactPullFailed").await;
    let message = condition(&refused, "Ready").unwrap().message;
    assert!(
        message.contains("the Secret 'other' has no credentials for"),
        "{message}"
    );
    assert!(!message.contains("geheim"), "{message}");
}

#[tokio::test]
async fn what_only_a_change_can_mend_is_stalled() {
    let registry = Server::start();
    let bed = started().await;
    let wrong = json!({"url": format!("oci://{}/team/app:1.0.0", registry.host())});
    bed.create("app", spec(&registry, wrong)).await;
    let object = bed.ready("app", "False", "URLInvalid").await;
    assert_eq!(condition(&object, "Stalled").unwrap().reason, "URLInvalid");
    assert!(condition(&object, "Reconciling").is_none());
    assert_eq!(object.status.unwrap().observed_generation, Some(1));
    registry.push("team/app", "latest", &Artifact::files(&[("a", "1")]));
    let right = format!("oci://{}/team/app", registry.host());
    bed.patch("app", json!({"spec": {"url": right}})).await;
    let object = bed.ready("app", "True", "Succeeded").await;
    assert!(condition(&object, "Stalled").is_none());
}

#[tokio::test]
async fn a_layer_can_be_copied_as_it_is() {
    let registry = Server::start();
    let content = "any bytes";
    registry.push(
        "team/app",
        "latest",
        &Artifact::empty("application/x").layer("text/chart", content),
    );
    let bed = started().await;
    let copy = json!({"layerSelector": {"mediaType": "text/chart", "operation": "copy"}});
    bed.create("app", spec(&registry, copy)).await;
    let object = bed.ready("app", "True", "Succeeded").await;
    let artifact = object.status.unwrap().artifact.unwrap();
    let mut text = String::new();
    bed.store
        .read(&artifact)
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    assert_eq!(text, content);
    let other = json!({"layerSelector": {"mediaType": "text/other"}});
    bed.create("other", spec(&registry, other)).await;
    bed.ready("other", "False", "OCIArtifactLayerOperationFailed")
        .await;
}

#[tokio::test]
async fn a_suspended_object_is_left_alone_but_answers() {
    let registry = Server::start();
    let bed = started().await;
    bed.create("app", spec(&registry, json!({"suspend": true}))).await;
    let request = json!({"metadata": {"annotations": {"reconcile.fluxcd.io/requestedAt": "t"}}});
    bed.patch("app", request).await;
    bed.until("app", |object| {
        let status = object.status.as_ref();
        status.and_then(|status| status.last_handled_reconcile_at.as_deref()) == Some("t")
    })
    .await;
    assert!(registry.requests().is_empty());
}

#[tokio::test]
async fn what_is_deleted_leaves_nothing() {
    let registry = Server::start();
    registry.push("team/app", "latest", &Artifact::files(&[("a", "1")]));
    let bed = started().await;
    bed.create("app", spec(&registry, json!({}))).await;
    let object = bed.ready("app", "True", "Succeeded").await;
    let artifact = object.status.unwrap().artifact.unwrap();
    bed.delete("app").await;
    assert!(bed.store.read(&artifact).is_err());
}

#[tokio::test]
async fn an_artifact_that_is_lost_or_damaged_is_made_anew() {
    let registry = Server::start();
    registry.push("team/app", "latest", &Artifact::files(&[("a", "1")]));
    let mut bed = OciBed::start().await;
    bed.run(OciRepositories::new);
    bed.create("app", spec(&registry, json!({}))).await;
    let object = bed.ready("app", "True", "Succeeded").await;
    let artifact = object.status.unwrap().artifact.unwrap();
    bed.kill();
    std::fs::remove_file(bed.store.root().join(&artifact.path)).unwrap();
    bed.run(OciRepositories::new);
    let request = json!({"metadata": {"annotations": {"reconcile.fluxcd.io/requestedAt": "t"}}});
    bed.patch("app", request).await;
    let object = bed
        .until("app", |object| {
            let status = object.status.as_ref();
            status.and_then(|status| status.last_handled_reconcile_at.as_deref()) == Some("t")
        })
        .await;
    let again = object.status.unwrap().artifact.unwrap();
    assert_eq!(again.digest, artifact.digest);
    bed.store.read(&again).unwrap();
}

#[tokio::test]
async fn nothing_that_must_be_verified_is_stored_unverified() {
    let registry = Server::start();
    registry.push("team/app", "latest", &Artifact::files(&[("a", "1")]));
    let bed = started().await;
    let key = rcgen_key();
    bed.secret("keys", "Opaque", json!({"cosign.pub": key})).await;
    for (name, verify) in [
        (
            "keyed",
            json!({"provider": "cosign", "secretRef": {"name": "keys"}}),
        ),
        ("keyless", json!({"provider": "cosign"})),
        (
            "notation",
            json!({"provider": "notation", "secretRef": {"name": "keys"}}),
        ),
        (
            "no-keys",
            json!({"provider": "cosign", "secretRef": {"name": "nowhere"}}),
        ),
    ] {
        bed.create(name, spec(&registry, json!({"verify": verify}))).await;
        let object = bed.ready(name, "False", "VerificationError").await;
        let verified = condition(&object, "SourceVerified").unwrap();
        assert_eq!(verified.status.to_string(), "False", "{name}");
        assert!(object.status.unwrap().artifact.is_none(), "{name}");
    }
}

/// A public key that signed nothing.
fn rcgen_key() -> String {
    rcgen::KeyPair::generate().unwrap().public_key_pem()
}
