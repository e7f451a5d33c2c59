use std::time::Duration;

use source::oci::{Client, Credential, Error, Keychain, Options, Selector, Session};
use testkit::http::{Credential as Shown, Fault, Method};
use testkit::oci::{Artifact, Server};
use testkit::tls::Authority;

use super::{anonymous, logged_in, options, repository};

fn filled(registry: Server) -> Server {
    registry.push("team/app", "latest", &Artifact::files(&[("app.yaml", "a: 1\n")]));
    registry
}

async fn poll(client: &Client, registry: &Server) -> Result<(), Error> {
    let repository = repository(registry, "team/app");
    client.resolve(&repository, &Selector::default(), None).await?;
    Ok(())
}

#[tokio::test]
async fn a_password_is_shown_to_those_who_ask_for_one() {
    let registry = filled(Server::builder().basic("ada", "secret").start());
    let session = Session::new();
    poll(&logged_in(&registry, "ada:secret", &session), &registry)
        .await
        .unwrap();
    let error = poll(&logged_in(&registry, "ada:wrong", &session), &registry)
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Unauthorized { .. }), "{error}");
    assert!(!error.to_string().contains("wrong"), "{error}");
    let error = poll(&anonymous(), &registry).await.unwrap_err();
    assert!(matches!(error, Error::Unauthorized { .. }), "{error}");
}

#[tokio::test]
async fn tokens_are_fetched_once_and_shared_by_clients() {
    let registry = filled(Server::builder().tokens("ada", "secret").start());
    let session = Session::new();
    for _ in 0..3 {
        poll(&logged_in(&registry, "ada:secret", &session), &registry)
            .await
            .unwrap();
    }
    assert_eq!(registry.count(Method::GET, "/token"), 1);
    let error = poll(&logged_in(&registry, "ada:wrong", &session), &registry)
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Unauthorized { .. }), "{error}");
}

#[tokio::test]
async fn many_at_once_fetch_one_token() {
    let registry = filled(Server::builder().tokens("ada", "secret").start());
    let client = logged_in(&registry, "ada:secret", &Session::new());
    poll(&client, &registry).await.unwrap();
    registry.expire_tokens();
    let fresh = logged_in(&registry, "ada:secret", &Session::new());
    let polls = (0..20).map(|_| poll(&fresh, &registry));
    for done in futures::future::join_all(polls).await {
        done.unwrap();
    }
    assert_eq!(registry.count(Method::GET, "/token"), 2);
}

#[tokio::test]
async fn a_token_that_is_no_longer_taken_is_fetched_anew() {
    let registry = filled(Server::builder().tokens("ada", "secret").start());
    let client = logged_in(&registry, "ada:secret", &Session::new());
    poll(&client, &registry).await.unwrap();
    registry.expire_tokens();
    poll(&client, &registry).await.unwrap();
    assert_eq!(registry.count(Method::GET, "/token"), 2);
}

#[tokio::test]
async fn anyone_gets_a_token_of_a_public_registry() {
    let registry = filled(Server::builder().tokens("ada", "secret").anonymous_pull().start());
    poll(&anonymous(), &registry).await.unwrap();
}

#[tokio::test]
async fn a_registry_token_is_shown_as_it_is() {
    let registry = filled(Server::builder().bearer("given").start());
    poll(&logged_in(&registry, "given", &Session::new()), &registry)
        .await
        .unwrap();
    assert_eq!(
        registry.requests().last().unwrap().credential,
        Some(Shown::bearer("given"))
    );
}

#[tokio::test]
async fn credentials_go_to_no_other_registry() {
    let registry = filled(Server::builder().basic("ada", "secret").start());
    let other = filled(Server::builder().basic("bob", "other").start());
    let client = logged_in(&registry, "ada:secret", &Session::new());
    poll(&client, &registry).await.unwrap();
    poll(&client, &other).await.unwrap_err();
    assert!(
        other
            .requests()
            .iter()
            .all(|request| request.credential.is_none())
    );
}

