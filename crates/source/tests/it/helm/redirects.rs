//! Helm repositories that lead elsewhere.

use source::helm::repository::{Error, Options};
use source::helm::{ChartFetcher, Repository};
use source::http::Login;
use testkit::helm::{Chart, Server};
use testkit::http::Fault;
use testkit::tls::Authority;

use super::chain;

fn options(url: &str) -> Options {
    let login = Login {
        user: "me".into(),
        password: "geheim".into(),
    };
    Options {
        login: Some(login),
        ..Options::new(url)
    }
}

/// Most hosts lead from `http` to `https` like this. Charts are asked for where the repository was said to be.
#[tokio::test]
async fn credentials_go_along_from_http_to_https_on_the_same_host() {
    let authority = Authority::default();
    let target = Server::builder().basic("me", "geheim").tls(&authority).start();
    target.add(&Chart::new("podinfo", "6.1.0"));
    let origin = Server::start();
    origin.fail(Fault::redirect(301, &target.url()).forever());
    let mut options = options(&origin.url());
    options.http.tls.authorities = Some(authority.pem().into_bytes());
    let repository = Repository::new(options).unwrap();
    let found = repository.find("podinfo", "").await.unwrap();
    assert!(!repository.download(&found).await.unwrap().is_empty());
}

#[tokio::test]
async fn another_host_gets_no_credentials_and_who_is_refused_there_is_told_of_it() {
    let target = Server::builder().basic("me", "geheim").start();
    let elsewhere = target.url().replace("127.0.0.1", "localhost");
    let origin = Server::start();
    origin.fail(Fault::redirect(307, &elsewhere).forever());
    for pass_credentials in [false, true] {
        let options = Options {
            pass_credentials,
            ..options(&origin.url())
        };
        let error = Repository::new(options)
            .unwrap()
            .find("podinfo", "")
            .await
            .unwrap_err();
        let told = format!("redirected to {elsewhere}/index.yaml without the credentials");
        assert!(chain(&error).contains(&told), "{}", chain(&error));
    }
    assert!(target.requests().iter().all(|record| record.credential.is_none()));
}

#[tokio::test]
async fn a_server_that_leads_in_circles_is_left() {
    let origin = Server::start();
    origin.fail(Fault::redirect(302, &origin.url()).forever());
    let directory = tempfile::tempdir().unwrap();
    let repository = Repository::new(options(&origin.url())).unwrap();
    let error = repository.fetch_index(directory.path()).await.unwrap_err();
    assert!(matches!(error, Error::Redirect { .. }), "{}", chain(&error));
    assert!(
        chain(&error).contains("redirects more than 10 times"),
        "{}",
        chain(&error)
    );
}
