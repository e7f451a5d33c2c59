//! Git over SSH.

use std::time::Duration;

use source::git::{Auth, Cause, Reference, Remote, Request, SshAlgorithms, SshAuth};
use source::http::{Login, Proxy};
use testkit::git::{Git, KeyKind, KeyPair, PackFault, SshServer};
use testkit::http::Socks;

use super::{Place, chain, content, fetch, wanted};

fn served(host: KeyKind, client: &KeyPair) -> (Git, SshServer) {
    let git = Git::new();
    git.repository("team/app").commit("main", "Start", [("a", "1")]);
    let server = git
        .over_ssh()
        .host_key(&KeyPair::generate(host))
        .allow(client)
        .start();
    (git, server)
}

fn auth(key: &KeyPair, known_hosts: &str) -> SshAuth {
    SshAuth {
        identity: key.private().into(),
        passphrase: None,
        known_hosts: known_hosts.into(),
        user: None,
    }
}

fn remote(place: &Place, server: &SshServer, auth: SshAuth) -> Remote {
    place.remote_with(&server.clone_url("team/app"), |settings| {
        settings.auth = Auth::Ssh(auth)
    })
}

#[tokio::test]
async fn every_kind_of_key_lists_and_fetches_on_one_connection() {
    for kind in [KeyKind::Ed25519, KeyKind::Ecdsa, KeyKind::Rsa] {
        let key = KeyPair::generate(kind);
        let (git, server) = served(kind, &key);
        let place = Place::new();
        let remote = remote(&place, &server, auth(&key, &server.known_hosts()));
        let checkout = fetch(&remote, Reference::branch("main")).await.unwrap();
        assert_eq!(content(&*checkout), ["a 1"], "{kind:?}");
        assert_eq!(server.commands(), ["git-upload-pack '/team/app.git'"]);

        git.repository("team/app").commit("main", "More", [("b", "2")]);
        let request = Request {
            previous: Some(checkout.revision.clone()),
            ..wanted(Reference::branch("main"))
        };
        let checkout = super::fetched(remote.fetch(&request).await).unwrap();
        assert_eq!(content(&*checkout), ["a 1", "b 2"]);
        assert_eq!(git.repository("team/app").stats().objects_sent, 3);
        assert_eq!(server.commands().len(), 2);
    }
}

#[tokio::test]
async fn unknown_and_changed_host_keys_are_told_apart() {
    let key = KeyPair::generate(KeyKind::Ed25519);
    let (_git, server) = served(KeyKind::Ed25519, &key);
    let place = Place::new();
    let address = server.address();
    let error = async |known_hosts: &str| {
        let remote = remote(&place, &server, auth(&key, known_hosts));
        fetch(&remote, Reference::branch("main")).await.unwrap_err()
    };
    let unknown = error("").await;
    assert!(
        matches!(unknown.cause(), Cause::HostKeyUnknown { .. }),
        "{unknown}"
    );
    assert!(unknown.to_string().contains("add it to known_hosts"));
    assert!(unknown.to_string().contains("ssh-ed25519 SHA256:"), "{unknown}");
    for other in [KeyKind::Ed25519, KeyKind::Ecdsa] {
        let line = format!(
            "[{}]:{} {}\n",
            address.ip(),
            address.port(),
            KeyPair::generate(other).public()
        );
        let changed = error(&line).await;
        assert!(
            matches!(changed.cause(), Cause::HostKeyMismatch { .. }),
            "{changed}"
        );
    }
    let unreadable = error("one two").await;
    assert!(
        unreadable
            .to_string()
            .contains("line 1 of 'known_hosts' cannot be read: correct or remove it"),
        "{unreadable}"
    );
    assert!(server.commands().is_empty());
}

#[tokio::test]
async fn of_several_host_keys_the_known_one_is_asked_for() {
    let key = KeyPair::generate(KeyKind::Ed25519);
    let git = Git::new();
    git.repository("team/app").commit("main", "Start", [("a", "1")]);
    let (ed25519, rsa) = (
        KeyPair::generate(KeyKind::Ed25519),
        KeyPair::generate(KeyKind::Rsa),
    );
    let server = git
        .over_ssh()
        .host_key(&ed25519)
        .host_key(&rsa)
        .allow(&key)
        .start();
    let known: String = server
        .known_hosts()
        .lines()
        .filter(|line| line.contains("ssh-rsa"))
        .collect();
    let place = Place::new();
    fetch(
        &remote(&place, &server, auth(&key, &known)),
        Reference::branch("main"),
    )
    .await
    .unwrap();
}

#[tokio::test]
async fn keys_that_are_refused_encrypted_or_none_are_told_apart() {
    let key = KeyPair::generate(KeyKind::Ed25519);
    let (_git, server) = served(KeyKind::Ed25519, &key);
    let known = server.known_hosts();
    let place = Place::new();
    let error = async |auth: Auth| {
        let remote = place.remote_with(&server.clone_url("team/app"), |settings| settings.auth = auth);
        fetch(&remote, Reference::branch("main")).await.unwrap_err()
    };
    let stranger = KeyPair::generate(KeyKind::Rsa);
    let refused = error(Auth::Ssh(auth(&stranger, &known))).await;
    assert!(matches!(refused.cause(), Cause::Authentication(_)), "{refused}");
    assert!(refused.to_string().contains("for user 'git'"), "{refused}");
    let none = error(Auth::None).await;
    assert!(
        none.to_string().contains("needs a private key ('identity')"),
        "{none}"
    );
    let mut garbage = auth(&key, &known);
    garbage.identity = "geheim".into();
    let garbage = error(Auth::Ssh(garbage)).await;
    assert!(matches!(garbage.cause(), Cause::PrivateKey(_)), "{garbage}");
    assert!(!chain(&garbage).contains("geheim"));
}

