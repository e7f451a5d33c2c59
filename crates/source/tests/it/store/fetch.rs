//! Artifacts over HTTP, for consumers elsewhere.

use std::io::Read;
use std::time::Duration;

use model::digest::Algorithm;
use source::archive::Hasher;
use source::store::fetch::{Error, Options, fetch};
use testkit::http::{Fault, Reply, Request, Server};

fn options() -> Options {
    Options {
        retries: 3,
        shortest_wait: Duration::from_millis(1),
        longest_wait: Duration::from_millis(2),
        ..Options::default()
    }
}

type Files = Server<fn(&Request) -> Reply>;

fn server() -> Files {
    Server::serve(|request| match request.path() {
        PATH => Reply::text("content"),
        _ => Reply::status(404),
    })
}

fn digest() -> String {
    Hasher::digest(Algorithm::Sha256, b"content").to_string()
}

async fn get(server: &Files, path: &str, digest: &str, options: &Options) -> Result<String, Error> {
    let client = source::http::Options::default().client().unwrap();
    let url = format!("{}{path}", server.url());
    let mut text = String::new();
    let mut file = fetch(&client, &url, digest, options).await?;
    file.read_to_string(&mut text).unwrap();
    Ok(text)
}

const PATH: &str = "/bucket/apps/a/1.tar.gz";

#[tokio::test]
async fn an_artifact_comes_with_any_form_of_its_digest() {
    let server = server();
    for algorithm in Algorithm::ALL {
        let digest = Hasher::digest(algorithm, b"content").to_string();
        assert_eq!(get(&server, PATH, &digest, &options()).await.unwrap(), "content");
    }
    let digest = digest();
    let hex = digest.strip_prefix("sha256:").unwrap();
    assert_eq!(get(&server, PATH, hex, &options()).await.unwrap(), "content");
}

#[tokio::test]
async fn a_missing_artifact_is_told_apart_and_not_asked_for_again() {
    let server = server();
    let error = get(&server, "/gone", &digest(), &options()).await.unwrap_err();
    assert!(matches!(error, Error::NotFound { .. }), "{error:?}");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_wrong_digest_is_refused() {
    let server = server();
    let wrong = Hasher::digest(Algorithm::Sha256, b"other").to_string();
    let error = get(&server, PATH, &wrong, &options()).await.unwrap_err();
    assert!(matches!(error, Error::Mismatch { .. }), "{error:?}");
    for none in ["", "sha256:", "md5:00", "sha256:zz"] {
        let error = get(&server, PATH, none, &options()).await.unwrap_err();
        assert!(matches!(error, Error::Digest { .. }), "{none:?}: {error:?}");
    }
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn what_passes_is_tried_again() {
    let server = server();
    for fault in [
        Fault::status(503).times(2),
        Fault::status(429).header("Retry-After", "3600").times(1),
        Fault::drop_connection().times(2),
        Fault::truncate(3).times(1),
    ] {
        server.fail(fault);
        assert_eq!(
            get(&server, PATH, &digest(), &options()).await.unwrap(),
            "content"
        );
    }
}

#[tokio::test]
async fn what_does_not_pass_is_told_after_the_last_try() {
    let server = server();
    server.fail(Fault::status(503).times(4));
    let error = get(&server, PATH, &digest(), &options()).await.unwrap_err();
    assert!(
        matches!(error, Error::Status { status, .. } if status == 503),
        "{error:?}"
    );
    assert_eq!(server.requests().len(), 4);
    server.fail(Fault::status(403).times(1));
    let error = get(&server, PATH, &digest(), &options()).await.unwrap_err();
    assert!(
        matches!(error, Error::Status { status, .. } if status == 403),
        "{error:?}"
    );
    assert_eq!(server.requests().len(), 5);
}

/// A11: nine retries, after 5, 10, 20 and then 30 seconds each
#[tokio::test(start_paused = true)]
async fn a_server_that_is_not_there_is_tried_as_often_and_as_long_as_flux_does() {
    let client = source::http::Options::default().client().unwrap();
    // Nobody may listen on this port but the system's own multiplexer, which nobody runs.
    let url = format!("http://127.0.0.1:1{PATH}");
    let start = tokio::time::Instant::now();
    let error = fetch(&client, &url, &digest(), &Options::default())
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Request { .. }), "{error:?}");
    let expected = Duration::from_secs(5 + 10 + 20 + 6 * 30);
    let took = start.elapsed();
    assert!(
        took >= expected && took < expected + Duration::from_secs(1),
        "{took:?}"
    );
}

#[tokio::test]
async fn more_than_allowed_is_not_downloaded() {
    let server = server();
    let options = Options {
        largest: 6,
        ..options()
    };
    let error = get(&server, PATH, &digest(), &options).await.unwrap_err();
    assert!(matches!(error, Error::TooLarge { largest: 6, .. }), "{error:?}");
}

#[tokio::test]
async fn another_host_can_be_asked() {
    let server = server();
    let host = server.url().trim_start_matches("http://").to_owned();
    let options = Options {
        host: Some(host),
        ..options()
    };
    let client = source::http::Options::default().client().unwrap();
    let url = format!("http://source-controller.flux-system.svc.cluster.local.{PATH}");
    fetch(&client, &url, &digest(), &options).await.unwrap();
    let error = fetch(&client, "no url", &digest(), &options).await.unwrap_err();
    assert!(matches!(error, Error::Url { .. }), "{error:?}");
}
