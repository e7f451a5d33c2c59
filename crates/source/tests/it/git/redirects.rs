//! Servers that lead elsewhere.

use source::git::{Auth, Cause, Reference};
use testkit::git;
use testkit::http::Fault;
use testkit::tls::Authority;

use super::{Place, content, fetch};

fn basic() -> Auth {
    Auth::Basic {
        user: "ada".into(),
        password: "geheim".into(),
    }
}

#[tokio::test]
async fn a_redirect_is_followed_and_credentials_stay_with_their_host() {
    let target = git::Server::start();
    target.repository("app").commit("main", "Start", [("a", "1")]);
    let origin = git::Server::start();
    origin.fail(Fault::redirect(302, &target.url().replace("127.0.0.1", "localhost")).on("info/refs"));
    let place = Place::new();
    let remote = place.remote_with(&origin.clone_url("app"), |settings| {
        settings.auth = source::git::Auth::Bearer("geheim".into());
    });
    let checkout = fetch(&remote, Reference::branch("main")).await.unwrap();
    assert_eq!(content(&*checkout), ["a 1"]);
    assert!(origin.requests().iter().all(|record| record.credential.is_some()));
    assert!(target.requests().iter().all(|record| record.credential.is_none()));
}

/// Most hosts lead from `http` to `https` like this.
#[tokio::test]
async fn credentials_go_along_from_http_to_https_on_the_same_host() {
    let authority = Authority::default();
    for auth in [basic(), Auth::Bearer("token".into())] {
        let target = git::Server::builder()
            .basic("ada", "geheim")
            .bearer("token")
            .tls(&authority)
            .start();
        target.repository("app").commit("main", "Start", [("a", "1")]);
        let origin = git::Server::start();
        origin.fail(Fault::redirect(301, &target.url()).forever());
        let place = Place::new();
        let remote = place.remote_with(&origin.clone_url("app"), |settings| {
            settings.auth = auth;
            settings.http.tls.authorities = Some(authority.pem().into_bytes());
        });
        let checkout = fetch(&remote, Reference::branch("main")).await.unwrap();
        assert_eq!(content(&*checkout), ["a 1"]);
        // Once it is known where the repository is, it is asked for there.
        assert_eq!(origin.requests().len(), 1);
    }
}

#[tokio::test]
async fn who_is_refused_after_a_redirect_is_told_of_it() {
    let target = git::Server::builder().basic("ada", "geheim").start();
    target.repository("app").commit("main", "Start", [("a", "1")]);
    let origin = git::Server::start();
    let elsewhere = target.url().replace("127.0.0.1", "localhost");
    origin.fail(Fault::redirect(302, &elsewhere));
    let place = Place::new();
    let remote = place.remote_with(&origin.clone_url("app"), |settings| settings.auth = basic());
    let error = fetch(&remote, Reference::branch("main")).await.unwrap_err();
    assert!(matches!(error.cause(), Cause::Authentication(_)), "{error}");
    let told = format!("redirected to {elsewhere}/app.git/info/refs without the credentials");
    assert!(error.to_string().contains(&told), "{error}");
    assert!(!format!("{error:?}").contains("geheim"));
}

#[tokio::test]
async fn a_server_that_leads_in_circles_is_left() {
    let origin = git::Server::start();
    origin.fail(Fault::redirect(302, &origin.url()).forever());
    let place = Place::new();
    let error = fetch(&place.remote(&origin.clone_url("app")), Reference::branch("main"))
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("redirects more than 10 times"),
        "{error}"
    );
    assert_eq!(origin.requests().len(), 11);
}

#[tokio::test]
async fn a_server_with_tls_does_not_lead_to_one_without() {
    let target = git::Server::start();
    target.repository("app").commit("main", "Start", [("a", "1")]);
    let authority = Authority::default();
    let origin = git::Server::builder().tls(&authority).start();
    origin.fail(Fault::redirect(302, &target.url()));
    let place = Place::new();
    let remote = place.remote_with(&origin.clone_url("app"), |settings| {
        settings.http.tls.authorities = Some(authority.pem().into_bytes());
    });
    let error = fetch(&remote, Reference::branch("main")).await.unwrap_err();
    assert!(
        error.to_string().contains("redirects from https:// to"),
        "{error}"
    );
    assert!(target.requests().is_empty());
}

/// What a redirect leads to is not what the URL names: it may lead elsewhere the next time, or nowhere.
#[tokio::test]
async fn a_redirect_that_changes_is_followed_to_its_new_place() {
    let (old, new) = (git::Server::start(), git::Server::start());
    old.repository("app").commit("main", "Old", [("a", "old")]);
    new.repository("app").commit("main", "New", [("a", "new")]);
    let origin = git::Server::start();
    let place = Place::new();
    let remote = place.remote(&origin.clone_url("app"));
    for (target, wanted) in [(&old, "a old"), (&new, "a new")] {
        origin.heal();
        origin.fail(Fault::redirect(302, &target.url()).forever());
        let checkout = fetch(&remote, Reference::branch("main")).await.unwrap();
        assert_eq!(content(&*checkout), [wanted]);
    }
    // At last it has the repository itself.
    origin.heal();
    origin.repository("app").commit("main", "Own", [("a", "own")]);
    let checkout = fetch(&remote, Reference::branch("main")).await.unwrap();
    assert_eq!(content(&*checkout), ["a own"]);
}

/// Hosts that have moved answer so to what they no longer serve.
#[tokio::test]
async fn a_server_that_lets_nobody_in_is_asked_where_it_leads_to() {
    let target = git::Server::start();
    target.repository("app").commit("main", "New", [("a", "new")]);
    let origin = git::Server::start();
    origin.repository("app").commit("main", "Old", [("a", "old")]);
    let place = Place::new();
    let remote = place.remote(&origin.clone_url("app"));
    fetch(&remote, Reference::branch("main")).await.unwrap();
    for status in [401, 403] {
        origin.heal();
        origin.fail(Fault::redirect(302, &target.url()).on("info/refs").forever());
        origin.fail(Fault::status(status).on("git-upload-pack").forever());
        let checkout = fetch(&remote, Reference::branch("main")).await.unwrap();
        assert_eq!(content(&*checkout), ["a new"]);
    }
}