#[tokio::test]
async fn missing_repositories_broken_packs_and_dead_servers_are_told_apart() {
    let key = KeyPair::generate(KeyKind::Ed25519);
    let (git, server) = served(KeyKind::Ed25519, &key);
    let place = Place::new();
    let auth = auth(&key, &server.known_hosts());
    let missing = place.remote_with(&server.clone_url("none"), |settings| {
        settings.auth = Auth::Ssh(auth.clone())
    });
    let error = fetch(&missing, Reference::default()).await.unwrap_err();
    assert!(matches!(error.cause(), Cause::NotFound), "{}", chain(&error));
    let repository = git.repository("team/app");
    repository.break_next_pack(PackFault::Truncated);
    repository.break_next_pack(PackFault::Truncated);
    let remote = remote(&place, &server, auth.clone());
    let error = fetch(&remote, Reference::branch("main")).await.unwrap_err();
    assert!(matches!(error.cause(), Cause::Pack(_)), "{}", chain(&error));
    assert_eq!(
        content(&*fetch(&remote, Reference::branch("main")).await.unwrap()),
        ["a 1"]
    );

    // A server that takes connections and says nothing.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ssh://git@{}/app", silent.local_addr().unwrap());
    let silent = place.remote_with(&url, |settings| {
        settings.auth = Auth::Ssh(auth.clone());
        settings.timeout = Duration::from_millis(200);
    });
    let error = fetch(&silent, Reference::default()).await.unwrap_err();
    assert!(matches!(error.cause(), Cause::Timeout(_)), "{error}");
}

/// `--ssh-kex-algos` and `--ssh-hostkey-algos`: only what is listed is used.
#[tokio::test]
async fn only_algorithms_that_are_allowed_are_used() {
    let key = KeyPair::generate(KeyKind::Ed25519);
    let (_git, server) = served(KeyKind::Ed25519, &key);
    let place = Place::new();
    let names = |names: &[&str]| -> Vec<String> { names.iter().map(|name| (*name).to_owned()).collect() };
    for (kex, host_keys, works) in [
        (&["curve25519-sha256"][..], &["ssh-ed25519"][..], true),
        (&[], &["ecdsa-sha2-nistp256", "ssh-ed25519"], true),
        // The server has no such key.
        (&[], &["ecdsa-sha2-nistp256"], false),
        // The server does not offer it.
        (&["diffie-hellman-group1-sha1"], &[], false),
    ] {
        let allowed = SshAlgorithms::named(&names(kex), &names(host_keys)).unwrap();
        let remote = place.remote_with(&server.clone_url("team/app"), |settings| {
            settings.auth = Auth::Ssh(auth(&key, &server.known_hosts()));
            settings.ssh = allowed;
        });
        let fetched = fetch(&remote, Reference::branch("main")).await;
        assert_eq!(
            fetched.is_ok(),
            works,
            "{kex:?} {host_keys:?}: {:?}",
            fetched.err()
        );
    }
}

/// The proxy resolves the host, which may be known to it alone.
#[tokio::test]
async fn a_server_is_reached_through_a_socks_proxy() {
    let key = KeyPair::generate(KeyKind::Ed25519);
    let (_git, server) = served(KeyKind::Ed25519, &key);
    let socks = Socks::with_login(server.address(), "ada", "geheim");
    let known = server
        .known_hosts()
        .replace(&format!("[127.0.0.1]:{}", server.address().port()), "git.invalid");
    let place = Place::new();
    let through = async |address: String, login: Option<(&str, &str)>| {
        let remote = place.remote_with("ssh://git@git.invalid/team/app.git", |settings| {
            settings.auth = Auth::Ssh(auth(&key, &known));
            settings.http.proxy = Some(Proxy {
                address,
                login: login.map(|(user, password)| Login {
                    user: user.to_owned(),
                    password: password.into(),
                }),
            });
        });
        fetch(&remote, Reference::branch("main"))
            .await
            .map_err(|error| chain(&error))
    };
    let checkout = through(socks.url(), Some(("ada", "geheim"))).await.unwrap();
    assert_eq!(content(&*checkout), ["a 1"]);
    assert_eq!(socks.hosts(), ["git.invalid:22"]);
    let inside = socks.url().replace("socks5://", "socks5://ada:ge%68eim@");
    through(inside, None).await.unwrap();
    for (address, login, told) in [
        (socks.url(), Some(("ada", "falsch")), "refuses the login"),
        (socks.url(), None, "refuses the login"),
        ("http://127.0.0.1:1".to_owned(), None, "must begin with socks5://"),
        (
            "socks5://127.0.0.1:1".to_owned(),
            None,
            "the proxy 127.0.0.1:1 cannot be used",
        ),
        (format!("socks5://{}", server.address()), None, "no SOCKS 5 proxy"),
    ] {
        let message = through(address, login).await.err().unwrap();
        assert!(message.contains(told) && !message.contains("falsch"), "{message}");
    }
}
