use source::oci::{Error, Repository, Selector, Session};
use testkit::http::{Fault, Method};
use testkit::oci::{Artifact, Server};

use super::{anonymous, logged_in, repository};

fn artifact() -> Artifact {
    Artifact::files(&[("app.yaml", "replicas: 1\n")])
}

fn tag(tag: &str) -> Selector {
    Selector {
        tag: Some(tag.into()),
        ..Selector::default()
    }
}

async fn revision(registry: &Server, selector: &Selector) -> Result<String, Error> {
    let client = anonymous();
    let resolved = client
        .resolve(&repository(registry, "team/app"), selector, None)
        .await?;
    Ok(resolved.revision.to_string())
}

#[tokio::test]
async fn a_tag_leads_to_its_digest_and_latest_is_the_default() {
    let registry = Server::start();
    let digest = registry.push("team/app", "1.0.0", &artifact());
    registry.tag("team/app", "latest", &digest);
    assert_eq!(
        revision(&registry, &tag("1.0.0")).await.unwrap(),
        format!("1.0.0@{digest}")
    );
    let latest = revision(&registry, &Selector::default()).await.unwrap();
    assert_eq!(latest, format!("latest@{digest}"));
}

#[tokio::test]
async fn a_digest_counts_before_all_and_needs_no_request() {
    let registry = Server::start();
    let digest = registry.push("team/app", "1.0.0", &artifact());
    let selector = Selector {
        digest: Some(digest.clone()),
        semver: Some(">= 1.0".into()),
        tag: Some("other".into()),
        ..Selector::default()
    };
    assert_eq!(revision(&registry, &selector).await.unwrap(), digest);
    assert!(registry.requests().is_empty());
    let wrong = Selector {
        digest: Some("sha256:1".into()),
        ..Selector::default()
    };
    assert!(matches!(
        revision(&registry, &wrong).await,
        Err(Error::Digest { .. })
    ));
}

#[tokio::test]
async fn a_poll_with_nothing_new_is_one_request() {
    let registry = Server::builder().tokens("ada", "secret").start();
    registry.push("team/app", "latest", &artifact());
    let client = logged_in(&registry, "ada:secret", &Session::new());
    let repository = repository(&registry, "team/app");
    let first = client
        .resolve(&repository, &Selector::default(), None)
        .await
        .unwrap();
    registry.forget_requests();
    let second = client
        .resolve(&repository, &Selector::default(), None)
        .await
        .unwrap();
    assert_eq!(first, second);
    let requests = registry.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].method, Method::HEAD);
    assert_eq!(requests[0].header("user-agent"), "flux/v2");
}

#[tokio::test]
async fn a_registry_that_knows_no_head_is_asked_for_the_manifest() {
    let registry = Server::start();
    let digest = registry.push("team/app", "latest", &artifact());
    registry.fail(Fault::status(405).method(Method::HEAD));
    let found = revision(&registry, &Selector::default()).await.unwrap();
    assert_eq!(found, format!("latest@{digest}"));
    assert_eq!(registry.count(Method::GET, "/manifests/latest"), 1);
}

#[tokio::test]
async fn what_is_not_there_is_named() {
    let registry = Server::start();
    let error = revision(&registry, &tag("9.9.9")).await.unwrap_err();
    assert!(matches!(error, Error::NotFound { .. }), "{error}");
    assert!(
        error
            .to_string()
            .contains(&registry.reference("team/app", "9.9.9")),
        "{error}"
    );
}

#[tokio::test]
async fn a_registry_that_nobody_runs_is_named() {
    let address = Server::start().host();
    let repository = Repository::parse(&format!("oci://{address}/team/app")).unwrap();
    let error = anonymous()
        .resolve(&repository, &Selector::default(), None)
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Transport { .. }), "{error}");
    assert!(error.to_string().contains(&address), "{error}");
}

#[tokio::test]
async fn tags_come_in_pages() {
    let registry = Server::start();
    for number in 0..7 {
        registry.push("team/app", &format!("1.0.{number}"), &artifact());
    }
    registry.page_tags(3);
    let tags = anonymous()
        .tags(&repository(&registry, "team/app"))
        .await
        .unwrap();
    assert_eq!(tags.len(), 7);
    assert_eq!(registry.count(Method::GET, "/tags/list"), 3);
}
