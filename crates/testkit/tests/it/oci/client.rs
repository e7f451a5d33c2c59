//! The registry through `oci-client`.

use oci_client::client::{
    Certificate, CertificateEncoding, ClientConfig, ClientProtocol, Config, ImageLayer,
};
use oci_client::manifest::{OCI_IMAGE_MEDIA_TYPE, OciManifest};
use oci_client::secrets::RegistryAuth;
use oci_client::{Client, Reference};
use testkit::digest::sha256;
use testkit::helm::Chart;
use testkit::http::{Fault, Method};
use testkit::oci::{Artifact, Server};
use testkit::tls::Authority;

fn client() -> Client {
    Client::new(ClientConfig {
        protocol: ClientProtocol::Http,
        ..ClientConfig::default()
    })
}

fn reference(server: &Server, name: &str, tag: &str) -> Reference {
    server.reference(name, tag).parse().unwrap()
}

const LAYER: &str = "application/vnd.cncf.flux.content.v1.tar+gzip";

async fn push_and_pull(client: &Client, server: &Server, auth: &RegistryAuth) {
    let image = reference(server, "team/app", "1.0");
    // Larger than a chunk, so that it is sent in several.
    let large: Vec<u8> = (0..6_000_000_u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    let layers = [ImageLayer::new(large.clone(), LAYER.to_string(), None)];
    let config = Config::new(
        &b"{}"[..],
        "application/vnd.cncf.flux.config.v1+json".to_string(),
        None,
    );
    client.push(&image, &layers, config, auth, None).await.unwrap();
    assert_eq!(server.tags("team/app"), ["1.0"]);
    let digest = client.fetch_manifest_digest(&image, auth).await.unwrap();
    assert_eq!(Some(digest), server.digest("team/app", "1.0"));
    let pulled = client.pull(&image, auth, vec![LAYER]).await.unwrap();
    assert_eq!(pulled.layers[0].data, large);
}

#[tokio::test]
async fn pushes_and_pulls_anonymously() {
    let server = Server::start();
    push_and_pull(&client(), &server, &RegistryAuth::Anonymous).await;
    assert!(server.count(Method::PATCH, "/blobs/uploads/") > 1);
}

#[tokio::test]
async fn pushes_and_pulls_with_a_password_or_a_token() {
    let auth = RegistryAuth::Basic("ada".into(), "secret".into());
    let server = Server::builder().basic("ada", "secret").start();
    push_and_pull(&client(), &server, &auth).await;
    let server = Server::builder().tokens("ada", "secret").start();
    push_and_pull(&client(), &server, &auth).await;
    assert!(server.count(Method::GET, "/token") >= 1);
    let wrong = RegistryAuth::Basic("ada".into(), "wrong".into());
    let image = reference(&server, "team/app", "1.0");
    assert!(client().pull_image_manifest(&image, &wrong).await.is_err());
}

#[tokio::test]
async fn pushes_and_pulls_over_tls() {
    let authority = Authority::default();
    let server = Server::builder().tls(&authority).start();
    let root = Certificate {
        encoding: CertificateEncoding::Pem,
        data: authority.pem().into_bytes(),
    };
    let client = Client::new(ClientConfig {
        tls_certs_only: vec![root],
        ..ClientConfig::default()
    });
    push_and_pull(&client, &server, &RegistryAuth::Anonymous).await;
}

#[tokio::test]
async fn finds_what_the_test_has_put_there() {
    let server = Server::start();
    let auth = RegistryAuth::Anonymous;
    let digest = server.push(
        "charts/podinfo",
        "6.1.0",
        &Chart::new("podinfo", "6.1.0").artifact(),
    );
    server.tag("charts/podinfo", "latest", &digest);
    let image = reference(&server, "charts/podinfo", "6.1.0");
    let tags = client()
        .list_tags(&image, &auth, Some(1), Some("6.1.0"))
        .await
        .unwrap();
    assert_eq!(tags.tags, ["latest"]);
    let (manifest, found) = client().pull_image_manifest(&image, &auth).await.unwrap();
    assert_eq!(found, digest);
    assert_eq!(
        manifest.config.media_type,
        "application/vnd.cncf.helm.config.v1+json"
    );
    let mut archive = Vec::new();
    client()
        .pull_blob(&image, &manifest.layers[0], &mut archive)
        .await
        .unwrap();
    assert_eq!(archive, Chart::new("podinfo", "6.1.0").archive());
}

#[tokio::test]
async fn finds_referrers_by_type() {
    let server = Server::start();
    let digest = server.push("app", "1.0", &Artifact::files(&[("a", "1")]));
    server.attach("app", &digest, &Artifact::empty("application/example.one"));
    let two = server.attach("app", &digest, &Artifact::empty("application/example.two"));
    let image: Reference = format!("{}/app@{digest}", server.host()).parse().unwrap();
    let found = client()
        .pull_referrers(&image, Some("application/example.two"))
        .await
        .unwrap();
    assert_eq!(
        found
            .manifests
            .iter()
            .map(|manifest| &manifest.digest)
            .collect::<Vec<_>>(),
        [&two]
    );
}

#[tokio::test]
async fn chooses_from_an_index_and_mounts_blobs() {
    let server = Server::start();
    let images = [(
        "linux/amd64",
        Artifact::image("linux/amd64", "2026-01-01T00:00:00Z"),
    )];
    server.push_index("app", "1.0", &images);
    let auth = RegistryAuth::Anonymous;
    let image = reference(&server, "app", "1.0");
    let (manifest, _) = client().pull_manifest(&image, &auth).await.unwrap();
    let OciManifest::ImageIndex(index) = manifest else {
        panic!("not an index")
    };
    assert_eq!(index.manifests[0].media_type, OCI_IMAGE_MEDIA_TYPE);
    let config = server.manifest("app", &index.manifests[0].digest).unwrap()["config"]["digest"]
        .as_str()
        .unwrap()
        .to_string();
    let target = reference(&server, "copy", "1.0");
    client().mount_blob(&target, &image, &config).await.unwrap();
    assert!(server.blob("copy", &config).is_some());
}

#[tokio::test]
async fn notices_what_breaks() {
    let server = Server::start();
    let digest = server.push("app", "1.0", &Artifact::files(&[("a", "1")]));
    let image = reference(&server, "app", "1.0");
    let auth = RegistryAuth::Anonymous;
    server.fail(Fault::status(500).on("/manifests/"));
    assert!(client().pull_image_manifest(&image, &auth).await.is_err());
    let (manifest, _) = client().pull_image_manifest(&image, &auth).await.unwrap();
    server.damage_blob(&manifest.layers[0].digest, "not what it was");
    let mut out = Vec::new();
    assert!(
        client()
            .pull_blob(&image, &manifest.layers[0], &mut out)
            .await
            .is_err()
    );
    assert_ne!(sha256(&out), manifest.layers[0].digest);
    assert_eq!(server.digest("app", "1.0"), Some(digest));
}
