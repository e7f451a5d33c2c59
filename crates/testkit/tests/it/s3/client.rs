//! The bucket through `object_store`.

use std::time::Duration;

use futures::TryStreamExt;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path;
use object_store::signer::Signer;
use object_store::{GetOptions, ObjectStore, ObjectStoreExt, RetryConfig};
use testkit::clock::Clock;
use testkit::http::{Client, Fault, Method};
use testkit::s3::{Key, Server};

fn builder(server: &Server) -> AmazonS3Builder {
    AmazonS3Builder::new()
        .with_endpoint(server.url())
        .with_allow_http(true)
        .with_bucket_name("mine")
        .with_region("us-east-1")
        .with_access_key_id("access")
        .with_secret_access_key("secret")
        // One object is deleted with one request, which is what the server knows.
        .with_disable_bulk_delete(true)
        .with_retry(RetryConfig {
            max_retries: 0,
            ..RetryConfig::default()
        })
}

fn start() -> (Server, AmazonS3) {
    let server = Server::builder().key("access", "secret").start();
    server.bucket("mine");
    let client = builder(&server).build().unwrap();
    (server, client)
}

async fn error(client: &AmazonS3) -> String {
    format!("{:?}", client.get(&Path::from("key")).await.unwrap_err())
}

#[tokio::test]
async fn objects_are_written_read_listed_and_deleted() {
    let (server, client) = start();
    // What must be escaped in a path and in a signature.
    let keys = ["apps/a b.yaml", "apps/ä+&=%.yaml", "other/(c).yaml"];
    for key in keys {
        client
            .put(&Path::parse(key).unwrap(), key.to_string().into())
            .await
            .unwrap();
    }
    let mut expected = keys.to_vec();
    expected.sort_unstable();
    assert_eq!(server.bucket("mine").keys(), expected);
    for key in keys {
        let got = client.get(&Path::parse(key).unwrap()).await.unwrap();
        assert_eq!(got.bytes().await.unwrap(), key);
    }
    let listed: Vec<_> = client
        .list(Some(&Path::from("apps")))
        .try_collect()
        .await
        .unwrap();
    assert_eq!(listed.len(), 2);
    let top = client.list_with_delimiter(None).await.unwrap();
    assert_eq!(top.common_prefixes, [Path::from("apps"), Path::from("other")]);
    client.delete(&Path::parse(keys[0]).unwrap()).await.unwrap();
    assert_eq!(server.bucket("mine").keys().len(), 2);
}

#[tokio::test]
async fn long_lists_come_in_pages() {
    let (server, client) = start();
    let bucket = server.bucket("mine");
    for number in 0..2500 {
        bucket.put(&format!("key-{number:04}"), "x");
    }
    let listed: Vec<_> = client.list(None).try_collect().await.unwrap();
    assert_eq!(listed.len(), 2500);
    assert_eq!(server.count(Method::GET, "/mine"), 3);
}

#[tokio::test]
async fn what_did_not_change_is_not_sent_again() {
    let (server, client) = start();
    server.bucket("mine").put("key", "0123456789");
    let path = Path::from("key");
    let head = client.head(&path).await.unwrap();
    assert_eq!(head.size, 10);
    let options = GetOptions {
        if_none_match: head.e_tag,
        ..GetOptions::default()
    };
    let same = client.get_opts(&path, options).await.unwrap_err();
    assert!(
        matches!(same, object_store::Error::NotModified { .. }),
        "{same:?}"
    );
    assert_eq!(client.get_range(&path, 2..5).await.unwrap(), "234");
}

#[tokio::test]
async fn wrong_keys_are_refused_by_name() {
    let (server, client) = start();
    server.bucket("mine").put("key", "x");
    let wrong = builder(&server).with_secret_access_key("wrong").build().unwrap();
    assert!(error(&wrong).await.contains("SignatureDoesNotMatch"));
    let unknown = builder(&server).with_access_key_id("unknown").build().unwrap();
    assert!(error(&unknown).await.contains("InvalidAccessKeyId"));
    let elsewhere = builder(&server).with_region("eu-west-1").build().unwrap();
    let elsewhere = error(&elsewhere).await;
    assert!(
        elsewhere.contains("the region 'eu-west-1' is wrong; expecting 'us-east-1'"),
        "{elsewhere}"
    );
    let anonymous = builder(&server).with_skip_signature(true).build().unwrap();
    assert!(error(&anonymous).await.contains("AccessDenied"));
    let session = builder(&server).with_token("session").build().unwrap();
    assert!(error(&session).await.contains("InvalidToken"));
    server.set_keys(&[Key {
        session: Some("session".into()),
        ..Key::new("access", "secret")
    }]);
    assert!(session.get(&Path::from("key")).await.is_ok());
    assert!(error(&client).await.contains("InvalidToken"));
}

#[tokio::test]
async fn an_old_signature_is_refused() {
    let server = Server::builder()
        .key("access", "secret")
        .clock(&Clock::at("2020-01-01T00:00:00Z"))
        .start();
    server.bucket("mine").put("key", "x");
    let late = error(&builder(&server).build().unwrap()).await;
    assert!(late.contains("RequestTimeTooSkewed"), "{late}");
}

#[tokio::test]
async fn a_signed_address_is_good_for_a_while() {
    let (server, client) = start();
    server.bucket("mine").put("a b", "x");
    let url = client
        .signed_url(http::Method::GET, &Path::from("a b"), Duration::from_secs(60))
        .await
        .unwrap();
    assert_eq!(Client::new().get(url.as_str()).await.unwrap().text(), "x");
    let other = url.as_str().replace("a%20b", "other");
    assert!(
        Client::new()
            .get(&other)
            .await
            .unwrap()
            .text()
            .contains("SignatureDoesNotMatch")
    );
    let longer = url.as_str().replace("Expires=60", "Expires=600");
    assert!(
        Client::new()
            .get(&longer)
            .await
            .unwrap()
            .text()
            .contains("SignatureDoesNotMatch")
    );
}

#[tokio::test]
async fn buckets_can_be_named_by_the_host() {
    let server = Server::builder().key("access", "secret").start();
    server.bucket("mine").put("key", "x");
    // The name must lead to this machine; systems differ in whether they know names below localhost.
    let endpoint = format!("http://mine.localhost:{}", server.address().port());
    if tokio::net::lookup_host(("mine.localhost", server.address().port()))
        .await
        .is_err()
    {
        assert!(
            std::env::var("CI").as_deref() != Ok("true"),
            "this machine does not resolve names below localhost: add mine.localhost to /etc/hosts"
        );
        eprintln!("skipped: this machine does not resolve names below localhost");
        return;
    }
    let client = builder(&server)
        .with_endpoint(endpoint)
        .with_virtual_hosted_style_request(true)
        .build()
        .unwrap();
    assert_eq!(
        client
            .get(&Path::from("key"))
            .await
            .unwrap()
            .bytes()
            .await
            .unwrap(),
        "x"
    );
}

#[tokio::test]
async fn faults_are_noticed_and_retried() {
    let (server, client) = start();
    server.bucket("mine").put("key", "x");
    server.fail(Fault::status(503));
    assert!(client.get(&Path::from("key")).await.is_err());
    let patient = builder(&server)
        .with_retry(RetryConfig::default())
        .build()
        .unwrap();
    server.fail(Fault::status(503));
    assert!(patient.get(&Path::from("key")).await.is_ok());
}
