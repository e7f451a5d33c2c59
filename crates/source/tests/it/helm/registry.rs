//! Charts in an OCI registry.

use std::sync::Arc;

use futures::future::BoxFuture;
use http::Method;
use model::Digest;
use source::helm::build::{Content, Options, Stored, from_repository};
use source::helm::registry::ChartVerifier;
use source::helm::{ChartFetcher, Registry, Verified};
use source::oci::{Client, Keychain, Repository, Session};
use testkit::helm::Chart;
use testkit::oci::{Artifact, Server};

use super::{archive, chain};

fn charts(server: &Server) -> Registry {
    let options = source::oci::Options {
        pauses: Vec::new(),
        ..source::oci::Options::default()
    };
    let client = Client::new(&options, Keychain::anonymous(), &Session::new()).unwrap();
    Registry::new(&format!("oci://{}/team/charts/", server.host()), client)
}

fn server() -> Server {
    let server = Server::start();
    for version in ["1.0.0", "1.5.0", "2.0.0-rc.1"] {
        server.push("team/charts/app", version, &Chart::new("app", version).artifact());
    }
    let built = Chart::new("app", "1.5.1+b.1");
    server.push("team/charts/app", "1.5.1_b.1", &built.artifact());
    server.push(
        "team/charts/app",
        "v9.0.0",
        &Chart::new("app", "9.0.0").artifact(),
    );
    server
}

#[tokio::test]
async fn an_exact_version_is_fetched_without_listing_tags() {
    let server = server();
    let built = from_repository(&charts(&server), "app", "1.0.0", &Options::default())
        .await
        .unwrap();
    assert_eq!(archive(&built), Chart::new("app", "1.0.0").archive());
    assert_eq!(server.count(Method::GET, "tags/list"), 0);
}

#[tokio::test]
async fn the_highest_tag_of_a_range_is_taken_and_plus_is_written_as_underscore() {
    let server = server();
    let registry = charts(&server);
    for (wanted, version) in [
        ("1.x", "1.5.1+b.1"),
        ("", "1.5.1+b.1"),
        (">=2.0.0-0", "2.0.0-rc.1"),
        ("~1.0", "1.0.0"),
    ] {
        assert_eq!(
            registry.find("app", wanted).await.unwrap().version,
            version,
            "{wanted}"
        );
    }
    let built = from_repository(&registry, "app", "1.x", &Options::default())
        .await
        .unwrap();
    assert_eq!(archive(&built), Chart::new("app", "1.5.1+b.1").archive());
}

#[tokio::test]
async fn what_is_missing_or_no_chart_is_a_failed_pull() {
    let server = server();
    server.push("team/charts/files", "1.0.0", &Artifact::files(&[("a", "b")]));
    let registry = charts(&server);
    for (name, version, text) in [
        (
            "app",
            "3.x",
            "could not locate a version matching provided version string 3.x",
        ),
        ("app", "3.0.0", "was not found"),
        ("other", "*", "was not found"),
        ("files", "1.0.0", "is no chart"),
    ] {
        let error = from_repository(&registry, name, version, &Options::default())
            .await
            .unwrap_err();
        assert_eq!((error.reason(), error.is_stalling()), ("ChartPullError", false));
        assert!(chain(&error).contains(text), "{}", chain(&error));
    }
    let locked = Server::builder().basic("me", "geheim").start();
    let error = from_repository(&charts(&locked), "app", "1.0.0", &Options::default())
        .await
        .unwrap_err();
    assert_eq!(error.reason(), "AuthenticationFailed", "{}", chain(&error));
}

/// Takes one digest for signed.
struct Only(Digest);

impl ChartVerifier for Only {
    fn verify<'a>(
        &'a self,
        _: &'a Repository,
        digest: Digest,
    ) -> BoxFuture<'a, Result<Verified, Box<dyn std::error::Error + Send + Sync>>> {
        Box::pin(async move {
            match digest == self.0 {
                true => Ok(Verified::Good),
                false => Err("no signature".into()),
            }
        })
    }
}

#[tokio::test]
async fn a_chart_is_verified_also_when_it_is_stored() {
    let server = server();
    let signed = server
        .digest("team/charts/app", "1.0.0")
        .unwrap()
        .parse()
        .unwrap();
    let registry = || charts(&server).with_verifier(Arc::new(Only(signed)));
    let stored = Stored {
        name: "app".into(),
        version: "1.0.0".into(),
        values_files: None,
    };
    let options = Options {
        stored: Some(stored),
        ..Options::default()
    };
    let built = from_repository(&registry(), "app", "1.0.0", &options)
        .await
        .unwrap();
    assert_eq!((built.verified, built.content), (Verified::Good, Content::Stored));
    let built = from_repository(&registry(), "app", "1.0.0", &Options::default())
        .await
        .unwrap();
    assert_eq!(
        (built.verified, archive(&built)),
        (Verified::Good, Chart::new("app", "1.0.0").archive().as_slice())
    );
    let error = from_repository(&registry(), "app", "1.5.0", &options)
        .await
        .unwrap_err();
    assert_eq!(
        (error.reason(), error.is_stalling()),
        ("ChartVerificationError", false)
    );
}
