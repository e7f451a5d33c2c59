//! What a registry said to one client is for clients that reach the same registry as the same identity.

use std::time::Duration;

use source::oci::{Client, Credential, Keychain, Options, Repository, Selector, Session};
use source::store::share::Sharing;
use source::trust::{Fingerprint, TrustScope};
use testkit::http::{Fault, Reply, Request, Socks};
use testkit::oci::{Artifact, Server};

use super::through;
use crate::store::{Fixture, place};

const SOON: Duration = Duration::from_secs(30);

fn registry(user: &str) -> Server {
    let registry = Server::builder().tokens(user, "secret").anonymous_pull().start();
    registry.push("team/app", "latest", &Artifact::files(&[("app.yaml", "a: 1\n")]));
    registry
}

fn client(session: &Session, proxy: Option<&Socks>) -> Client {
    let mut options = Options {
        pauses: Vec::new(),
        plain: true,
        ..Options::default()
    };
    options.http.proxy = proxy.and_then(through);
    Client::new(&options, Keychain::anonymous(), session).unwrap()
}

async fn poll(client: &Client, registry: &Server) -> Result<(), source::oci::Error> {
    let repository = Repository::parse(&format!("oci://{}/team/app", registry.host())).unwrap();
    let resolved = client.resolve(&repository, &Selector::default(), None).await;
    resolved.map(drop)
}

/// The tokens that clients have shown to a registry.
fn shown(registry: &Server) -> Vec<String> {
    let requests = registry.requests().into_iter();
    let credentials = requests.filter_map(|request| request.credential);
    credentials.map(|credential| credential.authorization()).collect()
}

#[tokio::test]
async fn a_token_is_not_shown_to_who_only_answers_in_the_name_of_the_registry() {
    let (real, forged) = (registry("ada"), registry("mallory"));
    // Tokens are numbered: the first one of the forged registry is used up, so that no two are the same.
    poll(&client(&Session::new(), None), &forged).await.unwrap();
    forged.forget_requests();
    let socks = Socks::to(forged.address());
    let session = Session::new();
    let (user, mallory) = (client(&session, None), client(&session, Some(&socks)));
    for _ in 0..3 {
        // The forged registry does not accept the tokens of the real one, nor the other way round.
        let _ = poll(&mallory, &real).await;
        poll(&user, &real).await.unwrap();
    }
    let (real_tokens, forged_tokens) = (shown(&real), shown(&forged));
    assert!(!real_tokens.is_empty());
    for token in &forged_tokens {
        assert!(!real_tokens.contains(token), "a token went to the other registry");
    }
    assert_eq!(real.count(testkit::http::Method::GET, "/token"), 1);
}

#[tokio::test]
async fn a_token_server_that_hangs_blocks_nobody_else() {
    let real = registry("ada");
    let session = Session::new();
    let forged = registry("mallory");
    forged.fail(Fault::hang().on("/token").forever());
    let socks = Socks::to(forged.address());
    let mallory = client(&session, Some(&socks));
    let mut seen = forged.changes();
    let hanging = {
        let repository = Repository::parse(&format!("oci://{}/team/app", real.host())).unwrap();
        tokio::spawn(async move {
            let resolved = mallory.resolve(&repository, &Selector::default(), None).await;
            resolved.map(drop)
        })
    };
    let asked = seen.wait_for(|_| forged.count(testkit::http::Method::GET, "/token") > 0);
    tokio::time::timeout(SOON, asked).await.unwrap().unwrap();
    let polled = tokio::time::timeout(SOON, poll(&client(&session, None), &real)).await;
    polled.expect("nobody else must wait").unwrap();
    assert!(!hanging.is_finished());
    hanging.abort();
}

/// Even a client that shares everything with one that hangs asks for itself after a while.
#[tokio::test]
async fn who_waits_for_the_token_of_another_does_not_wait_for_ever() {
    let real = registry("ada");
    let session = Session::new();
    poll(&client(&session, None), &real).await.unwrap();
    real.expire_tokens();
    real.fail(Fault::hang().on("/token"));
    let mut seen = real.changes();
    let before = real.count(testkit::http::Method::GET, "/token");
    let first = client(&session, None);
    let host = real.host();
    let hanging = tokio::spawn(async move {
        let repository = Repository::parse(&format!("oci://{host}/team/app")).unwrap();
        let resolved = first.resolve(&repository, &Selector::default(), None).await;
        resolved.map(drop)
    });
    let asked = seen.wait_for(|_| real.count(testkit::http::Method::GET, "/token") > before);
    tokio::time::timeout(SOON, asked).await.unwrap().unwrap();
    let polled = tokio::time::timeout(SOON, poll(&client(&session, None), &real)).await;
    polled.expect("it asks for itself").unwrap();
    hanging.abort();
}

