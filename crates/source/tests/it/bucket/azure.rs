//! Containers of Azure, against a server that answers as Blob Storage does.

use std::fs;
use std::sync::Arc;

use source::bucket::azure::{AccountKey, Application, Container, Credentials, Options, Proof};
use source::bucket::{Error, download, index};
use testkit::http::{Reply, Request, Server};

const BLOBS: [(&str, &str, &str); 3] = [
    ("apps/a b.yaml", "0x1", "replicas: 1\n"),
    ("apps/c&d.yaml", "0x2", "x\n"),
    ("e.txt", "0x3", "y\n"),
];

/// A container `manifests`, listed one blob at a time.
fn blobs(request: &Request) -> Reply {
    let segments = request.segments();
    if segments.first().map(String::as_str) != Some("manifests") {
        return Reply::status(404).with("x-ms-error-code", "ContainerNotFound");
    }
    if request.query("comp").as_deref() == Some("list") {
        let prefix = request.query("prefix").unwrap_or_default();
        let found: Vec<_> = BLOBS.iter().filter(|blob| blob.0.starts_with(&prefix)).collect();
        let at: usize = request
            .query("marker")
            .map_or(0, |marker| marker.parse().unwrap());
        let (name, etag, _) = found[at];
        let next = if at + 1 < found.len() {
            (at + 1).to_string()
        } else {
            String::new()
        };
        return Reply::text(format!(
            "<?xml version=\"1.0\"?><EnumerationResults><Blobs><Blob><Name>{}</Name><Properties><Etag>{etag}</Etag>\
             </Properties></Blob></Blobs><NextMarker>{next}</NextMarker></EnumerationResults>",
            name.replace('&', "&amp;")
        ));
    }
    let key = segments[1..].join("/");
    match BLOBS.iter().find(|blob| blob.0 == key) {
        None => Reply::status(404).with("x-ms-error-code", "BlobNotFound"),
        Some((_, etag, content)) => {
            let wanted = request
                .header("if-match")
                .unwrap_or("\"\"")
                .trim_matches('"')
                .to_owned();
            if !wanted.is_empty() && wanted != *etag {
                return Reply::status(412).with("x-ms-error-code", "ConditionNotMet");
            }
            Reply::text(*content).with("etag", format!("\"{etag}\""))
        }
    }
}

fn options(endpoint: &str, credentials: Credentials) -> Options {
    Options {
        endpoint: endpoint.to_owned(),
        container: "manifests".into(),
        credentials,
        http: source::http::Options::default(),
    }
}

#[tokio::test]
async fn a_container_is_listed_and_fetched() {
    let server = Server::serve(blobs);
    let container = Container::new(options(&server.url(), Credentials::Anonymous)).unwrap();
    let found = index(&container, "", None).await.unwrap();
    let listed: Vec<_> = found.iter().collect();
    assert_eq!(
        listed,
        [
            ("apps/a b.yaml", "0x1"),
            ("apps/c&d.yaml", "0x2"),
            ("e.txt", "0x3")
        ]
    );
    let mut found = index(&container, "apps/", None).await.unwrap();
    found.insert("apps/c&d.yaml", "0x0");
    found.insert("gone", "0x4");
    let directory = tempfile::tempdir().unwrap();
    download(&container, &mut found, directory.path()).await.unwrap();
    let listed: Vec<_> = found.iter().collect();
    assert_eq!(listed, [("apps/a b.yaml", "0x1"), ("apps/c&d.yaml", "0x2")]);
    assert_eq!(
        fs::read_to_string(directory.path().join("apps/c&d.yaml")).unwrap(),
        "x\n"
    );

    let missing = Options {
        container: "other".into(),
        ..options(&server.url(), Credentials::Anonymous)
    };
    let error = index(&Container::new(missing).unwrap(), "", None)
        .await
        .unwrap_err();
    assert!(matches!(error, Error::NoBucket(_)));
}

#[tokio::test]
async fn a_shared_access_signature_is_part_of_each_address() {
    let server = Server::serve(|request: &Request| match request.query("sig").as_deref() {
        Some("a+b=") => blobs(request),
        _ => Reply::status(403).with("x-ms-error-code", "AuthenticationFailed"),
    });
    let sas = Credentials::Sas("?sv=2023&sig=a%2Bb%3D".to_owned().into());
    let container = Container::new(options(&server.url(), sas)).unwrap();
    assert_eq!(index(&container, "", None).await.unwrap().len(), 3);
    assert!(!format!("{container:?}").contains("a%2Bb"));
    let container = Container::new(options(&server.url(), Credentials::Anonymous)).unwrap();
    let error = index(&container, "", None).await.unwrap_err();
    assert!(
        error.is_authentication() && error.to_string().contains("AuthenticationFailed"),
        "{error}"
    );
}

#[tokio::test]
async fn the_secret_of_an_application_is_changed_into_a_token() {
    let server = Server::serve(|request: &Request| match request.header("authorization") {
        Some("Bearer good") => blobs(request),
        _ => Reply::status(401),
    });
    let tokens = Server::serve(|request: &Request| {
        let body = String::from_utf8_lossy(&request.body).into_owned();
        match request.path() == "/tenant/oauth2/v2.0/token" && body.contains("client_secret=geheim&") {
            true => Reply::json("{\"access_token\": \"good\", \"expires_in\": 3600}"),
            false => Reply::json("{\"error\": \"invalid_client\"}").with_status(401),
        }
    });
    for (secret, fine) in [("geheim", true), ("other", false)] {
        let source = Application {
            tenant: "tenant".into(),
            client_id: "id".into(),
            proof: Proof::Secret(secret.to_owned().into()),
            authority: tokens.url(),
            client: source::http::Options::default().client().unwrap(),
        };
        let credentials = Credentials::Tokens(Arc::new(source));
        let container = Container::new(options(&server.url(), credentials)).unwrap();
        let found = index(&container, "", None).await;
        assert_eq!(found.is_ok(), fine);
        assert!(fine || found.unwrap_err().is_authentication());
    }
}

#[tokio::test]
async fn an_account_key_that_is_no_base64_is_told_and_not_shown() {
    let server = Server::serve(blobs);
    let key = AccountKey {
        account: "account".into(),
        key: "geheim!".to_owned().into(),
    };
    let container = Container::new(options(&server.url(), Credentials::AccountKey(key))).unwrap();
    let error = index(&container, "", None).await.unwrap_err();
    assert!(error.to_string().contains("not base64"), "{error}");
    assert!(!format!("{error:?} {container:?}").contains("geheim"));
    assert!(Container::new(options("no address", Credentials::Anonymous)).is_err());
}
