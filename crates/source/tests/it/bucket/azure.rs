//! Containers of Azure, against a server that answers as Blob Storage does.

use std::fs;
use std::sync::Arc;

use source::bucket::azure::{AccountKey, Application, Container, Credentials, Options, Proof};
use source::bucket::{Error, download, index};
use testkit::azure::{Blobs, Server};
use testkit::http::{Reply, Request};

/// Storage with a container `manifests`.
fn filled(builder: testkit::http::Builder<Blobs>) -> Server {
    let server = builder.start();
    server.put("manifests", "apps/a b.yaml", "replicas: 1\n");
    server.put("manifests", "apps/c&d.yaml", "x\n");
    server.put("manifests", "e.txt", "y\n");
    server
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
    let server = filled(Server::builder());
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
    download(&container, &mut found, directory.path(), u64::MAX)
        .await
        .unwrap();
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
    let server = filled(Server::builder().sas("sv=2023&sig=a%2Bb%3D"));
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
    let server = filled(Server::builder().bearer("good"));
    let tokens = testkit::http::Server::serve(|request: &Request| {
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
async fn requests_are_signed_with_the_key_of_the_account() {
    let server = filled(Server::builder().account_key("acme", "Z2VoZWlt"));
    for (key, fine) in [("Z2VoZWlt", true), ("YW5kZXJlcg==", false)] {
        let key = AccountKey {
            account: "acme".into(),
            key: key.to_owned().into(),
        };
        let container = Container::new(options(&server.url(), Credentials::AccountKey(key))).unwrap();
        match (index(&container, "apps/", None).await, fine) {
            (Ok(mut found), true) => {
                let directory = tempfile::tempdir().unwrap();
                download(&container, &mut found, directory.path(), u64::MAX)
                    .await
                    .unwrap();
                assert!(directory.path().join("apps/a b.yaml").exists());
            }
            (Err(error), false) => assert!(error.is_authentication(), "{error}"),
            (found, _) => panic!("{found:?}"),
        }
    }
}

#[tokio::test]
async fn an_account_key_that_is_no_base64_is_told_and_not_shown() {
    let server = filled(Server::builder());
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
