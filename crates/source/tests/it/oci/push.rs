use bytes::Bytes;
use source::oci::{Client, Error, MANIFEST, Manifest, Session};
use testkit::http::Method;
use testkit::oci::{Artifact, Referrers, Server};

use super::{anonymous, logged_in, repository};

async fn push(client: &Client, registry: &Server, content: Bytes) -> Result<String, Error> {
    let repository = repository(registry, "team/app");
    let config = client
        .push_blob(&repository, "text/config", Bytes::from_static(b"{}"))
        .await?;
    let layer = client.push_blob(&repository, "text/layer", content).await?;
    let manifest = Manifest {
        schema_version: 2,
        media_type: Some(MANIFEST.into()),
        artifact_type: None,
        config,
        layers: vec![layer],
        subject: None,
        annotations: Default::default(),
    };
    let bytes = serde_json::to_vec(&manifest).unwrap();
    let digest = client
        .push_manifest(&repository.tag("1.0")?, MANIFEST, bytes)
        .await?;
    Ok(digest.to_string())
}

#[tokio::test]
async fn what_is_pushed_is_stored() {
    let registry = Server::builder().tokens("ada", "secret").start();
    let client = logged_in(&registry, "ada:secret", &Session::new());
    let digest = push(&client, &registry, Bytes::from_static(b"content"))
        .await
        .unwrap();
    assert_eq!(registry.digest("team/app", "1.0"), Some(digest));
    let manifest = registry.manifest("team/app", "1.0").unwrap();
    let layer = manifest["layers"][0]["digest"].as_str().unwrap().to_owned();
    assert_eq!(registry.blob("team/app", &layer).unwrap(), "content");
    assert_eq!(registry.count(Method::GET, "/token"), 1);
}

#[tokio::test]
async fn what_is_there_is_not_sent_again() {
    let registry = Server::start();
    let client = anonymous();
    push(&client, &registry, Bytes::from_static(b"content"))
        .await
        .unwrap();
    registry.forget_requests();
    push(&client, &registry, Bytes::from_static(b"content"))
        .await
        .unwrap();
    assert_eq!(registry.count(Method::POST, "/uploads"), 0);
    assert_eq!(registry.count(Method::HEAD, "/blobs/"), 2);
}

#[tokio::test]
async fn a_large_blob_is_sent_in_pieces() {
    let registry = Server::start();
    let content = Bytes::from(vec![7; (8 << 20) + 5]);
    push(&anonymous(), &registry, content.clone()).await.unwrap();
    let manifest = registry.manifest("team/app", "1.0").unwrap();
    let layer = manifest["layers"][0]["digest"].as_str().unwrap().to_owned();
    assert_eq!(registry.blob("team/app", &layer).unwrap().len(), content.len());
    assert_eq!(registry.count(Method::PATCH, "/uploads"), 1);
}

#[tokio::test]
async fn an_artifact_gets_another_tag() {
    let registry = Server::start();
    let digest = registry.push("team/app", "1.0", &Artifact::files(&[("a", "b")]));
    let repository = repository(&registry, "team/app");
    let tagged = anonymous()
        .tag(&repository.tag("1.0").unwrap(), "latest")
        .await
        .unwrap();
    assert_eq!(tagged.to_string(), registry.reference("team/app", "latest"));
    assert_eq!(registry.digest("team/app", "latest"), Some(digest));
}

#[tokio::test]
async fn who_may_not_push_is_told_so() {
    let registry = Server::builder().tokens("ada", "secret").anonymous_pull().start();
    let error = push(&anonymous(), &registry, Bytes::from_static(b"content"))
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Unauthorized { .. }), "{error}");
}

#[tokio::test]
async fn referrers_are_listed_by_both_ways() {
    for way in [Referrers::Api, Referrers::Tags] {
        let registry = Server::start();
        registry.set_referrers(way);
        let digest = registry.push("team/app", "1.0", &Artifact::files(&[("a", "b")]));
        let wanted = registry.attach(
            "team/app",
            &digest,
            &Artifact::empty("application/wanted").layer("a", "b"),
        );
        registry.attach(
            "team/app",
            &digest,
            &Artifact::empty("application/other").layer("a", "b"),
        );
        let repository = repository(&registry, "team/app");
        let digest = digest.parse().unwrap();
        let found = anonymous()
            .referrers(&repository, digest, "application/wanted")
            .await
            .unwrap();
        let digests: Vec<String> = found.iter().map(|found| found.digest.to_string()).collect();
        assert_eq!(digests, [wanted], "{way:?}");
        let none = anonymous()
            .referrers(&repository, digest, "application/none")
            .await
            .unwrap();
        assert!(none.is_empty());
    }
}
