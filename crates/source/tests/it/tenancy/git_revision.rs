//! The revision is the commit that was fetched, whatever the server said of it when it listed its references.

use source::git::{Cause, Reference};
use testkit::http::Server;

use super::Forger;
use crate::git::{Place, content, fetch};

#[tokio::test]
async fn a_tag_that_is_listed_with_another_commit_is_recorded_as_what_it_is() {
    let forger = Server::serve(Forger::new(true));
    let repository = forger.git.repository("app");
    let commit = repository.commit("main", "Start", [("a", "1")]);
    repository.annotated_tag("v1.0.0", commit).create();
    let commit = commit.to_string();
    let claimed = "1".repeat(40);
    forger.replaced.lock().push((commit.clone(), claimed.clone()));
    let place = Place::new();
    let url = format!("{}/app.git", forger.url());
    for (reference, name) in [
        (Reference::tag("v1.0.0"), "v1.0.0"),
        (Reference::semver(">=1.0.0"), "v1.0.0"),
        (Reference::name("refs/tags/v1.0.0"), "refs/tags/v1.0.0"),
    ] {
        let checkout = fetch(&place.remote(&url), reference).await.unwrap();
        assert_eq!(content(&*checkout), ["a 1"]);
        assert_eq!(checkout.commit.id.to_string(), commit);
        assert_eq!(checkout.revision.to_string(), format!("{name}@sha1:{commit}"));
    }
}

#[tokio::test]
async fn a_commit_is_not_the_name_of_a_tag() {
    let server = testkit::git::Server::start();
    let repository = server.repository("app");
    let commit = repository.commit("main", "Start", [("a", "1")]);
    let tag = repository.annotated_tag("v1.0.0", commit).create().to_string();
    let place = Place::new();
    let remote = place.remote(&server.clone_url("app"));
    let error = fetch(&remote, Reference::commit(tag.clone())).await.unwrap_err();
    assert!(matches!(error.cause(), Cause::NotACommit { .. }), "{error}");
}
