//! What is attached to a manifest.

use serde_json::Value;
use testkit::digest::sha256;
use testkit::http::Method;
use testkit::oci::{Artifact, Referrers, Server};

use super::{code, send};

fn signature(text: &str) -> Artifact {
    Artifact::empty("application/example.signature")
        .layer("text/plain", text.to_string())
        .annotation("by", "ada")
}

async fn list(server: &Server, digest: &str, query: &str) -> (Value, String) {
    let response = send(
        server,
        Method::GET,
        &format!("app/referrers/{digest}{query}"),
        &[],
        "",
    )
    .await;
    let filters = response.header("oci-filters-applied").to_string();
    (serde_json::from_slice(&response.body).unwrap(), filters)
}

#[tokio::test]
async fn attached_manifests_are_listed_and_filtered() {
    let server = Server::start();
    let digest = server.push("app", "1.0", &Artifact::files(&[("a", "1")]));
    let signed = server.attach("app", &digest, &signature("one"));
    server.attach(
        "app",
        &digest,
        &Artifact::with_config("application/example.sbom", "{}"),
    );
    let (all, filters) = list(&server, &digest, "").await;
    assert_eq!(
        (all["manifests"].as_array().unwrap().len(), filters.as_str()),
        (2, "")
    );
    let (some, filters) = list(&server, &digest, "?artifactType=application/example.signature").await;
    assert_eq!(filters, "artifactType");
    assert_eq!(some["manifests"].as_array().unwrap().len(), 1);
    assert_eq!(some["manifests"][0]["digest"], signed);
    assert_eq!(some["manifests"][0]["annotations"]["by"], "ada");
    // Without a type of its own, an artifact's type is that of its config.
    let (sbom, _) = list(&server, &digest, "?artifactType=application/example.sbom").await;
    assert_eq!(sbom["manifests"].as_array().unwrap().len(), 1);
    let (none, _) = list(&server, &sha256(b"unknown"), "").await;
    assert_eq!(none["manifests"].as_array().unwrap().len(), 0);
    assert_eq!(
        code(&send(&server, Method::GET, "app/referrers/latest", &[], "").await),
        "DIGEST_INVALID"
    );
}

#[tokio::test]
async fn a_push_with_a_subject_is_acknowledged_only_with_the_api() {
    let server = Server::start();
    let digest = server.push("app", "1.0", &Artifact::files(&[("a", "1")]));
    let body = format!(r#"{{"schemaVersion":2,"subject":{{"digest":"{digest}"}}}}"#);
    let headers = [("content-type", "application/vnd.oci.image.manifest.v1+json")];
    let response = send(&server, Method::PUT, "app/manifests/sig", &headers, &body).await;
    assert_eq!(response.header("oci-subject"), digest);
    server.set_referrers(Referrers::Tags);
    let response = send(&server, Method::PUT, "app/manifests/sig", &headers, &body).await;
    assert_eq!(
        (response.status.as_u16(), response.header("oci-subject")),
        (201, "")
    );
    assert_eq!(
        send(&server, Method::GET, &format!("app/referrers/{digest}"), &[], "")
            .await
            .status
            .as_u16(),
        404
    );
}

#[test]
fn without_the_api_a_tag_lists_what_is_attached() {
    let server = Server::start();
    server.set_referrers(Referrers::Tags);
    let digest = server.push("app", "1.0", &Artifact::files(&[("a", "1")]));
    server.attach("app", &digest, &signature("one"));
    server.attach("app", &digest, &signature("two"));
    let list = server.manifest("app", &digest.replace(':', "-")).unwrap();
    assert_eq!(list["manifests"].as_array().unwrap().len(), 2);
}
