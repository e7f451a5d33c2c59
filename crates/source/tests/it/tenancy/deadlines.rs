//! No server keeps a client waiting for ever, be it silent or slow.
//!
//! Time stands still while a test has anything to do, and jumps to the next deadline when it only waits. So an hour passes at
//! once, and a client without a deadline of its own meets that of the test.

use std::time::Duration;

use secrecy::SecretString;
use source::store::fetch;
use source::{http, kms};
use testkit::http::{Fault, Reply, Request, Server};
use tokio::time::timeout;

const VERY_LONG: Duration = Duration::from_secs(24 * 60 * 60);

type Text = Server<fn(&Request) -> Reply>;

fn silent() -> Text {
    let server: Text = Server::serve(|_| Reply::text("content"));
    server.fail(Fault::hang().forever());
    server
}

/// One that sends a byte each second of real time, and takes a day with it.
fn dripping() -> Text {
    let server: Text = Server::serve(|_| Reply::text("c".repeat(86_400)));
    server.fail(Fault::slow(1, Duration::from_secs(1)).forever());
    server
}

#[tokio::test(start_paused = true)]
async fn every_client_has_a_deadline() {
    for server in [silent(), dripping()] {
        for limit in [None, Some(Duration::from_secs(5)), Some(100 * VERY_LONG)] {
            let options = http::Options {
                timeout: limit,
                ..http::Options::default()
            };
            let client = options.client().unwrap();
            let answer = async { client.get(server.url()).send().await?.bytes().await };
            let error = timeout(VERY_LONG, answer).await.expect("a deadline").unwrap_err();
            assert!(error.is_timeout(), "{error:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn key_services_have_a_deadline() {
    // As those make it who say nothing about time.
    let client = reqwest::Client::new();
    let token = SecretString::from("t");
    for server in [silent(), dripping()] {
        let request = kms::vault::Request {
            address: &server.url(),
            engine_path: "transit",
            key_name: "k",
            ciphertext: "vault:v1:x",
        };
        let asked = kms::vault::decrypt(&client, &token, &request);
        let error = timeout(VERY_LONG, asked).await.expect("a deadline").unwrap_err();
        assert!(error.to_string().contains("did not answer in time"), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn downloads_of_artifacts_have_a_deadline() {
    let client = reqwest::Client::new();
    let digest = format!("sha256:{}", "0".repeat(64));
    for (server, what) in [(silent(), "no answer"), (dripping(), "")] {
        let url = format!("{}/a/b/c/d.tar.gz", server.url());
        let options = fetch::Options::default();
        let fetched = fetch::fetch(&client, &url, &digest, &options);
        let error = timeout(VERY_LONG, fetched)
            .await
            .expect("a deadline")
            .unwrap_err();
        assert!(matches!(error, fetch::Error::Timeout { .. }), "{error:?}");
        assert!(error.to_string().contains(what), "{error}");
    }
}

#[tokio::test]
async fn a_download_that_drips_is_given_up_as_a_whole() {
    let server: Text = Server::serve(|_| Reply::text("c".repeat(1000)));
    server.fail(Fault::slow(1, Duration::from_millis(20)).forever());
    let options = fetch::Options {
        timeout: Duration::from_millis(500),
        ..fetch::Options::default()
    };
    let digest = format!("sha256:{}", "0".repeat(64));
    let client = reqwest::Client::new();
    let error = fetch::fetch(&client, &format!("{}/a", server.url()), &digest, &options)
        .await
        .unwrap_err();
    assert!(error.to_string().contains("not complete after 500ms"), "{error}");
}
