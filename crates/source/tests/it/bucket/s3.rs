//! Buckets of S3.

use std::fs;
use std::sync::Arc;

use model::digest::Algorithm;
use source::bucket::s3::{Bucket, Credentials, Identity, Key, Options, Sts};
use source::bucket::{Error, Index, download, index};
use testkit::http::Fault;
use testkit::s3::Server;
use testkit::tls::Authority;

use super::chain;

fn key(id: &str, secret: &str) -> Credentials {
    Credentials::Key(Key {
        id: id.into(),
        secret: secret.into(),
        session: None,
    })
}

fn options(server: &Server, credentials: Credentials) -> Options {
    Options {
        endpoint: server.host(),
        bucket: "manifests".into(),
        region: String::new(),
        insecure: true,
        credentials,
        http: source::http::Options::default(),
    }
}

fn bucket(server: &Server) -> Bucket {
    Bucket::new(options(server, key("access", "secret"))).unwrap()
}

fn server() -> Server {
    let server = Server::builder().key("access", "secret").start();
    let bucket = server.bucket("manifests");
    bucket.put("apps/app.yaml", "replicas: 1\n");
    bucket.put("apps/größe +&%.yaml", "x\n");
    bucket.put("apps/", "");
    bucket.put("infra/a.txt", "a");
    server
}

fn keys(index: &Index) -> Vec<&str> {
    index.iter().map(|(key, _)| key).collect()
}

#[tokio::test]
async fn a_bucket_is_listed_and_fetched() {
    let server = server();
    let bucket = bucket(&server);
    let mut index = index(&bucket, "", None).await.unwrap();
    assert_eq!(
        keys(&index),
        ["apps/app.yaml", "apps/größe +&%.yaml", "infra/a.txt"]
    );
    let before = index.digest(Algorithm::Sha256);
    let directory = tempfile::tempdir().unwrap();
    download(&bucket, &mut index, directory.path(), u64::MAX)
        .await
        .unwrap();
    assert_eq!(index.digest(Algorithm::Sha256), before);
    let read = |path: &str| fs::read_to_string(directory.path().join(path)).unwrap();
    assert_eq!(
        (read("apps/app.yaml"), read("apps/größe +&%.yaml")),
        ("replicas: 1\n".into(), "x\n".into())
    );
}

#[tokio::test]
async fn prefix_ignore_file_and_patterns_leave_keys_out() {
    let server = server();
    let store = server.bucket("manifests");
    let bucket = bucket(&server);
    assert_eq!(
        keys(&index(&bucket, "infra/", None).await.unwrap()),
        ["infra/a.txt"]
    );
    store.put(".sourceignore", "*.txt\n");
    store.put("image.png", "not ignored by itself");
    let found = index(&bucket, "", Some("apps/g*\n")).await.unwrap();
    assert_eq!(keys(&found), ["apps/app.yaml", "image.png"]);
    // The file comes along, as Flux has it, though it is no part of the revision.
    let mut found = index(&bucket, "infra/", None).await.unwrap();
    assert_eq!(
        found.digest(Algorithm::Sha256),
        Index::default().digest(Algorithm::Sha256)
    );
    let directory = tempfile::tempdir().unwrap();
    download(&bucket, &mut found, directory.path(), u64::MAX)
        .await
        .unwrap();
    let text = fs::read_to_string(directory.path().join(".sourceignore")).unwrap();
    assert_eq!(text, "*.txt\n");
}

#[tokio::test]
async fn lists_of_many_pages_are_followed() {
    let server = Server::builder().key("access", "secret").start();
    let store = server.bucket("manifests");
    for number in 0..2500 {
        store.put(&format!("{number:04}"), "x");
    }
    let found = index(&bucket(&server), "", None).await.unwrap();
    assert_eq!(found.len(), 2500);
    // The ignore file, and three pages.
    assert_eq!(server.count(http::Method::GET, "manifests"), 4);
}

#[tokio::test]
async fn what_changes_between_list_and_fetch_changes_the_revision() {
    let server = server();
    let store = server.bucket("manifests");
    let bucket = bucket(&server);
    let mut found = index(&bucket, "", None).await.unwrap();
    store.put("apps/app.yaml", "replicas: 2\n");
    store.delete("infra/a.txt");
    let directory = tempfile::tempdir().unwrap();
    download(&bucket, &mut found, directory.path(), u64::MAX)
        .await
        .unwrap();
    assert_eq!(found, index(&bucket, "", None).await.unwrap());
    assert_eq!(
        fs::read_to_string(directory.path().join("apps/app.yaml")).unwrap(),
        "replicas: 2\n"
    );
    assert!(!directory.path().join("infra").exists());
}

#[tokio::test]
async fn a_missing_bucket_and_wrong_keys_are_told_apart_and_no_secret_is_shown() {
    let server = server();
    let missing = Options {
        bucket: "other".into(),
        ..options(&server, key("access", "secret"))
    };
    let error = index(&Bucket::new(missing).unwrap(), "", None).await.unwrap_err();
    let message = error.to_string();
    assert!(
        message.starts_with("bucket 'other' not found: check its name"),
        "{message}"
    );
    for credentials in [key("access", "geheim"), Credentials::Anonymous] {
        let bucket = Bucket::new(options(&server, credentials)).unwrap();
        let error = index(&bucket, "", None).await.unwrap_err();
        assert!(error.is_authentication(), "{}", chain(&error));
        assert!(!format!("{error:?} {bucket:?}").contains("geheim"));
    }
}

