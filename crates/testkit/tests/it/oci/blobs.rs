//! Uploading and reading blobs.

use testkit::digest::sha256;
use testkit::http::{Client, Method};
use testkit::oci::{Artifact, Server};

use super::{code, send};

async fn begin(server: &Server) -> String {
    let response = send(server, Method::POST, "app/blobs/uploads/", &[], "").await;
    assert_eq!(response.status.as_u16(), 202);
    assert_eq!(response.header("range"), "0-0");
    response
        .header("location")
        .strip_prefix("/v2/")
        .unwrap()
        .to_string()
}

#[tokio::test]
async fn the_ping_says_what_speaks() {
    let server = Server::start();
    let response = send(&server, Method::GET, "", &[], "").await;
    assert_eq!(response.status.as_u16(), 200);
    assert_eq!(response.header("docker-distribution-api-version"), "registry/2.0");
}

#[tokio::test]
async fn a_blob_is_uploaded_at_once() {
    let server = Server::start();
    let digest = sha256(b"hello");
    let response = send(
        &server,
        Method::POST,
        &format!("app/blobs/uploads/?digest={digest}"),
        &[],
        "hello",
    )
    .await;
    assert_eq!(response.status.as_u16(), 201);
    assert_eq!(response.header("location"), format!("/v2/app/blobs/{digest}"));
    let location = begin(&server).await;
    let response = send(
        &server,
        Method::PUT,
        &format!("{location}?digest={digest}"),
        &[],
        "hello",
    )
    .await;
    assert_eq!(response.status.as_u16(), 201);
    assert_eq!(server.blob("app", &digest).unwrap(), "hello");
}

#[tokio::test]
async fn a_blob_is_uploaded_in_chunks_that_follow_each_other() {
    let server = Server::start();
    let location = begin(&server).await;
    let chunk = async |range: &str, body: &str| {
        send(
            &server,
            Method::PATCH,
            &location,
            &[("content-range", range)],
            body,
        )
        .await
    };
    assert_eq!(chunk("0-4", "hello").await.header("range"), "0-4");
    assert_eq!(chunk("7-8", "xx").await.status.as_u16(), 416);
    assert_eq!(chunk("5-9", "short").await.status.as_u16(), 202);
    assert_eq!(chunk("10-20", "wrong length").await.status.as_u16(), 416);
    let status = send(&server, Method::GET, &location, &[], "").await;
    assert_eq!((status.status.as_u16(), status.header("range")), (204, "0-9"));
    let digest = sha256(b"helloshort!");
    let end = send(
        &server,
        Method::PUT,
        &format!("{location}?digest={digest}"),
        &[],
        "!",
    )
    .await;
    assert_eq!(
        (end.status.as_u16(), end.header("docker-content-digest")),
        (201, digest.as_str())
    );
    assert_eq!(code(&chunk("0-0", "x").await), "BLOB_UPLOAD_UNKNOWN");
}

#[tokio::test]
async fn a_wrong_digest_is_refused() {
    let server = Server::start();
    for (digest, expected) in [
        (sha256(b"other"), "DIGEST_INVALID"),
        ("md5:1".into(), "BLOB_UPLOAD_INVALID"),
    ] {
        let path = format!("app/blobs/uploads/?digest={digest}");
        assert_eq!(
            code(&send(&server, Method::POST, &path, &[], "hello").await),
            expected
        );
    }
    let location = begin(&server).await;
    assert_eq!(
        code(&send(&server, Method::PUT, &location, &[], "x").await),
        "DIGEST_INVALID"
    );
    assert_eq!(
        send(&server, Method::DELETE, &location, &[], "")
            .await
            .status
            .as_u16(),
        204
    );
    assert_eq!(
        code(&send(&server, Method::DELETE, &location, &[], "").await),
        "BLOB_UPLOAD_UNKNOWN"
    );
}

#[tokio::test]
async fn a_blob_of_another_repository_is_mounted() {
    let server = Server::start();
    let artifact = Artifact::empty("application/example").layer("text/plain", "hello");
    server.push("source", "1", &artifact);
    let digest = sha256(b"hello");
    let path = format!("target/blobs/uploads/?mount={digest}&from=source");
    assert_eq!(
        send(&server, Method::POST, &path, &[], "").await.status.as_u16(),
        201
    );
    assert_eq!(server.blob("target", &digest).unwrap(), "hello");
    // What the other one lacks must be uploaded.
    let path = format!("target/blobs/uploads/?mount={}&from=source", sha256(b"none"));
    assert_eq!(
        send(&server, Method::POST, &path, &[], "").await.status.as_u16(),
        202
    );
}

#[tokio::test]
async fn blobs_are_read_whole_in_part_and_by_head() {
    let server = Server::start();
    server.push(
        "app",
        "1",
        &Artifact::empty("application/example").layer("text/plain", "0123456789"),
    );
    let path = format!("app/blobs/{}", sha256(b"0123456789"));
    assert_eq!(
        send(&server, Method::GET, &path, &[], "").await.text(),
        "0123456789"
    );
    let head = send(&server, Method::HEAD, &path, &[], "").await;
    assert_eq!((head.header("content-length"), head.body.len()), ("10", 0));
    let part = send(&server, Method::GET, &path, &[("range", "bytes=3-5")], "").await;
    assert_eq!((part.status.as_u16(), part.text().as_str()), (206, "345"));
    assert_eq!(part.header("content-range"), "bytes 3-5/10");
    assert_eq!(
        send(&server, Method::GET, &path, &[("range", "bytes=10-")], "")
            .await
            .status
            .as_u16(),
        416
    );
    assert_eq!(
        send(&server, Method::DELETE, &path, &[], "")
            .await
            .status
            .as_u16(),
        202
    );
    assert_eq!(
        code(&send(&server, Method::GET, &path, &[], "").await),
        "BLOB_UNKNOWN"
    );
}

#[tokio::test]
async fn a_damaged_blob_keeps_its_name() {
    let server = Server::start();
    server.push(
        "app",
        "1",
        &Artifact::empty("application/example").layer("text/plain", "hello"),
    );
    let digest = sha256(b"hello");
    server.damage_blob(&digest, "hellp");
    let response = Client::new()
        .get(&format!("{}/v2/app/blobs/{digest}", server.url()))
        .await
        .unwrap();
    assert_eq!(
        (response.text().as_str(), response.header("docker-content-digest")),
        ("hellp", digest.as_str())
    );
}
