//! Fetching from a repository over HTTP.

use model::Digest;
use sha2::{Digest as _, Sha256};
use source::helm::repository::{Error, HalfLogin, MAX_INDEX_SIZE, Options, login};
use source::helm::{ChartFetcher, FetchError, Index, Repository};
use source::http::Login;
use testkit::helm::{Chart, Server};
use testkit::http::Fault;
use testkit::tls::Authority;

use super::{chain, repository};

fn options(url: &str) -> Options {
    Options {
        login: Some(Login {
            user: "me".into(),
            password: "geheim".into(),
        }),
        ..Options::new(url)
    }
}

#[tokio::test]
async fn the_index_is_fetched_with_the_digest_of_its_bytes() {
    let server = Server::start();
    server.add(&Chart::new("podinfo", "6.1.0"));
    server.add(&Chart::new("podinfo", "6.10.0"));
    let directory = tempfile::tempdir().unwrap();
    let fetched = repository(&server).fetch_index(directory.path()).await.unwrap();
    let bytes = std::fs::read(&fetched.file).unwrap();
    assert_eq!(fetched.digest, Digest::sha256(Sha256::digest(&bytes).into()));
    assert_eq!(fetched.size, bytes.len() as u64);
    let index = Index::open(fetched.file.to_path_buf()).unwrap();
    let versions = index.versions("podinfo").unwrap().unwrap();
    assert_eq!(versions.len(), 2);
}

#[tokio::test]
async fn a_stored_index_is_used_instead_of_fetching_it() {
    let server = Server::start();
    server.add(&Chart::new("podinfo", "6.1.0"));
    let directory = tempfile::tempdir().unwrap();
    let fetched = repository(&server).fetch_index(directory.path()).await.unwrap();
    let stored = directory.path().join("index.json");
    let index = Index::open(fetched.file.to_path_buf()).unwrap();
    index
        .write_json(&mut std::fs::File::create(&stored).unwrap())
        .unwrap();
    server.forget_requests();
    let repository = repository(&server).with_index(&stored);
    let found = repository.find("podinfo", "6.x").await.unwrap();
    assert_eq!(found.version, "6.1.0");
    assert!(!repository.download(&found).await.unwrap().is_empty());
    assert_eq!(server.count(http::Method::GET, "index.yaml"), 0);
}

#[tokio::test]
async fn an_index_that_is_too_large_is_refused() {
    let server = Server::start();
    server.generate(20, 20);
    let options = Options {
        max_index_size: 10_000,
        ..Options::new(server.url())
    };
    let directory = tempfile::tempdir().unwrap();
    let error = Repository::new(options)
        .unwrap()
        .fetch_index(directory.path())
        .await
        .unwrap_err();
    assert!(matches!(error, Error::TooLarge { limit: 10_000, .. }), "{error}");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    assert_eq!(MAX_INDEX_SIZE, 50 * 1024 * 1024);
}

#[tokio::test]
async fn wrong_credentials_are_told_apart_from_other_failures_and_never_shown() {
    let server = Server::builder().basic("me", "other").start();
    server.add(&Chart::new("podinfo", "6.1.0"));
    let repository = Repository::new(options(&server.url())).unwrap();
    let error = repository.find("podinfo", "").await.unwrap_err();
    assert!(matches!(error, FetchError::Authentication(_)));
    let text = chain(&error);
    assert!(text.contains("index.yaml : 401"), "{text}");
    assert!(!text.contains("geheim") && !format!("{error:?} {repository:?}").contains("geheim"));
}

#[tokio::test]
async fn credentials_go_to_other_servers_only_if_that_is_wanted() {
    let charts = Server::start();
    charts.add(&Chart::new("podinfo", "6.1.0"));
    let server = Server::builder().basic("me", "geheim").start();
    let entry = format!(
        "- name: podinfo\n    version: 6.1.0\n    urls: [\"{}/podinfo-6.1.0.tgz\"]",
        charts.url()
    );
    server.set_index(&format!("apiVersion: v1\nentries:\n  podinfo:\n  {entry}\n"));
    for (pass, expected) in [(false, ""), (true, "Basic ")] {
        charts.forget_requests();
        let options = Options {
            pass_credentials: pass,
            ..options(&server.url())
        };
        let repository = Repository::new(options).unwrap();
        let found = repository.find("podinfo", "").await.unwrap();
        repository.download(&found).await.unwrap();
        let sent = charts.requests()[0].header("authorization").to_owned();
        assert_eq!(sent.is_empty(), expected.is_empty());
        assert!(sent.starts_with(expected));
    }
}

