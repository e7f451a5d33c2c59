//! GitRepository: credentials, certificates, proxies.

use api::source::GitRepositorySpec;
use controllers::sources::GitRepositories;
use russh::keys::key::safe_rng;
use russh::keys::ssh_key::LineEnding;
use russh::keys::{Algorithm, PrivateKey};
use serde_json::{Value, json};
use testkit::git::{KeyKind, KeyPair, Server};
use testkit::tls::Authority;

use crate::sources::bad_input::with;
use crate::sources::bed::{Bed, condition};

async fn started() -> Bed<GitRepositorySpec> {
    let mut bed = Bed::start().await;
    bed.run(GitRepositories::new);
    bed
}

fn spec(url: &str, rest: Value) -> Value {
    with(
        json!({"url": url, "interval": "1h", "ref": {"branch": "main"}}),
        rest,
    )
}

fn secret(name: &str) -> Value {
    json!({"secretRef": {"name": name}})
}

fn commit(server: &Server) {
    server.repository("app").commit("main", "Start", [("a", "1")]);
}

/// AU1: a name with a password, or a token, which wins
#[tokio::test]
async fn git_takes_a_password_or_a_token() {
    let server = Server::builder()
        .basic("ada", "geheim")
        .bearer("geheimer")
        .start();
    commit(&server);
    let bed = started().await;
    let url = server.clone_url("app");
    let (password, token) = (
        json!({"username": "ada", "password": "geheim"}),
        json!({"bearerToken": "geheimer"}),
    );
    let both = with(password.clone(), token.clone());
    for (name, data, status, reason) in [
        ("password", password, "True", "Succeeded"),
        ("token", token, "True", "Succeeded"),
        ("both", both, "True", "Succeeded"),
        (
            "half",
            json!({"password": "geheim"}),
            "False",
            "AuthenticationFailed",
        ),
    ] {
        bed.secret(name, "Opaque", data).await;
        bed.create(name, spec(&url, secret(name))).await;
        let object = bed.ready(name, status, reason).await;
        let message = condition(&object, "Ready").unwrap().message;
        assert!(!message.contains("geheim"), "{message}");
        if status == "False" {
            let named = format!("the Secret '{}/{name}'", bed.namespace);
            assert!(message.contains(&named), "{message}");
        }
    }
    // What the URL says counts where there is no Secret.
    let inside = url.replace("http://", "http://ada:geheim@");
    bed.create("inside", spec(&inside, json!({}))).await;
    let object = bed.ready("inside", "True", "Succeeded").await;
    let status = serde_json::to_string(&object.status).unwrap();
    assert!(!status.contains("geheim"), "{status}");
}

/// AU1, AU6: authorities and client certificates, by their current and by their older names
#[tokio::test]
async fn git_shows_and_checks_certificates() {
    let authority = Authority::default();
    let server = Server::builder()
        .tls(&authority)
        .client_certificates(&authority)
        .start();
    commit(&server);
    let bed = started().await;
    let url = server.clone_url("app");
    let client = authority.client("ada");
    let (pem, certificate, key) = (authority.pem(), client.certificate, client.key);
    let current = json!({"ca.crt": pem, "tls.crt": certificate, "tls.key": key});
    let older = json!({"caFile": pem, "certFile": certificate, "keyFile": key});
    for (name, data, status, reason) in [
        ("current", current, "True", "Succeeded"),
        ("older", older, "True", "Succeeded"),
        (
            "none-shown",
            json!({"ca.crt": pem}),
            "False",
            "GitOperationFailed",
        ),
        (
            "half",
            json!({"ca.crt": pem, "tls.crt": certificate}),
            "False",
            "GitOperationFailed",
        ),
    ] {
        bed.secret(name, "Opaque", data).await;
        bed.create(name, spec(&url, secret(name))).await;
        let object = bed.ready(name, status, reason).await;
        let message = condition(&object, "Ready").unwrap().message;
        assert!(!message.contains("PRIVATE"), "{message}");
    }
}

