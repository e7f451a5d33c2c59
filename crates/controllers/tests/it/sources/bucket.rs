//! Bucket.

use api::source::{Bucket, BucketSpec};
use controllers::sources::Buckets;
use serde_json::{Value, json};
use testkit::s3::{Key, Server};

use super::bed::{Bed, condition};

fn artifact_of(object: &Bucket) -> Option<&model::Artifact> {
    object.status.as_ref()?.artifact.as_ref()
}

type BucketBed = Bed<BucketSpec>;

async fn started() -> BucketBed {
    let mut bed = BucketBed::start().await;
    bed.run(Buckets::new);
    bed.secret(
        "keys",
        "Opaque",
        json!({"accesskey": "access", "secretkey": "geheim"}),
    )
    .await;
    bed
}

fn spec(store: &Server, rest: Value) -> Value {
    let mut spec = json!({
        "endpoint": store.host(), "bucketName": "manifests", "interval": "1h", "insecure": true,
        "secretRef": {"name": "keys"},
    });
    spec.as_object_mut()
        .unwrap()
        .extend(rest.as_object().unwrap().clone());
    spec
}

/// A3, B1: the files of a bucket, of which only its own rules leave some out
#[tokio::test]
async fn objects_are_stored_as_files_and_followed() {
    let store = Server::builder().key("access", "geheim").start();
    let bucket = store.bucket("manifests");
    bucket.put("apps/app.yaml", "replicas: 1\n");
    bucket.put("logo.png", "x");
    bucket.put("notes.txt", "x");
    bucket.put(".sourceignore", "*.txt\n");
    let bed = started().await;
    bed.create("files", spec(&store, json!({"interval": "1s"}))).await;
    let object = bed.ready("files", "True", "Succeeded").await;
    let status = object.status.clone().unwrap();
    let artifact = status.artifact.clone().unwrap();
    let revision = artifact.revision.to_string();
    let hex = revision.strip_prefix("sha256:").unwrap();
    let folder = format!("bucket/{}/files", bed.namespace);
    assert_eq!(artifact.path, format!("{folder}/{hex}.tar.gz"));
    assert_eq!(
        status.url,
        Some(format!("http://store.test/{folder}/latest.tar.gz"))
    );
    assert_eq!(
        bed.names(artifact_of(&object)),
        [".", ".sourceignore", "apps", "apps/app.yaml", "logo.png"],
        "nothing is left out by default"
    );
    let told = "stored artifact with 2 fetched files from 'manifests' bucket";
    bed.until_told("files", "Normal", "NewArtifact", told).await;
    bucket.put("more.yaml", "");
    let object = bed
        .until("files", |object| {
            let artifact = object.status.as_ref().and_then(|status| status.artifact.as_ref());
            artifact.is_some_and(|artifact| artifact.revision.to_string() != revision)
                && condition(object, "ArtifactOutdated").is_none()
        })
        .await;
    assert!(bed.names(artifact_of(&object)).contains(&"more.yaml".to_owned()));
    store.set_keys(&[Key::new("access", "rotated")]);
    let failed = bed.ready("files", "False", "BucketOperationFailed").await;
    assert!(
        bed.names(artifact_of(&failed)).contains(&"more.yaml".to_owned()),
        "the last good artifact stays"
    );
}

#[tokio::test]
async fn what_cannot_be_read_is_told() {
    let store = Server::builder().key("access", "geheim").start();
    store.bucket("manifests").put("a", "1");
    let bed = started().await;
    bed.secret("half", "Opaque", json!({"accesskey": "access"})).await;
    for (name, rest, reason) in [
        ("none", json!({"bucketName": "none"}), "BucketOperationFailed"),
        (
            "half",
            json!({"secretRef": {"name": "half"}}),
            "AuthenticationFailed",
        ),
        (
            "nowhere",
            json!({"secretRef": {"name": "nowhere"}}),
            "AuthenticationFailed",
        ),
        (
            "gcp",
            json!({"provider": "gcp", "secretRef": null}),
            "AuthenticationFailed",
        ),
        ("azure", json!({"provider": "azure"}), "AuthenticationFailed"),
    ] {
        bed.create(name, spec(&store, rest)).await;
        let object = bed.ready(name, "False", reason).await;
        let message = condition(&object, "Ready").unwrap().message;
        assert!(!message.contains("geheim"), "{name}: {message}");
    }
}