#[test]
fn half_a_pair_of_credentials_is_refused() {
    assert_eq!(login(Some("me".into()), None).unwrap_err(), HalfLogin("username"));
    assert_eq!(login(None, Some("x".into())).unwrap_err(), HalfLogin("password"));
    assert!(login(None, None).unwrap().is_none());
    assert!(login(Some("me".into()), Some("x".into())).unwrap().is_some());
}

#[tokio::test]
async fn authorities_and_client_certificates_are_used() {
    let authority = Authority::new("test");
    let server = Server::builder()
        .tls(&authority)
        .client_certificates(&authority)
        .start();
    server.add(&Chart::new("podinfo", "6.1.0"));
    let mut options = Options::new(server.url());
    let error = Repository::new(options.clone())
        .unwrap()
        .find("podinfo", "")
        .await
        .unwrap_err();
    assert!(
        matches!(error, FetchError::Authentication(_)),
        "{}",
        chain(&error)
    );
    let identity = authority.client("me");
    options.http.tls.authorities = Some(authority.pem().into_bytes());
    options.http.tls.certificate = Some(identity.certificate.clone().into_bytes());
    options.http.tls.key = Some(identity.key.clone().into());
    let found = Repository::new(options)
        .unwrap()
        .find("podinfo", "")
        .await
        .unwrap();
    assert_eq!(found.version, "6.1.0");
}

#[tokio::test]
async fn a_broken_entry_does_not_break_the_index() {
    let server = Server::start();
    server.set_index(
        "apiVersion: v1\nentries:\n  a:\n  - name: a\n    version: nonsense\n  - name: a\n    version: 1.0.0\n    urls: [a.tgz]\n  - \"text\"\n  b:\n  - name: {a: 1}\n",
    );
    let found = repository(&server).find("a", "").await.unwrap();
    assert_eq!(
        (found.version.as_str(), found.urls[0].as_str()),
        ("1.0.0", "a.tgz")
    );
}

#[tokio::test]
async fn what_is_not_there_is_a_wrong_reference_and_a_dead_server_is_not() {
    let server = Server::start();
    server.add(&Chart::new("podinfo", "6.1.0"));
    let repository = repository(&server);
    for (chart, version, text) in [
        (
            "other",
            "",
            "no chart name found: the repository has no chart 'other': check its name",
        ),
        (
            "podinfo",
            "7.x",
            "no 'podinfo' chart with version matching '7.x' found: check the version and those that the repository has",
        ),
    ] {
        let error = repository.find(chart, version).await.unwrap_err();
        assert!(matches!(error, FetchError::Reference(_)));
        assert_eq!(error.to_string(), text);
    }
    let found = repository.find("podinfo", "").await.unwrap();
    server.fail(Fault::status(503).on("podinfo-6.1.0.tgz"));
    let error = repository.download(&found).await.unwrap_err();
    assert!(matches!(error, FetchError::External(_)));
    assert!(error.to_string().contains("503"), "{error}");
}

#[tokio::test]
async fn the_provenance_is_fetched_where_there_is_one() {
    let server = Server::start();
    server.add(&Chart::new("plain", "1.0.0"));
    server.add_signed(&Chart::new("signed", "1.0.0"), |_| "proof".to_owned());
    let repository = repository(&server);
    let signed = repository.find("signed", "").await.unwrap();
    let proof = repository.provenance(&signed).await.unwrap();
    assert_eq!(proof.as_deref(), Some(b"proof".as_slice()));
    let plain = repository.find("plain", "").await.unwrap();
    assert_eq!(repository.provenance(&plain).await.unwrap(), None);
}
