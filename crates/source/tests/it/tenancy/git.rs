//! What was fetched of a Git repository is for those who were let in to the same server as the same identity.

use std::time::Duration;

use http::Method;
use source::git::{Auth, Reference, Remote, Settings, SshAuth};
use source::trust::Fingerprint;
use testkit::git::{self, Git, KeyKind, KeyPair};
use testkit::http::{Fault, Server, Socks};

use super::{Forger, through};
use crate::git::{Place, content, fetch, fetched, wanted};

/// No test waits longer for what must not be blocked.
const SOON: Duration = Duration::from_secs(30);

fn login(user: &str) -> Auth {
    Auth::Basic {
        user: user.into(),
        password: "secret".into(),
    }
}

/// A server that lets Ada in and Bob, with a repository.
fn private() -> (git::Server, String, String) {
    let server = git::Server::builder()
        .basic("ada", "secret")
        .basic("bob", "secret")
        .start();
    let commit = server
        .repository("app")
        .commit("main", "Start", [("password", "geheim")]);
    let url = server.clone_url("app");
    (server, url, commit.to_string())
}

fn as_user(place: &Place, url: &str, user: &str) -> Remote {
    place.remote_with(url, |settings| settings.auth = login(user))
}

#[tokio::test]
async fn a_server_that_merely_claims_a_commit_brings_nobody_the_files() {
    let (_server, url, commit) = private();
    let place = Place::new();
    fetch(&as_user(&place, &url, "ada"), Reference::branch("main"))
        .await
        .unwrap();

    let forger = Server::serve(Forger::new(false));
    forger.claim("app", &commit);
    let socks = Socks::to(forger.address());
    let mallory = place.remote_with(&url, |settings| settings.http.proxy = through(&socks));
    for reference in [Reference::branch("main"), Reference::commit(commit.clone())] {
        let stolen = fetch(&mallory, reference).await;
        assert!(
            stolen.is_err(),
            "{:?}",
            stolen.map(|checkout| content(&*checkout))
        );
    }
    let asked = forger.asked.lock().clone();
    assert!(!asked.is_empty(), "the forger was asked for what it claims");
    assert!(
        asked.iter().all(|request| !request.contains("have ")),
        "it must not learn what others have: {asked:?}"
    );
}

#[tokio::test]
async fn commits_that_others_have_are_told_to_nobody() {
    let (_server, url, commit) = private();
    let place = Place::new();
    fetch(&as_user(&place, &url, "ada"), Reference::branch("main"))
        .await
        .unwrap();
    let forger = Server::serve(Forger::new(true));
    forger.git.repository("app").commit("main", "Mine", [("m", "1")]);
    let socks = Socks::to(forger.address());
    let mallory = place.remote_with(&url, |settings| settings.http.proxy = through(&socks));
    let own = fetch(&mallory, Reference::branch("main")).await.unwrap();
    assert_eq!(content(&*own), ["m 1"]);
    let asked = forger.asked.lock().clone();
    assert!(
        asked.iter().all(|request| !request.contains(&commit)),
        "{asked:?}"
    );
}

#[tokio::test]
async fn a_submodule_brings_nobody_the_files_of_another() {
    let (_server, url, commit) = private();
    let place = Place::new();
    fetch(&as_user(&place, &url, "ada"), Reference::branch("main"))
        .await
        .unwrap();

    let own = Git::new();
    own.repository("app").commit("main", "Mine", [("m", "1")]);
    own.repository("main")
        .change("main")
        .file(
            ".gitmodules",
            format!("[submodule \"s\"]\n\tpath = s\n\turl = {url}\n"),
        )
        .submodule("s", commit.parse().unwrap())
        .commit();
    let own = Server::serve(own);
    let socks = Socks::to(own.address());
    let main = url.replace("app.git", "main.git");
    let mallory = place.remote_with(&main, |settings| settings.http.proxy = through(&socks));
    let mut request = wanted(Reference::branch("main"));
    request.submodules = true;
    let stolen = fetched(mallory.fetch(&request).await);
    assert!(
        stolen.is_err(),
        "{:?}",
        stolen.map(|checkout| content(&*checkout))
    );
}

#[tokio::test]
async fn each_identity_transfers_for_itself_and_all_objects_of_it_once() {
    let (server, url, _) = private();
    let repository = server.repository("app");
    let place = Place::new();
    for (user, transfers) in [("ada", 1), ("ada", 1), ("bob", 2), ("bob", 2), ("ada", 2)] {
        let remote = as_user(&place, &url, user);
        fetch(&remote, Reference::branch("main")).await.unwrap();
        assert_eq!(repository.stats().fetches, transfers, "{user}");
    }
    let many = (0..8).map(|number| {
        let remote = as_user(&place, &url, ["ada", "bob"][number % 2]);
        async move { fetch(&remote, Reference::branch("main")).await.map(drop) }
    });
    repository.commit("main", "More", [("b", "2")]);
    for done in futures::future::join_all(many).await {
        done.unwrap();
    }
    assert_eq!(repository.stats().fetches, 4, "one for each identity");
}

