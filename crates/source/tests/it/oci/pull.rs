use std::io::Read as _;

use source::oci::{CONTENT_MEDIA_TYPE, Error, Pulled};
use testkit::http::{Fault, Method, Reply};
use testkit::oci::{Artifact, Server};

use super::{anonymous, repository};

async fn pull(registry: &Server, digest: &str, media_type: Option<&str>) -> Result<Pulled, Error> {
    let directory = tempfile::tempdir().unwrap();
    let repository = repository(registry, "team/app");
    anonymous()
        .pull(&repository, digest.parse().unwrap(), media_type, directory.path())
        .await
}

fn content(mut pulled: Pulled) -> Vec<u8> {
    let mut bytes = Vec::new();
    pulled.file.read_to_end(&mut bytes).unwrap();
    bytes
}

/// What is wrong with a layer.
fn cause(error: &Error) -> &Error {
    match error {
        Error::Layer(cause) => cause,
        other => panic!("the layer is not at fault: {other}"),
    }
}

#[tokio::test]
async fn the_first_layer_is_taken_or_the_first_of_a_type() {
    let registry = Server::start();
    let artifact = Artifact::with_config("text/config", "{}")
        .layer("text/one", "one")
        .layer("text/two", "two")
        .layer("text/two", "three")
        .annotation("org.opencontainers.image.revision", "main@sha1:1");
    let digest = registry.push("team/app", "latest", &artifact);
    let first = pull(&registry, &digest, None).await.unwrap();
    assert_eq!(
        first.annotations["org.opencontainers.image.revision"],
        "main@sha1:1"
    );
    assert_eq!(first.digest.to_string(), digest);
    assert_eq!(content(first), b"one");
    assert_eq!(
        content(pull(&registry, &digest, Some("text/two")).await.unwrap()),
        b"two"
    );
    let error = pull(&registry, &digest, Some("text/other")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "failed to find layer with media type 'text/other' in artifact: check the media type and the layers that there are"
    );
}

#[tokio::test]
async fn an_artifact_without_layers_is_refused() {
    let registry = Server::start();
    let digest = registry.push("team/app", "latest", &Artifact::empty("application/none"));
    let error = pull(&registry, &digest, None).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "no layers found in artifact: push it with content"
    );
}

#[tokio::test]
async fn of_an_index_the_default_platform_is_taken() {
    let registry = Server::start();
    let image =
        |platform: &str| Artifact::image(platform, "2026-01-01T00:00:00Z").annotation("for", platform);
    let images = [
        ("linux/arm64", image("linux/arm64")),
        ("linux/amd64", image("linux/amd64")),
    ];
    let digest = registry.push_index("team/app", "latest", &images);
    let pulled = pull(&registry, &digest, None).await.unwrap();
    assert_eq!(pulled.annotations["for"], "linux/amd64");
    let digest = registry.push_index("team/app", "latest", &images[..1]);
    let error = pull(&registry, &digest, None).await.unwrap_err();
    assert!(matches!(error, Error::NoPlatform(_)), "{error}");
}

#[tokio::test]
async fn a_broken_layer_is_never_handed_out() {
    let registry = Server::start();
    let artifact = Artifact::with_config("text/config", "{}").layer(CONTENT_MEDIA_TYPE, "x".repeat(5000));
    let digest = registry.push("team/app", "latest", &artifact);

    registry.fail(Fault::corrupt().on("/blobs/"));
    let error = pull(&registry, &digest, None).await.unwrap_err();
    assert!(matches!(cause(&error), Error::Mismatch { .. }), "{error}");

    registry.fail(Fault::truncate(1000).on("/blobs/"));
    let error = pull(&registry, &digest, None).await.unwrap_err();
    assert!(
        matches!(cause(&error), Error::Transport { .. } | Error::Length { .. }),
        "{error}"
    );

    registry.fail(Fault::corrupt().on("/manifests/"));
    let error = pull(&registry, &digest, None).await.unwrap_err();
    assert!(matches!(error, Error::Mismatch { .. }), "{error}");

    assert_eq!(content(pull(&registry, &digest, None).await.unwrap()).len(), 5000);
}

#[tokio::test]
async fn a_blob_that_is_longer_than_described_is_cut_off() {
    let registry = Server::start();
    let artifact = Artifact::with_config("text/config", "{}").layer(CONTENT_MEDIA_TYPE, "short");
    let digest = registry.push("team/app", "latest", &artifact);
    let longer =
        testkit::http::Server::serve(|_: &testkit::http::Request| Reply::text("much longer".to_string()));
    registry.fail(Fault::redirect(307, &longer.url()).on("/blobs/"));
    let error = pull(&registry, &digest, None).await.unwrap_err();
    assert!(
        matches!(cause(&error), Error::Length { expected: 5, .. }),
        "{error}"
    );
}

#[tokio::test]
async fn layers_over_the_limit_are_not_even_asked_for() {
    let registry = Server::start();
    let artifact = Artifact::with_config("text/config", "{}").layer(CONTENT_MEDIA_TYPE, "x".repeat(100));
    let digest = registry.push("team/app", "latest", &artifact);
    let options = source::oci::Options {
        layer_limit: 99,
        ..super::options()
    };
    let client = source::oci::Client::new(&options, Default::default(), &Default::default()).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let error = client
        .pull(
            &repository(&registry, "team/app"),
            digest.parse().unwrap(),
            None,
            directory.path(),
        )
        .await
        .unwrap_err();
    assert!(
        matches!(cause(&error), Error::TooLarge { limit: 99, .. }),
        "{error}"
    );
    assert_eq!(registry.count(Method::GET, "/blobs/"), 0);
}