/// AU2: a key with its passphrase, and the server's key; both are needed
#[tokio::test]
async fn ssh_needs_a_key_that_can_be_read_and_known_hosts() {
    let server = Server::start();
    commit(&server);
    let key = PrivateKey::random(&mut safe_rng(), Algorithm::Ed25519).unwrap();
    let public = key.public_key().to_openssh().unwrap();
    let encrypted = key.encrypt(&mut safe_rng(), "geheim").unwrap();
    let encrypted = encrypted.to_openssh(LineEnding::LF).unwrap().to_string();
    let ssh = server.over_ssh().allow_public(&public).start();
    let bed = started().await;
    let url = ssh.clone_url("app");
    let hosts = ssh.known_hosts();
    for (name, data, status, reason, words) in [
        (
            "open",
            json!({"identity": encrypted, "password": "geheim", "known_hosts": hosts}),
            "True",
            "Succeeded",
            "stored artifact",
        ),
        (
            "closed",
            json!({"identity": encrypted, "known_hosts": hosts}),
            "False",
            "AuthenticationFailed",
            "password",
        ),
        (
            "wrong",
            json!({"identity": encrypted, "password": "falsch", "known_hosts": hosts}),
            "False",
            "GitOperationFailed",
            "check it and its passphrase",
        ),
        (
            "garbage",
            json!({"identity": "geheim", "known_hosts": hosts}),
            "False",
            "GitOperationFailed",
            "cannot be read",
        ),
        (
            "bad-hosts",
            json!({"identity": encrypted, "password": "geheim", "known_hosts": "one two\n"}),
            "False",
            "GitOperationFailed",
            "line 1 of 'known_hosts' cannot be read: correct or remove it",
        ),
        (
            "no-key",
            json!({"known_hosts": hosts}),
            "False",
            "AuthenticationFailed",
            "identity",
        ),
        (
            "no-hosts",
            json!({"identity": encrypted, "password": "geheim"}),
            "False",
            "AuthenticationFailed",
            "known_hosts",
        ),
    ] {
        bed.secret(name, "Opaque", data).await;
        bed.create(name, spec(&url, secret(name))).await;
        let object = bed.ready(name, status, reason).await;
        let message = condition(&object, "Ready").unwrap().message;
        assert!(message.contains(words), "{name}: {message}");
        assert!(!message.contains("geheim"), "{message}");
    }
}

/// AU2: keys of all kinds that OpenSSH makes
#[tokio::test]
async fn ssh_takes_every_kind_of_key() {
    let server = Server::start();
    commit(&server);
    let bed = started().await;
    for (name, kind) in [
        ("ed25519", KeyKind::Ed25519),
        ("ecdsa", KeyKind::Ecdsa),
        ("rsa", KeyKind::Rsa),
    ] {
        let key = KeyPair::generate(kind);
        let ssh = server.over_ssh().allow(&key).start();
        let data = json!({"identity": key.private(), "known_hosts": ssh.known_hosts()});
        bed.secret(name, "Opaque", data).await;
        bed.create(name, spec(&ssh.clone_url("app"), secret(name))).await;
        bed.ready(name, "True", "Succeeded").await;
    }
}

/// AU3: the keys of a GitHub App are used only by the provider `github`, which needs them
#[tokio::test]
async fn a_github_app_belongs_to_its_provider() {
    let server = Server::start();
    commit(&server);
    let bed = started().await;
    let url = server.clone_url("app");
    bed.secret(
        "app",
        "Opaque",
        json!({"githubAppID": "1", "githubAppPrivateKey": "geheim"}),
    )
    .await;
    bed.create("generic", spec(&url, secret("app"))).await;
    let object = bed
        .ready("generic", "False", "InvalidProviderConfiguration")
        .await;
    let message = condition(&object, "Ready").unwrap().message;
    let expected = format!(
        "secretRef '{}/app' has github app data but provider is not set to github: set it",
        bed.namespace
    );
    assert_eq!(message, expected);
    bed.create("github", spec(&url, json!({"provider": "github"})))
        .await;
    let object = bed.ready("github", "False", "InvalidProviderConfiguration").await;
    assert!(condition(&object, "Stalled").is_some());
    assert_eq!(
        condition(&object, "Ready").unwrap().message,
        "secretRef with github app data must be specified when provider is set to github"
    );
}

/// AU7
#[tokio::test]
async fn git_goes_through_the_proxy_of_a_secret() {
    // The server answers whatever host it is asked for, as a proxy would.
    let server = Server::start();
    commit(&server);
    let bed = started().await;
    let login = json!({"address": server.url(), "username": "ada", "password": "geheim"});
    bed.secret("proxy", "Opaque", login).await;
    let rest = json!({"proxySecretRef": {"name": "proxy"}});
    bed.create("app", spec("http://git.invalid/app.git", rest)).await;
    bed.ready("app", "True", "Succeeded").await;
    let mut requests = server.requests().into_iter();
    assert!(requests.all(|request| request.header("proxy-authorization").starts_with("Basic ")));
    for (name, data) in [
        ("none", json!({"username": "ada", "password": "geheim"})),
        (
            "long",
            json!({"address": format!("http://{}/", "x".repeat(2048))}),
        ),
    ] {
        bed.secret(name, "Opaque", data).await;
        let rest = json!({"proxySecretRef": {"name": name}});
        bed.create(name, spec("http://git.invalid/app.git", rest)).await;
        let object = bed.ready(name, "False", "AuthenticationFailed").await;
        let message = condition(&object, "Ready").unwrap().message;
        assert!(
            message.contains("failed to configure proxy options") && message.contains("'address'"),
            "{message}"
        );
    }
}
