//! Buckets of Google Cloud Storage, against a server that answers as its JSON interface does.

use std::fs;
use std::sync::Arc;

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der};
use aws_lc_rs::rsa::{KeyPair, KeySize};
use aws_lc_rs::signature::{KeyPair as _, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use source::bucket::gcs::{Bucket, KeyError, KeyFile, Options};
use source::bucket::{Error, download, index};
use source::identity::CredentialSource;
use testkit::http::{Reply, Request, Server};

const OBJECTS: [(&str, &str, &str); 3] = [
    ("apps/a b.yaml", "CAE=", "replicas: 1\n"),
    ("apps/c.yaml", "CAI=", "x\n"),
    ("d.txt", "CAM=", "y\n"),
];

/// A bucket `manifests`, listed one object at a time, for the holder of a token.
fn reply(request: &Request) -> Reply {
    if request.header("authorization") != Some("Bearer good") {
        return Reply::status(401);
    }
    let segments = request.segments();
    let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
    match segments.as_slice() {
        ["storage", "v1", "b", "manifests"] => Reply::json(json!({"name": "manifests"}).to_string()),
        ["storage", "v1", "b", "manifests", "o"] => {
            let prefix = request.query("prefix").unwrap_or_default();
            let found: Vec<_> = OBJECTS
                .iter()
                .filter(|object| object.0.starts_with(&prefix))
                .collect();
            let at: usize = request
                .query("pageToken")
                .map_or(0, |token| token.parse().unwrap());
            let (name, etag, _) = found[at];
            let mut list = json!({"items": [{"name": name, "etag": etag}]});
            if at + 1 < found.len() {
                list["nextPageToken"] = json!((at + 1).to_string());
            }
            Reply::json(list.to_string())
        }
        ["storage", "v1", "b", "manifests", "o", key] => {
            let Some((_, etag, content)) = OBJECTS.iter().find(|object| object.0 == *key) else {
                return Reply::status(404);
            };
            match request.query("alt").as_deref() {
                Some("media") if request.query("ifGenerationMatch").as_deref() == Some("7") => {
                    Reply::text(*content)
                }
                Some(_) => Reply::status(412),
                None => Reply::json(json!({"etag": etag, "generation": "7"}).to_string()),
            }
        }
        _ => Reply::status(404),
    }
}

/// A token server that checks the signature of the claim.
fn token_server(public: Vec<u8>) -> Server<impl testkit::http::Service> {
    Server::serve(move |request: &Request| {
        let body = String::from_utf8_lossy(&request.body).into_owned();
        let assertion = body
            .split('&')
            .find_map(|pair| pair.strip_prefix("assertion="))
            .unwrap()
            .to_owned();
        let (text, signature) = assertion.rsplit_once('.').unwrap();
        let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
        let key = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, &public);
        if key.verify(text.as_bytes(), &signature).is_err() {
            return Reply::json(json!({"error": "invalid_grant"}).to_string()).with_status(400);
        }
        let claims = text.split('.').nth(1).unwrap();
        let claims: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).unwrap()).unwrap();
        assert_eq!(claims["iss"], "reader@example.iam.gserviceaccount.com");
        Reply::json(json!({"access_token": "good", "expires_in": 3600}).to_string())
    })
}

fn account(key: &KeyPair, token_uri: &str) -> KeyFile {
    let der: Pkcs8V1Der<'_> = key.as_der().unwrap();
    let pem = format!(
        "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n",
        STANDARD.encode(der.as_ref())
    );
    let file = json!({
        "type": "service_account",
        "client_email": "reader@example.iam.gserviceaccount.com",
        "private_key": pem,
        "private_key_id": "1",
        "token_uri": token_uri,
    });
    let client = source::http::Options::default().client().unwrap();
    KeyFile::parse(file.to_string().as_bytes(), client).unwrap()
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
    let server = Server::serve(reply);
    let key = KeyPair::generate(KeySize::Rsa2048).unwrap();
    let tokens = token_server(key.public_key().as_ref().to_vec());
    let account: Arc<dyn CredentialSource> = Arc::new(account(&key, &tokens.url()));
    let bucket = Bucket::new(options(&server.url(), Some(account.clone()))).unwrap();
    let found = index(&bucket, "", None).await.unwrap();
    let listed: Vec<_> = found.iter().collect();
    assert_eq!(
        listed,
        [
            ("apps/a b.yaml", "CAE="),
            ("apps/c.yaml", "CAI="),
            ("d.txt", "CAM=")
        ]
    );
    let mut found = index(&bucket, "apps/", Some("c.yaml")).await.unwrap();
    found.insert("gone", "CAQ=");
    let directory = tempfile::tempdir().unwrap();
    download(&bucket, &mut found, directory.path()).await.unwrap();
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
    let server = Server::serve(reply);
    let bucket = Bucket::new(options(&server.url(), None)).unwrap();
    assert!(index(&bucket, "", None).await.unwrap_err().is_authentication());
    let key = KeyPair::generate(KeySize::Rsa2048).unwrap();
    let other = KeyPair::generate(KeySize::Rsa2048).unwrap();
    let tokens = token_server(other.public_key().as_ref().to_vec());
    let account: Arc<dyn CredentialSource> = Arc::new(account(&key, &tokens.url()));
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