#[tokio::test]
async fn a_public_bucket_needs_no_key() {
    let server = Server::start();
    server.bucket("manifests").put("a", "b");
    let bucket = Bucket::new(options(&server, Credentials::Anonymous)).unwrap();
    assert_eq!(keys(&index(&bucket, "", None).await.unwrap()), ["a"]);
}

#[tokio::test]
async fn requests_are_signed_for_the_given_region() {
    let server = Server::builder()
        .key("access", "secret")
        .region("eu-central-1")
        .start();
    server.bucket("manifests").put("a", "b");
    let options = Options {
        region: "eu-central-1".into(),
        ..options(&server, key("access", "secret"))
    };
    assert_eq!(
        index(&Bucket::new(options).unwrap(), "", None)
            .await
            .unwrap()
            .len(),
        1
    );
}

#[tokio::test]
async fn a_token_is_changed_into_a_temporary_key_once() {
    let role = "arn:aws:iam::1:role/reader";
    let server = Server::builder()
        .key("access", "secret")
        .web_identity("token", role)
        .start();
    server.bucket("manifests").put("a", "b");
    let sts = |token: &str| {
        Credentials::Temporary(Arc::new(Sts {
            endpoint: server.url(),
            http: source::http::Options::default(),
            identity: Identity::WebIdentity {
                role: role.into(),
                session: "sluice".into(),
                token: token.to_owned().into(),
            },
        }))
    };
    let bucket = Bucket::new(options(&server, sts("token"))).unwrap();
    let mut found = index(&bucket, "", None).await.unwrap();
    let directory = tempfile::tempdir().unwrap();
    download(&bucket, &mut found, directory.path(), u64::MAX)
        .await
        .unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(server.count(http::Method::POST, ""), 1);
    let bucket = Bucket::new(options(&server, sts("other"))).unwrap();
    let error = index(&bucket, "", None).await.unwrap_err();
    assert!(chain(&error).contains("InvalidIdentityToken"), "{error}");
}

#[tokio::test]
async fn certificates_of_the_server_are_checked() {
    let authority = Authority::new("test");
    let server = Server::builder().key("access", "secret").tls(&authority).start();
    server.bucket("manifests").put("a", "b");
    let mut options = Options {
        insecure: false,
        ..options(&server, key("access", "secret"))
    };
    let error = index(&Bucket::new(options.clone()).unwrap(), "", None)
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Request { .. }), "{}", chain(&error));
    options.http.tls.authorities = Some(authority.pem().into_bytes());
    assert_eq!(
        index(&Bucket::new(options).unwrap(), "", None)
            .await
            .unwrap()
            .len(),
        1
    );
}

#[tokio::test]
async fn a_failing_or_lying_server_is_an_error_and_not_an_empty_bucket() {
    let server = server();
    let bucket = bucket(&server);
    let mut found = index(&bucket, "", None).await.unwrap();
    server.fail(Fault::status(503).on("list-type"));
    assert!(matches!(
        index(&bucket, "", None).await,
        Err(Error::Status { status: 503, .. })
    ));
    server.fail(Fault::truncate(40).on("list-type"));
    assert!(index(&bucket, "", None).await.is_err());
    server.fail(Fault::truncate(3).on("app.yaml"));
    let directory = tempfile::tempdir().unwrap();
    assert!(
        download(&bucket, &mut found, directory.path(), u64::MAX)
            .await
            .is_err()
    );
}

#[test]
fn an_endpoint_is_a_host() {
    for endpoint in ["", "https://host", "user@host", "host/path"] {
        let options = Options {
            endpoint: endpoint.into(),
            bucket: "b".into(),
            region: String::new(),
            insecure: false,
            credentials: Credentials::Anonymous,
            http: source::http::Options::default(),
        };
        assert!(
            matches!(Bucket::new(options), Err(Error::Endpoint(_))),
            "{endpoint}"
        );
    }
}

#[tokio::test]
async fn a_user_of_a_directory_gets_a_temporary_key() {
    let server = Server::builder().key("temporary", "secret").start();
    server.bucket("manifests").put("a", "b");
    let sts = testkit::http::Server::serve(|request: &testkit::http::Request| {
        let body = String::from_utf8_lossy(&request.body).into_owned();
        let wanted =
            "Action=AssumeRoleWithLDAPIdentity&LDAPPassword=geheim%26&LDAPUsername=me&Version=2011-06-15";
        if body != wanted {
            return testkit::http::Reply::text(
                "<ErrorResponse><Error><Code>AccessDenied</Code></Error></ErrorResponse>",
            )
            .with_status(403);
        }
        testkit::http::Reply::text(
            "<AssumeRoleWithLDAPIdentityResponse><AssumeRoleWithLDAPIdentityResult><Credentials>\
             <AccessKeyId>temporary</AccessKeyId><SecretAccessKey>secret</SecretAccessKey>\
             </Credentials></AssumeRoleWithLDAPIdentityResult></AssumeRoleWithLDAPIdentityResponse>",
        )
    });
    for (password, fine) in [("geheim&", true), ("other", false)] {
        let credentials = Credentials::Temporary(Arc::new(Sts {
            endpoint: sts.url(),
            http: source::http::Options::default(),
            identity: Identity::Ldap {
                user: "me".into(),
                password: password.to_owned().into(),
            },
        }));
        let bucket = Bucket::new(options(&server, credentials)).unwrap();
        let found = index(&bucket, "", None).await;
        assert_eq!(found.is_ok(), fine);
        assert!(fine || found.unwrap_err().is_authentication());
    }
}
