//! Buckets of Google Cloud Storage, against a server that answers as its JSON interface does.

use std::fs;
use std::sync::Arc;

use source::bucket::gcs::{Bucket, KeyError, KeyFile, Options};
use source::bucket::{Error, download, index};
use source::identity::CredentialSource;
use testkit::gcp::{Account, Server};

const READ: &str = "https://www.googleapis.com/auth/devstorage.read_only";

/// Storage with a bucket `manifests`, for the holder of a token.
fn filled() -> Server {
    let server = Server::builder().bearer("good").start();
    server.put("manifests", "apps/a b.yaml", "replicas: 1\n");
    server.put("manifests", "apps/c.yaml", "x\n");
    server.put("manifests", "d.txt", "y\n");
    server
}

fn key_of(account: &Account, token_uri: &str) -> Arc<dyn CredentialSource> {
    let client = source::http::Options::default().client().unwrap();
    let file = account.key_file(token_uri);
    Arc::new(KeyFile::parse(file.as_bytes(), client).unwrap())
}

fn options(endpoint: &str, tokens: Option<Arc<dyn CredentialSource>>) -> Options {
    Options {
        endpoint: endpoint.to_owned(),
        bucket: "manifests".into(),
        tokens,
        http: source::http::Options::default(),
    }
}

#[tokio::test]
async fn a_bucket_is_read_with_the_key_of_a_service_account() {
    let server = filled();
    let account = Account::default();
    let tokens = account.token_server("good", READ);
    let account = key_of(&account, &tokens.url());
    let bucket = Bucket::new(options(&server.url(), Some(account.clone()))).unwrap();
    let found = index(&bucket, "", None).await.unwrap();
    let listed: Vec<_> = found.iter().collect();
    assert_eq!(
        listed,
        [
            ("apps/a b.yaml", "CA1="),
            ("apps/c.yaml", "CA2="),
            ("d.txt", "CA3=")
        ]
    );
    let mut found = index(&bucket, "apps/", Some("c.yaml")).await.unwrap();
    found.insert("gone", "CA4=");
    let directory = tempfile::tempdir().unwrap();
    download(&bucket, &mut found, directory.path(), u64::MAX)
        .await
        .unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(
        fs::read_to_string(directory.path().join("apps/a b.yaml")).unwrap(),
        "replicas: 1\n"
    );
    assert_eq!(tokens.requests().len(), 1, "a token is kept");

    let missing = Options {
        bucket: "other".into(),
        ..options(&server.url(), Some(account))
    };
    let error = index(&Bucket::new(missing).unwrap(), "", None).await.unwrap_err();
    assert!(matches!(error, Error::NoBucket(_)));
}

#[tokio::test]
async fn refusals_of_server_and_token_server_are_told() {
    let server = filled();
    let bucket = Bucket::new(options(&server.url(), None)).unwrap();
    assert!(index(&bucket, "", None).await.unwrap_err().is_authentication());
    let tokens = Account::default().token_server("good", READ);
    let account = key_of(&Account::default(), &tokens.url());
    let bucket = Bucket::new(options(&server.url(), Some(account))).unwrap();
    let error = index(&bucket, "", None).await.unwrap_err();
    assert!(super::chain(&error).contains("invalid_grant"), "{error}");
}

#[test]
fn key_files_that_are_none_are_refused() {
    let parse = |text: &str| {
        let client = source::http::Options::default().client().unwrap();
        KeyFile::parse(text.as_bytes(), client).unwrap_err()
    };
    assert!(matches!(parse("x"), KeyError::Json(_)));
    assert_eq!(
        parse("{\"type\": \"authorized_user\"}"),
        KeyError::Kind("authorized_user".into())
    );
    let keyless = "{\"type\": \"service_account\", \"client_email\": \"a\", \"private_key\": \"geheim\"}";
    assert_eq!(parse(keyless), KeyError::Key);
}