#[tokio::test]
async fn a_redirect_to_another_host_carries_no_credentials() {
    let registry = filled(Server::builder().basic("ada", "secret").start());
    let store = filled(Server::start());
    let client = logged_in(&registry, "ada:secret", &Session::new());
    let digest = registry.digest("team/app", "latest").unwrap();
    registry.fail(Fault::redirect(307, &store.url()).on("/blobs/"));
    let directory = tempfile::tempdir().unwrap();
    let repository = repository(&registry, "team/app");
    client
        .pull(&repository, digest.parse().unwrap(), None, directory.path())
        .await
        .unwrap();
    assert_eq!(store.count(Method::GET, "/blobs/"), 1);
    assert!(
        store
            .requests()
            .iter()
            .all(|request| request.credential.is_none())
    );
}

#[tokio::test]
async fn authorities_and_client_certificates_are_used() {
    let (servers, clients) = (Authority::default(), Authority::new("clients"));
    let registry = filled(
        Server::builder()
            .tls(&servers)
            .client_certificates(&clients)
            .start(),
    );
    let identity = clients.client("ada");
    let mut options = options();
    options.http.tls.authorities = Some(servers.pem().into());
    let without = Client::new(&options, Keychain::anonymous(), &Session::new()).unwrap();
    let error = poll(&without, &registry).await.unwrap_err();
    assert!(matches!(error, Error::Transport { .. }), "{error}");
    options.http.tls.certificate = Some(identity.certificate.into());
    options.http.tls.key = Some(identity.key.into());
    let with = Client::new(&options, Keychain::anonymous(), &Session::new()).unwrap();
    poll(&with, &registry).await.unwrap();
}

#[tokio::test]
async fn an_insecure_registry_may_have_any_certificate_or_none() {
    let registry = filled(Server::builder().tls(&Authority::default()).start());
    let error = poll(&anonymous(), &registry).await.unwrap_err();
    assert!(matches!(error, Error::Transport { .. }), "{error}");
    let insecure = Options {
        insecure: true,
        ..options()
    };
    let client = Client::new(&insecure, Keychain::anonymous(), &Session::new()).unwrap();
    poll(&client, &registry).await.unwrap();
    poll(&client, &filled(Server::start())).await.unwrap();
}

#[tokio::test]
async fn a_docker_config_logs_in() {
    let registry = filled(Server::builder().basic("ada", "secret").start());
    let json = format!(
        "{{\"auths\":{{\"http://{}\":{{\"auth\":\"YWRhOnNlY3JldA==\"}}}}}}",
        registry.host()
    );
    let keychain = Keychain::docker_config(json.as_bytes()).unwrap();
    let client = Client::new(&options(), keychain, &Session::new()).unwrap();
    poll(&client, &registry).await.unwrap();
}

#[tokio::test]
async fn a_proxy_is_gone_through() {
    let registry = filled(Server::start());
    // Whoever asks a proxy for an http URL names the whole of it; the registry itself can stand in for one.
    let mut options = options();
    options.insecure = true;
    options.http.timeout = Some(Duration::from_secs(10));
    options.http.proxy = Some(source::http::Proxy {
        address: registry.url(),
        login: None,
    });
    let session = Session::new();
    let client = Client::new(&options, Keychain::anonymous(), &session).unwrap();
    let repository = source::oci::Repository::parse("oci://registry.invalid/team/app").unwrap();
    client
        .resolve(&repository, &Selector::default(), None)
        .await
        .unwrap();
    assert_eq!(registry.count(Method::HEAD, "/team/app/manifests/latest"), 1);
}

#[tokio::test]
async fn an_identity_token_is_changed_for_another() {
    let tokens = testkit::http::Server::serve(|request: &testkit::http::Request| {
        let form = String::from_utf8(request.body.to_vec()).unwrap();
        assert!(
            form.contains("grant_type=refresh_token") && form.contains("refresh_token=mine"),
            "{form}"
        );
        assert!(form.contains("scope=repository%3Ateam%2Fapp%3Apull"), "{form}");
        testkit::http::Reply::json("{\"access_token\":\"given\",\"expires_in\":300}")
    });
    let registry = filled(Server::builder().bearer("given").start());
    let challenge = format!("Bearer realm=\"{}/token\",service=\"s\"", tokens.url());
    registry.fail(Fault::status(401).header("WWW-Authenticate", &challenge));
    let keychain =
        Keychain::for_registry_of(&repository(&registry, "any"), Credential::Identity("mine".into()));
    let client = Client::new(&options(), keychain, &Session::new()).unwrap();
    poll(&client, &registry).await.unwrap();
    assert_eq!(tokens.requests().len(), 1);
}

