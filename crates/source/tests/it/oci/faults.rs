use std::time::Duration;

use source::oci::{Client, Error, Keychain, Selector, Session};
use testkit::http::{Fault, Method};
use testkit::oci::{Artifact, Server};

use super::{anonymous, options, repository};

fn filled() -> Server {
    let registry = Server::start();
    registry.push("team/app", "latest", &Artifact::files(&[("app.yaml", "a: 1\n")]));
    registry
}

async fn poll(client: &Client, registry: &Server) -> Result<(), Error> {
    let repository = repository(registry, "team/app");
    client.resolve(&repository, &Selector::default(), None).await?;
    Ok(())
}

#[tokio::test]
async fn a_busy_registry_is_asked_again() {
    for status in [429, 500, 502, 503, 504] {
        let registry = filled();
        registry.fail(
            Fault::status(status)
                .header("Retry-After", "0")
                .times(2)
                .method(Method::HEAD),
        );
        poll(&anonymous(), &registry).await.unwrap();
        assert_eq!(registry.count(Method::HEAD, "/manifests/latest"), 3, "{status}");
    }
}

#[tokio::test]
async fn a_registry_that_stays_busy_is_told_so_after_three_tries() {
    let registry = filled();
    registry.fail(Fault::status(429).forever().method(Method::HEAD));
    let error = poll(&anonymous(), &registry).await.unwrap_err();
    assert!(matches!(error, Error::Status { status: 429, .. }), "{error}");
    assert_eq!(registry.count(Method::HEAD, "/manifests/latest"), 3);
    assert_eq!(registry.count(Method::GET, "/manifests/latest"), 0);
}

#[tokio::test]
async fn a_broken_connection_is_made_again() {
    let registry = filled();
    registry.fail(Fault::drop_connection().method(Method::HEAD));
    poll(&anonymous(), &registry).await.unwrap();
}

#[tokio::test]
async fn a_registry_that_never_answers_is_given_up() {
    let registry = filled();
    registry.fail(Fault::hang().on("/manifests/").forever());
    let mut options = options();
    options.http.timeout = Some(Duration::from_millis(200));
    let client = Client::new(&options, Keychain::anonymous(), &Session::new()).unwrap();
    let error = poll(&client, &registry).await.unwrap_err();
    let Error::Transport { source, .. } = &error else {
        panic!("{error}");
    };
    assert!(source.is_timeout());
}

#[tokio::test]
async fn a_denied_repository_is_a_matter_of_credentials() {
    let registry = filled();
    registry.fail(Fault::status(403).method(Method::HEAD));
    let error = poll(&anonymous(), &registry).await.unwrap_err();
    assert!(matches!(error, Error::Unauthorized { .. }), "{error}");
}
