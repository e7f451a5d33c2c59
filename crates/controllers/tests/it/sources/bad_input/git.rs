//! Git repositories that cannot be fetched.

use api::source::GitRepositorySpec;
use controllers::sources::GitRepositories;
use serde_json::{Value, json};
use testkit::git::{KeyKind, KeyPair, Kind, Object, PackFault, Repository, Server};
use testkit::http::{Credential, Fault};
use testkit::tls::Authority;

use super::with;
use crate::sources::bed::Bed;

const FETCH: &str = "FetchFailed";
const REASON: &str = "GitOperationFailed";

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

fn commit(repository: &Repository) {
    repository.commit("main", "Start", [("a", "some content that is long enough")]);
}

#[tokio::test]
async fn a_git_server_that_no_longer_takes_the_credentials() {
    let server = Server::builder().basic("ada", "geheim").start();
    commit(&server.repository("app"));
    let bed = started().await;
    bed.secret(
        "login",
        "Opaque",
        json!({"username": "ada", "password": "geheim"}),
    )
    .await;
    let url = server.clone_url("app");
    bed.create("app", spec(&url, json!({"secretRef": {"name": "login"}})))
        .await;
    bed.ready("app", "True", "Succeeded").await;
    server.accept_only(&[Credential::basic("ada", "rotated")]);
    let words = [url.as_str(), "authentication failed", "check the credentials"];
    bed.fails("app", FETCH, REASON, &words).await;
    bed.change_secret("login", json!({"password": "rotated"})).await;
    bed.recovers("app").await;
    server.accept_only(&[]);
    bed.create("nobody", spec(&url, json!({}))).await;
    bed.ready("nobody", "True", "Succeeded").await;
    server.accept_only(&[Credential::basic("ada", "rotated")]);
    let words = [url.as_str(), "authentication failed", "'secretRef'"];
    bed.fails("nobody", FETCH, REASON, &words).await;
}

#[tokio::test]
async fn an_ssh_server_that_is_not_known_or_shows_another_key() {
    let server = Server::start();
    commit(&server.repository("app"));
    let key = KeyPair::generate(KeyKind::Ed25519);
    let ssh = server.over_ssh().allow(&key).start();
    let bed = started().await;
    let known = json!({"identity": key.private(), "known_hosts": ssh.known_hosts()});
    bed.secret("ssh", "Opaque", known.clone()).await;
    let url = ssh.clone_url("app");
    bed.create("app", spec(&url, json!({"secretRef": {"name": "ssh"}})))
        .await;
    bed.ready("app", "True", "Succeeded").await;
    let stranger = KeyPair::generate(KeyKind::Ed25519).public();
    let address = ssh.address();
    let elsewhere = format!("example.com {stranger}\n");
    bed.change_secret("ssh", json!({"known_hosts": elsewhere})).await;
    let host = address.ip().to_string();
    bed.fails(
        "app",
        FETCH,
        REASON,
        &[&host, "not known", "add it to known_hosts"],
    )
    .await;
    let other = format!("[{}]:{} {stranger}\n", address.ip(), address.port());
    bed.change_secret("ssh", json!({"known_hosts": other})).await;
    let words = [&host, "does not match known_hosts", "correct known_hosts"];
    bed.fails("app", FETCH, REASON, &words).await;
    bed.change_secret("ssh", known).await;
    bed.recovers("app").await;
    ssh.allow_only(&[]);
    bed.fails(
        "app",
        FETCH,
        REASON,
        &["authentication failed", "check the credentials"],
    )
    .await;
}

/// A repository behind a certificate of an authority that a Secret names, and its object, which is ready.
async fn behind_tls(authority: &Authority) -> (Server, Bed<GitRepositorySpec>) {
    let server = Server::builder().tls(authority).start();
    commit(&server.repository("app"));
    let bed = started().await;
    bed.secret("ca", "Opaque", json!({"ca.crt": authority.pem()}))
        .await;
    let secret = json!({"secretRef": {"name": "ca"}});
    bed.create("app", spec(&server.clone_url("app"), secret)).await;
    bed.ready("app", "True", "Succeeded").await;
    (server, bed)
}

#[tokio::test]
async fn a_git_server_whose_certificate_is_not_trusted() {
    let authority = Authority::default();
    let (server, bed) = behind_tls(&authority).await;
    let stranger = Authority::new("somebody else");
    bed.change_secret("ca", json!({"ca.crt": stranger.pem()})).await;
    let url = server.clone_url("app");
    let words = [url.as_str(), "TLS", "'ca.crt'"];
    bed.fails("app", FETCH, REASON, &words).await;
    bed.change_secret("ca", json!({"ca.crt": authority.pem()})).await;
    bed.recovers("app").await;
}