/// Whoever trusts a registry is not kept from it by somebody who does not, and no one is led out of TLS.
#[tokio::test]
async fn what_one_client_learns_of_a_registry_says_nothing_to_one_that_trusts_others() {
    let authority = Authority::default();
    let registry = filled(Server::builder().basic("ada", "secret").tls(&authority).start());
    let session = Session::new();
    let stranger = Client::new(&options(), Keychain::anonymous(), &session).unwrap();
    let error = poll(&stranger, &registry).await.unwrap_err();
    assert!(error.to_string().contains("'ca.crt'"), "{error}");
    let mut trusting = options();
    trusting.http.tls.authorities = Some(authority.pem().into_bytes());
    let credential = Credential::parse("ada:secret");
    let keychain = Keychain::for_registry_of(&repository(&registry, "any"), credential);
    let friend = Client::new(&trusting, keychain.clone(), &session).unwrap();
    poll(&friend, &registry).await.unwrap();
    let insecure = Options {
        insecure: true,
        ..options()
    };
    let careless = Client::new(&insecure, keychain, &session).unwrap();
    poll(&careless, &registry).await.unwrap();
    assert!(poll(&stranger, &registry).await.is_err());
}

/// A registry whose token server has moved, or that wants something else than before, says so when it is asked.
#[tokio::test]
async fn a_registry_that_wants_something_else_than_before_is_asked_what() {
    let give =
        |_: &testkit::http::Request| testkit::http::Reply::json("{\"token\":\"given\",\"expires_in\":0.001}");
    let (old, new) = (
        testkit::http::Server::serve(give),
        testkit::http::Server::serve(give),
    );
    let registry = filled(Server::builder().bearer("given").start());
    let asks = |realm: &str| {
        registry.heal();
        let challenge = format!("Bearer realm=\"{realm}/token\",service=\"s\"");
        Fault::status(401).header("WWW-Authenticate", &challenge)
    };
    let client = logged_in(&registry, "ada:secret", &Session::new());
    registry.fail(asks(&old.url()));
    poll(&client, &registry).await.unwrap();
    // It has moved, and whoever is where it was knows nothing.
    old.fail(Fault::status(404).forever());
    registry.fail(asks(&new.url()));
    poll(&client, &registry).await.unwrap();
    assert_eq!(new.requests().len(), 1);
    // Where it wants what it wanted, the failure of its token server is told, and nobody logs in twice.
    new.fail(Fault::status(401).forever());
    new.forget_requests();
    registry.fail(asks(&new.url()));
    let error = poll(&client, &registry).await.unwrap_err();
    assert!(error.to_string().contains("its token server"), "{error}");
    assert_eq!(new.requests().len(), 1);
    // At last it wants nothing.
    registry.accept_only(&[]);
    registry.heal();
    poll(&client, &registry).await.unwrap();
}

#[tokio::test]
async fn passwords_that_a_registry_repeats_are_not_told() {
    let registry = testkit::http::Server::serve(|request: &testkit::http::Request| {
        let shown = request
            .headers
            .get("authorization")
            .and_then(|shown| shown.to_str().ok());
        let text = format!("no geheim, no ada:geheim, no {}", shown.unwrap_or_default());
        let body = format!("{{\"errors\":[{{\"code\":\"DENIED\",\"message\":\"{text}\"}}]}}");
        let mut reply = testkit::http::Reply::json(&body);
        reply.status = testkit::http::StatusCode::UNAUTHORIZED;
        reply.with("www-authenticate", "Basic realm=\"r\"")
    });
    let repository = source::oci::Repository::parse(&format!("oci://{}/team/app", registry.host())).unwrap();
    let keychain = Keychain::for_registry_of(&repository, Credential::parse("ada:geheim"));
    let client = Client::new(&options(), keychain, &Session::new()).unwrap();
    let error = client.tags(&repository).await.unwrap_err().to_string();
    assert!(error.contains("DENIED") && error.contains("***"), "{error}");
    assert!(
        !error.contains("geheim") && !error.contains("YWRhOmdlaGVpbQ"),
        "{error}"
    );
}
