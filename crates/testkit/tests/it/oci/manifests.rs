//! Manifests and tags.

use testkit::digest::sha256;
use testkit::http::Method;
use testkit::oci::{Artifact, Server};

use super::{code, send};

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

#[tokio::test]
async fn manifests_are_found_by_tag_and_by_digest() {
    let server = Server::start();
    let digest = server.push("app", "1.0", &Artifact::files(&[("a.yaml", "x: 1\n")]));
    for reference in ["1.0", &digest] {
        for method in [Method::GET, Method::HEAD] {
            let response = send(&server, method, &format!("app/manifests/{reference}"), &[], "").await;
            assert_eq!(response.header("docker-content-digest"), digest);
            assert_eq!(response.header("content-type"), MANIFEST);
        }
    }
    let manifest = server.manifest("app", "1.0").unwrap();
    assert_eq!(
        manifest["layers"][0]["mediaType"],
        "application/vnd.cncf.flux.content.v1.tar+gzip"
    );
    assert_eq!(
        code(&send(&server, Method::GET, "app/manifests/2.0", &[], "").await),
        "MANIFEST_UNKNOWN"
    );
    assert_eq!(
        code(&send(&server, Method::GET, "none/manifests/2.0", &[], "").await),
        "NAME_UNKNOWN"
    );
}

#[tokio::test]
async fn a_manifest_is_checked_before_it_is_stored() {
    let server = Server::start();
    let put = async |reference: &str, media_type: &str, body: &str| {
        let headers = [("content-type", media_type)];
        let response = send(
            &server,
            Method::PUT,
            &format!("app/manifests/{reference}"),
            &headers,
            body,
        )
        .await;
        if response.status.is_success() {
            response.header("docker-content-digest").to_string()
        } else {
            code(&response)
        }
    };
    let body = r#"{"schemaVersion":2}"#;
    assert_eq!(put("1.0", MANIFEST, body).await, sha256(body.as_bytes()));
    assert_eq!(
        put(&sha256(body.as_bytes()), "application/x", body).await,
        sha256(body.as_bytes())
    );
    assert_eq!(put(&sha256(b"other"), MANIFEST, body).await, "DIGEST_INVALID");
    assert_eq!(put("1.0", MANIFEST, "[]").await, "MANIFEST_INVALID");
    assert_eq!(put("1.0", MANIFEST, "{").await, "MANIFEST_INVALID");
    assert_eq!(
        put("1.0", MANIFEST, r#"{"mediaType":"application/other"}"#).await,
        "MANIFEST_INVALID"
    );
    let layer = format!(r#"{{"layers":[{{"digest":"{}"}}]}}"#, sha256(b"none"));
    assert_eq!(put("1.0", MANIFEST, &layer).await, "MANIFEST_BLOB_UNKNOWN");
    assert_eq!(put(".bad", MANIFEST, body).await, "TAG_INVALID");
    assert_eq!(put("sha256:12", MANIFEST, body).await, "DIGEST_INVALID");
    assert_eq!(
        put("1.0", MANIFEST, &format!(r#"{{"x":"{}"}}"#, "x".repeat(4 << 20))).await,
        "SIZE_INVALID"
    );
    let response = send(&server, Method::PUT, "App/manifests/1.0", &[], body).await;
    assert_eq!(code(&response), "NAME_INVALID");
}

#[tokio::test]
async fn tags_are_listed_in_pages() {
    let server = Server::start();
    let digest = server.push(
        "app",
        "b",
        &Artifact::image("linux/amd64", "2026-01-01T00:00:00Z"),
    );
    ["a", "d", "c"]
        .iter()
        .for_each(|tag| server.tag("app", tag, &digest));
    let list =
        async |query: &str| send(&server, Method::GET, &format!("app/tags/list{query}"), &[], "").await;
    assert_eq!(
        list("").await.text(),
        r#"{"name":"app","tags":["a","b","c","d"]}"#
    );
    let page = list("?n=2").await;
    assert_eq!(page.text(), r#"{"name":"app","tags":["a","b"]}"#);
    assert_eq!(
        page.header("link"),
        "</v2/app/tags/list?n=2&last=b>; rel=\"next\""
    );
    let last = list("?n=2&last=b").await;
    assert_eq!(
        (last.text().as_str(), last.header("link")),
        (r#"{"name":"app","tags":["c","d"]}"#, "")
    );
    server.page_tags(3);
    assert_eq!(
        list("?n=100").await.header("link"),
        "</v2/app/tags/list?n=3&last=c>; rel=\"next\""
    );
    assert_eq!(list("?n=x").await.status.as_u16(), 400);
    assert_eq!(
        code(&send(&server, Method::GET, "none/tags/list", &[], "").await),
        "NAME_UNKNOWN"
    );
    assert_eq!(
        send(&server, Method::GET, "_catalog", &[], "").await.text(),
        r#"{"repositories":["app"]}"#
    );
}

#[tokio::test]
async fn a_deleted_manifest_takes_its_tags_along() {
    let server = Server::start();
    let digest = server.push(
        "app",
        "a",
        &Artifact::image("linux/amd64", "2026-01-01T00:00:00Z"),
    );
    server.tag("app", "b", &digest);
    let delete = async |reference: &str| {
        send(
            &server,
            Method::DELETE,
            &format!("app/manifests/{reference}"),
            &[],
            "",
        )
        .await
        .status
        .as_u16()
    };
    assert_eq!(
        (delete("a").await, server.tags("app")),
        (202, vec!["b".to_string()])
    );
    assert_eq!((delete(&digest).await, server.tags("app").len()), (202, 0));
    assert_eq!(delete(&digest).await, 404);
}

#[tokio::test]
async fn an_index_names_an_image_for_each_platform() {
    let server = Server::start();
    let image = |platform: &str| Artifact::image(platform, "2026-01-01T00:00:00Z");
    let images = ["linux/amd64", "linux/arm64"].map(|platform| (platform, image(platform)));
    let digest = server.push_index("app", "1.0", &images);
    assert_eq!(server.digest("app", "1.0"), Some(digest));
    let index = server.manifest("app", "1.0").unwrap();
    assert_eq!(index["manifests"][1]["platform"]["architecture"], "arm64");
    let arm = index["manifests"][1]["digest"].as_str().unwrap();
    let config = server.manifest("app", arm).unwrap()["config"]["digest"]
        .as_str()
        .unwrap()
        .to_string();
    assert!(
        server
            .blob("app", &config)
            .unwrap()
            .starts_with(b"{\"architecture\":\"arm64\"")
    );
}