#[tokio::test]
async fn a_renewed_token_of_one_identity_uses_what_is_there() {
    let (server, url, _) = private();
    let repository = server.repository("app");
    let place = Place::new();
    let issued = |user: &str, app: &str| {
        place.remote_with(&url, |settings| {
            settings.auth = login(user);
            settings.identity = Some(Fingerprint::builder("test").text(app).build());
        })
    };
    // The credentials differ as those of before and after a renewal do.
    for (user, app, transfers) in [("ada", "one", 1), ("bob", "one", 1), ("bob", "two", 2)] {
        fetch(&issued(user, app), Reference::branch("main"))
            .await
            .unwrap();
        assert_eq!(repository.stats().fetches, transfers, "{user} {app}");
    }
    // Who is let in no more gets nothing, whatever was fetched before.
    server.accept_only(&[]);
    let refused = issued("ada", "one");
    server.accept_only(&[testkit::http::Credential::basic("carol", "other")]);
    assert!(fetch(&refused, Reference::branch("main")).await.is_err());
}

#[test]
fn everything_that_decides_who_answers_separates_readers() {
    let place = Place::new();
    let scope = |url: &str, change: &dyn Fn(&mut Settings)| place.remote_with(url, change).scope();
    let (plain, url) = ("https://h.test/app", "https://ada:secret@h.test/app");
    let key = KeyPair::generate(KeyKind::Ed25519).private();
    let ssh = |known_hosts: &'static str| {
        let key = key.clone();
        move |settings: &mut Settings| {
            settings.auth = Auth::Ssh(SshAuth {
                identity: key.clone().into(),
                passphrase: None,
                known_hosts: known_hosts.to_owned(),
                user: None,
            });
        }
    };
    let all = [
        scope(plain, &|_| {}),
        scope(url, &|_| {}),
        scope("https://ada:other@h.test/app", &|_| {}),
        scope(plain, &|settings| settings.auth = login("ada")),
        scope(plain, &|settings| settings.auth = login("bob")),
        scope(plain, &|settings| settings.auth = Auth::Bearer("ada".into())),
        scope(plain, &|settings| {
            settings.http.tls.authorities = Some(b"own".to_vec());
        }),
        scope(plain, &|settings| {
            settings.http.tls.certificate = Some(b"own".to_vec());
        }),
        scope(plain, &|settings| settings.http.tls.accept_any = true),
        scope(plain, &|settings| {
            settings.http.proxy = Some(source::http::Proxy {
                address: "http://own.test".into(),
                login: None,
            });
        }),
        scope("ssh://git@h.test/app", &ssh("h.test ssh-ed25519 A")),
        scope("ssh://git@h.test/app", &ssh("h.test ssh-ed25519 B")),
    ];
    for (at, one) in all.iter().enumerate() {
        for other in &all[at + 1..] {
            assert!(one != other, "the scope number {at} is that of another");
        }
    }
    assert!(scope(plain, &|_| {}) == scope(plain, &|settings| settings.timeout = SOON));
}

#[tokio::test]
async fn a_server_that_hangs_blocks_nobody_else() {
    let (_server, url, commit) = private();
    let place = Place::new();
    let forger = Server::serve(Forger::new(false));
    forger.claim("app", &commit);
    let socks = Socks::to(forger.address());
    let mallory = place.remote_with(&url, |settings| settings.http.proxy = through(&socks));
    // She is known to the server, so that what hangs is the transfer.
    mallory.list(&Reference::branch("main")).await.unwrap();
    let mut seen = forger.changes();
    let before = forger.requests().len();
    forger.fail(Fault::delay(Duration::ZERO).method(Method::POST));
    forger.fail(Fault::hang().method(Method::POST).forever());
    let hanging = tokio::spawn(async move { fetch(&mallory, Reference::branch("main")).await.map(drop) });
    let begun = seen.wait_for(|_| forger.requests().len() >= before + 2);
    tokio::time::timeout(SOON, begun).await.unwrap().unwrap();

    let ada = as_user(&place, &url, "ada");
    let got = tokio::time::timeout(SOON, fetch(&ada, Reference::branch("main"))).await;
    assert_eq!(
        content(&*got.expect("Ada must not wait").unwrap()),
        ["password geheim"]
    );
    assert!(!hanging.is_finished());
    hanging.abort();
}

#[tokio::test]
async fn one_slow_transfer_does_not_block_another_of_the_same_repository() {
    let server = git::Server::start();
    server.repository("app").commit("main", "Start", [("a", "1")]);
    server.repository("app").commit("other", "Other", [("b", "2")]);
    let place = Place::new();
    let remote = place.remote(&server.clone_url("app"));
    remote.list(&Reference::branch("main")).await.unwrap();
    let mut seen = server.changes();
    let before = server.requests().len();
    server.fail(Fault::delay(Duration::ZERO).method(Method::POST));
    server.fail(Fault::hang().method(Method::POST));
    let slow = remote.clone();
    let hanging = tokio::spawn(async move { fetch(&slow, Reference::branch("main")).await.map(drop) });
    let begun = seen.wait_for(|_| server.requests().len() >= before + 2);
    tokio::time::timeout(SOON, begun).await.unwrap().unwrap();

    let got = tokio::time::timeout(SOON, fetch(&remote, Reference::branch("other"))).await;
    assert_eq!(content(&*got.expect("it must not wait").unwrap()), ["b 2"]);
    assert!(!hanging.is_finished());
    hanging.abort();
}