#[test]
fn everything_that_decides_who_answers_separates_readers() {
    let session = Session::new();
    let repository = Repository::parse("oci://registry.test/team/app").unwrap();
    let scope = |credential: Option<&str>, change: &dyn Fn(&mut Options)| {
        let mut options = Options::default();
        change(&mut options);
        let keychain = credential.map_or_else(Keychain::anonymous, |credential| {
            Keychain::for_registry_of(&repository, Credential::parse(credential))
        });
        let client = Client::new(&options, keychain, &session).unwrap();
        client.scope(&repository)
    };
    let authority = testkit::tls::Authority::new("own").pem();
    let all = [
        scope(None, &|_| {}),
        scope(Some("ada:secret"), &|_| {}),
        scope(Some("bob:secret"), &|_| {}),
        scope(Some("ada:secret"), &|options| options.insecure = true),
        scope(Some("ada:secret"), &|options| options.plain = true),
        scope(Some("ada:secret"), &|options| {
            options.http.tls.authorities = Some(authority.clone().into_bytes());
        }),
        scope(Some("ada:secret"), &|options| {
            options.http.proxy = Some(source::http::Proxy {
                address: "http://own.test".into(),
                login: None,
            });
        }),
    ];
    for (at, one) in all.iter().enumerate() {
        for other in &all[at + 1..] {
            assert!(one != other, "the scope number {at} is that of another");
        }
    }
    assert!(scope(None, &|_| {}) == scope(None, &|options| options.http.timeout = Some(SOON)));
}

#[test]
fn a_renewed_token_of_one_identity_has_the_same_scope() {
    let session = Session::new();
    let repository = Repository::parse("oci://registry.test/team/app").unwrap();
    let scope = |password: &str, identity: &str| {
        let credential = Credential::parse(&format!("AWS:{password}"));
        let keychain = Keychain::for_registry_of(&repository, credential);
        let keychain = keychain.issued_to(Fingerprint::builder("test").text(identity).build());
        let client = Client::new(&Options::default(), keychain, &session).unwrap();
        client.scope(&repository)
    };
    assert!(scope("first", "role") == scope("second", "role"));
    assert!(scope("first", "role") != scope("first", "other"));
}

#[derive(Debug, thiserror::Error)]
#[error("refused")]
struct Refused;

#[tokio::test]
async fn a_file_is_linked_for_readers_of_the_same_scope_alone() {
    let fixture = Fixture::new();
    let store = std::sync::Arc::new(fixture.open());
    let sharing = Sharing::<(), Refused>::new(std::sync::Arc::clone(&store));
    let scope = |reader: &str| {
        let of = |part: &str| Fingerprint::builder("test").text(part).build();
        TrustScope::new(&of(reader), &of("trust"))
    };
    let (first, second, third) = (place("first"), place("second"), place("third"));
    let fetched = sharing
        .get(
            &scope("ada"),
            "registry/app@sha256:1",
            &first,
            "1.tar.gz",
            async || Ok((store.copy(&first, "1.tar.gz", &b"geheim"[..]).unwrap(), ())),
        )
        .await;
    fetched.unwrap();
    let shared = sharing
        .get(
            &scope("ada"),
            "registry/app@sha256:1",
            &second,
            "1.tar.gz",
            async || panic!("it is there already"),
        )
        .await;
    shared.unwrap();
    let stolen = sharing
        .get(
            &scope("mallory"),
            "registry/app@sha256:1",
            &third,
            "1.tar.gz",
            async || Err(Refused),
        )
        .await;
    assert!(stolen.is_err(), "it must be fetched by who was not given it");
}

/// A registry may redirect to a server that anyone can put content on. That server does not say who gives tokens.
#[tokio::test]
async fn only_the_registry_says_who_gives_tokens() {
    let elsewhere = testkit::http::Server::serve(|request: &Request| match request.path() {
        "/token" => Reply::text(r#"{"token": "forged"}"#),
        _ => {
            let host = request.header("host").unwrap_or_default();
            let challenge = format!("Bearer realm=\"http://{host}/token\",service=\"forged\"");
            Reply::status(401).with("www-authenticate", &challenge)
        }
    });
    let target = elsewhere.url();
    let registry = testkit::http::Server::serve(move |request: &Request| {
        Reply::status(307).with("location", format!("{target}{}", request.path()))
    });
    let host = registry.address().to_string();
    let repository = Repository::parse(&format!("oci://{host}/team/app")).unwrap();
    for plain in [true, false] {
        let options = Options {
            pauses: Vec::new(),
            plain,
            insecure: !plain,
            ..Options::default()
        };
        let session = Session::new();
        let keychain = Keychain::for_registry_of(&repository, Credential::parse("ada:geheim"));
        let ada = Client::new(&options, keychain, &session).unwrap();
        for _ in 0..2 {
            let resolved = ada.resolve(&repository, &Selector::default(), None).await;
            resolved.unwrap_err();
        }
    }
    let requests = elsewhere.requests();
    assert!(!requests.is_empty());
    for request in requests {
        assert_ne!(request.path, "/token", "the credentials went to the other server");
    }
}