#[tokio::test]
async fn references_commits_and_repositories_that_are_gone() {
    let server = Server::start();
    let repository = server.repository("app");
    commit(&repository);
    let bed = started().await;
    let url = server.clone_url("app");
    bed.create("app", spec(&url, json!({}))).await;
    bed.ready("app", "True", "Succeeded").await;
    let none = "1".repeat(40);
    for (reference, words) in [
        (
            json!({"branch": "gone"}),
            ["refs/heads/gone", "check that it exists"],
        ),
        (json!({"tag": "gone"}), ["refs/tags/gone", "check that it exists"]),
        (
            json!({"name": "refs/pull/1/head"}),
            ["refs/pull/1/head", "check that it exists"],
        ),
        (json!({"commit": none}), [&none, "check that it exists"]),
        (json!({"semver": ">=2"}), ["no match found", ">=2"]),
        (json!({"semver": "not a range"}), ["semver", "not a range"]),
    ] {
        bed.patch("app", json!({"spec": {"ref": null}})).await;
        bed.patch("app", json!({"spec": {"ref": reference}})).await;
        let words = [url.as_str(), words[0], words[1]];
        bed.fails("app", FETCH, REASON, &words).await;
    }
    bed.patch("app", json!({"spec": {"ref": null}})).await;
    bed.patch("app", json!({"spec": {"ref": {"branch": "main"}}}))
        .await;
    bed.recovers("app").await;
    repository.delete_ref("refs/heads/main");
    bed.fails(
        "app",
        FETCH,
        "EmptyGitRepository",
        &[&url, "empty", "push a commit"],
    )
    .await;
    server.remove("app");
    bed.fails("app", FETCH, REASON, &[&url, "not found", "check the URL"])
        .await;
}

#[tokio::test]
async fn packs_that_are_broken_and_servers_that_fail_or_hang() {
    let server = Server::start();
    let repository = server.repository("app");
    commit(&repository);
    let bed = started().await;
    let url = server.clone_url("app");
    bed.create("app", spec(&url, json!({"timeout": "1s"}))).await;
    bed.ready("app", "True", "Succeeded").await;
    for fault in [PackFault::Corrupted, PackFault::Truncated] {
        repository.commit("main", "Next", [("b", format!("{fault:?}").as_str())]);
        // Retries meet a broken pack too: each is tried twice.
        (0..20).for_each(|_| repository.break_next_pack(fault.clone()));
        bed.fails(
            "app",
            FETCH,
            REASON,
            &[&url, "the pack that the server sent is broken"],
        )
        .await;
    }
    for (fault, words) in [
        (Fault::status(500), "HTTP status 500"),
        (Fault::drop_connection(), "closed the connection"),
        (Fault::hang(), "timed out after 1s"),
    ] {
        server.heal();
        server.fail(fault.forever());
        bed.fails("app", FETCH, REASON, &[&url, words]).await;
    }
}

#[tokio::test]
async fn a_tree_whose_names_lead_out() {
    let server = Server::start();
    let repository = server.repository("app");
    commit(&repository);
    let bed = started().await;
    let url = server.clone_url("app");
    bed.create("app", spec(&url, json!({}))).await;
    bed.ready("app", "True", "Succeeded").await;
    let blob = repository.put(Object::new(Kind::Blob, "x")).to_string();
    for (name, told) in [
        ("..", "\"..\""),
        (".git", "\".git\""),
        ("git~1", "\"git~1\""),
        ("a\nb", "\"a\\nb\""),
    ] {
        let mut tree = format!("100644 {name}\0").into_bytes();
        tree.extend((0..20).map(|at| u8::from_str_radix(&blob[2 * at..2 * at + 2], 16).unwrap()));
        let tree = repository.put(Object::new(Kind::Tree, tree));
        let text = format!("tree {tree}\nauthor A <a> 1 +0000\ncommitter A <a> 1 +0000\n\nBad\n");
        let commit = repository.put(Object::new(Kind::Commit, text));
        repository.set_ref("refs/heads/main", commit);
        bed.fails("app", FETCH, REASON, &[&url, told, "cannot be used"])
            .await;
    }
}

/// AU6: what is no certificate is told as such, and not as a server that is not trusted
#[tokio::test]
async fn certificates_that_are_none_are_told_by_secret_and_key() {
    let authority = Authority::default();
    let (_server, bed) = behind_tls(&authority).await;
    bed.change_secret("ca", json!({"ca.crt": "geheim"})).await;
    let secret = format!("{}/ca'", bed.namespace);
    let words = [secret.as_str(), "has a key 'ca.crt' that holds no certificate"];
    bed.fails("app", FETCH, REASON, &words).await;
    bed.change_secret("ca", json!({"ca.crt": authority.pem()})).await;
    bed.recovers("app").await;
}
