//! GitRepository.

use api::source::{GitRepository, GitRepositorySpec};
use controllers::sources::GitRepositories;
use russh::keys::key::safe_rng;
use russh::keys::ssh_key::LineEnding;
use russh::keys::{Algorithm, HashAlg, PrivateKey};
use serde_json::{Value, json};
use testkit::git::{KeyKind, KeyPair, Server};
use testkit::http::Fault;

use super::bed::{Bed, condition};

pub(super) fn artifact_of(object: &GitRepository) -> Option<&model::Artifact> {
    object.status.as_ref()?.artifact.as_ref()
}

pub(super) type GitBed = Bed<GitRepositorySpec>;

pub(super) fn spec(url: &str, rest: Value) -> Value {
    let mut spec = json!({"url": url, "interval": "1h", "ref": {"branch": "main"}});
    spec.as_object_mut()
        .unwrap()
        .extend(rest.as_object().unwrap().clone());
    spec
}

pub(super) async fn started() -> GitBed {
    let mut bed = GitBed::start().await;
    bed.run(GitRepositories::new);
    bed
}

pub(super) fn revision(object: &GitRepository) -> String {
    let artifact = object.status.as_ref().and_then(|status| status.artifact.as_ref());
    artifact
        .map(|artifact| artifact.revision.to_string())
        .unwrap_or_default()
}

/// A2, A3, G7, S4: where a commit is stored, and what is told of it
#[tokio::test]
async fn a_commit_is_stored_and_told_of() {
    let server = Server::start();
    let repository = server.repository("team/app");
    let files = [
        ("app.yaml", "replicas: 1\n"),
        ("docs/logo.png", "x"),
        (".github/ci.yaml", ""),
    ];
    let commit = repository.commit("main", "Start with one\n\nAnd more.", files);
    let bed = started().await;
    bed.create("app", spec(&server.clone_url("team/app"), json!({})))
        .await;
    let object = bed.ready("app", "True", "Succeeded").await;
    let artifact = object.status.as_ref().unwrap().artifact.clone().unwrap();
    assert_eq!(revision(&object), format!("main@sha1:{commit}"));
    let path = format!("gitrepository/{}/app/{commit}.tar.gz", bed.namespace);
    assert_eq!(artifact.path, path);
    assert_eq!(
        bed.names(artifact_of(&object)),
        [".", "app.yaml", "docs"],
        "what Flux leaves out is left out"
    );
    let ready = condition(&object, "Ready").unwrap();
    assert_eq!(
        ready.message,
        format!("stored artifact for revision 'main@sha1:{commit}'")
    );
    bed.until_told(
        "app",
        "Normal",
        "NewArtifact",
        "stored artifact for commit 'Start with one'",
    )
    .await;
}

#[tokio::test]
async fn a_poll_that_finds_nothing_new_asks_once_and_writes_nothing() {
    let server = Server::start();
    let repository = server.repository("team/app");
    repository.commit("main", "Start", [("a", "1")]);
    let bed = started().await;
    let often = json!({"interval": "1s"});
    bed.create("app", spec(&server.clone_url("team/app"), often))
        .await;
    let before = bed.ready("app", "True", "Succeeded").await;
    let fetches = repository.stats().fetches;
    let asked = server.requests().len();
    let polled = testkit::settled(testkit::DEADLINE, server.changes(), async || {
        let polls = server.requests().len() - asked;
        if polls >= 3 {
            Ok(())
        } else {
            Err(format!("{polls} polls"))
        }
    });
    polled.await.unwrap();
    assert_eq!(repository.stats().fetches, fetches, "nothing is fetched");
    let after = bed.api.get("app").await.unwrap();
    assert_eq!(
        after.metadata.resource_version, before.metadata.resource_version,
        "nothing is written"
    );
}

#[tokio::test]
async fn many_objects_of_one_commit_cost_one_fetch_and_one_file() {
    let server = Server::start();
    let repository = server.repository("team/app");
    repository.commit("main", "Start", [("a", "1")]);
    let bed = started().await;
    let url = server.clone_url("team/app");
    let names: Vec<String> = (0..20).map(|number| format!("app-{number}")).collect();
    for name in &names {
        bed.create(name, spec(&url, json!({}))).await;
    }
    let mut files = std::collections::HashSet::new();
    for name in &names {
        let object = bed.ready(name, "True", "Succeeded").await;
        let file = bed.store.read(artifact_of(&object).unwrap()).unwrap();
        files.insert(std::os::unix::fs::MetadataExt::ino(&file.metadata().unwrap()));
    }
    assert_eq!(repository.stats().fetches, 1);
    assert_eq!(files.len(), 1, "all artifacts are one file");
}

#[tokio::test]
async fn a_new_commit_replaces_the_artifact_and_a_failure_does_not() {
    let server = Server::start();
    let repository = server.repository("team/app");
    repository.commit("main", "Start", [("a", "1")]);
    let bed = started().await;
    let often = json!({"interval": "1s"});
    bed.create("app", spec(&server.clone_url("team/app"), often))
        .await;
    bed.ready("app", "True", "Succeeded").await;
    let second = repository.commit("main", "Second", [("b", "2")]);
    let wanted = format!("main@sha1:{second}");
    bed.until("app", |object| revision(object) == wanted).await;
    server.fail(Fault::status(500).forever());
    let third = repository.commit("main", "Third", [("c", "3")]);
    let failed = bed.ready("app", "False", "GitOperationFailed").await;
    assert_eq!(revision(&failed), wanted, "the last good artifact stays");
    bed.store.read(&failed.status.unwrap().artifact.unwrap()).unwrap();
    server.heal();
    let wanted = format!("main@sha1:{third}");
    bed.until("app", |object| revision(object) == wanted).await;
}

#[tokio::test]
async fn every_form_of_a_reference_leads_to_its_revision() {
    let server = Server::start();
    let repository = server.repository("team/app");
    let first = repository.commit("main", "First", [("a", "1")]);
    repository.annotated_tag("v1.0.0", first).create();
    let second = repository.commit("main", "Second", [("a", "2")]);
    repository.annotated_tag("v1.1.0", second).create();
    let bed = started().await;
    let url = server.clone_url("team/app");
    for (name, reference, expected) in [
        ("tag", json!({"tag": "v1.0.0"}), format!("v1.0.0@sha1:{first}")),
        (
            "semver",
            json!({"semver": ">=1.0.0 <2"}),
            format!("v1.1.0@sha1:{second}"),
        ),
        (
            "name",
            json!({"name": "refs/heads/main"}),
            format!("refs/heads/main@sha1:{second}"),
        ),
        (
            "commit",
            json!({"commit": first.to_string()}),
            format!("sha1:{first}"),
        ),
        (
            "both",
            json!({"branch": "main", "commit": first.to_string()}),
            format!("main@sha1:{first}"),
        ),
        (
            "tag-first",
            json!({"tag": "v1.0.0", "semver": "1.x"}),
            format!("v1.0.0@sha1:{first}"),
        ),
    ] {
        bed.create(name, spec(&url, json!({"ref": reference}))).await;
        let object = bed.ready(name, "True", "Succeeded").await;
        assert_eq!(revision(&object), expected, "{name}");
    }
    for (name, reference) in [
        ("no-branch", json!({"branch": "none"})),
        ("no-version", json!({"semver": ">=9.0.0"})),
    ] {
        bed.create(name, spec(&url, json!({"ref": reference}))).await;
        bed.ready(name, "False", "GitOperationFailed").await;
    }
}

#[tokio::test]
async fn credentials_over_http_and_ssh_come_from_a_secret() {
    let server = Server::builder().basic("ada", "geheim").start();
    server
        .repository("team/app")
        .commit("main", "Start", [("a", "1")]);
    let key = KeyPair::generate(KeyKind::Ed25519);
    let ssh = server.over_ssh().allow(&key).start();
    let bed = started().await;
    bed.secret("http", "Opaque", json!({"username": "ada", "password": "geheim"}))
        .await;
    bed.secret("half", "Opaque", json!({"username": "ada"})).await;
    let identity = json!({"identity": key.private(), "known_hosts": ssh.known_hosts()});
    bed.secret("ssh", "Opaque", identity).await;
    bed.secret("no-hosts", "Opaque", json!({"identity": key.private()}))
        .await;
    let other = format!("example.com {}\n", KeyPair::generate(KeyKind::Ed25519).public());
    let stranger = json!({"identity": key.private(), "known_hosts": other});
    bed.secret("stranger", "Opaque", stranger).await;
    let (http, over_ssh) = (server.clone_url("team/app"), ssh.clone_url("team/app"));
    for (name, url, secret, reason) in [
        ("http", &http, "http", "Succeeded"),
        ("half", &http, "half", "GitOperationFailed"),
        ("ssh", &over_ssh, "ssh", "Succeeded"),
        ("no-hosts", &over_ssh, "no-hosts", "AuthenticationFailed"),
        ("stranger", &over_ssh, "stranger", "GitOperationFailed"),
        ("nowhere", &http, "nowhere", "AuthenticationFailed"),
    ] {
        bed.create(name, spec(url, json!({"secretRef": {"name": secret}})))
            .await;
        let status = if reason == "Succeeded" { "True" } else { "False" };
        let object = bed.ready(name, status, reason).await;
        let message = condition(&object, "Ready").unwrap().message;
        assert!(!message.contains("geheim"), "{name}: {message}");
    }
    bed.create("none", spec(&http, json!({}))).await;
    bed.ready("none", "False", "GitOperationFailed").await;
}

#[tokio::test]
async fn other_rules_make_another_artifact_of_the_same_commit() {
    let server = Server::start();
    let files = [("apps/a.yaml", ""), ("infra/b.yaml", ""), ("readme.md", "")];
    server.repository("team/app").commit("main", "Start", files);
    let bed = started().await;
    let sparse = json!({"sparseCheckout": ["apps"]});
    bed.create("app", spec(&server.clone_url("team/app"), sparse))
        .await;
    let object = bed.ready("app", "True", "Succeeded").await;
    assert_eq!(bed.names(artifact_of(&object)), [".", "apps", "apps/a.yaml"]);
    let change = json!({"spec": {"sparseCheckout": null, "ignore": "/*\n!/infra\n"}});
    bed.patch("app", change).await;
    let object = bed
        .until("app", |object| {
            let status = object.status.as_ref().unwrap();
            status.observed_generation == Some(2) && status.observed_ignore.is_some()
        })
        .await;
    assert_eq!(bed.names(artifact_of(&object)), [".", "infra", "infra/b.yaml"]);
    bed.patch("app", json!({"spec": {"sparseCheckout": ["none"]}}))
        .await;
    bed.ready("app", "False", "GitOperationFailed").await;
}

#[tokio::test]
async fn only_what_is_signed_as_it_must_be_is_stored() {
    let server = Server::start();
    let repository = server.repository("team/app");
    let key = PrivateKey::random(&mut safe_rng(), Algorithm::Ed25519).unwrap();
    let public = key.public_key().to_openssh().unwrap();
    let signer = key.clone();
    let sign = move |payload: &[u8]| {
        let signature = signer.sign("git", HashAlg::Sha256, payload).unwrap();
        signature.to_pem(LineEnding::LF).unwrap()
    };
    let signed = repository.change("main").file("a", "1").signed(sign).commit();
    repository.commit("unsigned", "Start", [("a", "1")]);
    let bed = started().await;
    bed.secret("keys", "Opaque", json!({"ada.sshpub": public})).await;
    let other = PrivateKey::random(&mut safe_rng(), Algorithm::Ed25519).unwrap();
    let other = other.public_key().to_openssh().unwrap();
    bed.secret("other", "Opaque", json!({"eve.sshpub": other})).await;
    let url = server.clone_url("team/app");
    for (name, branch, mode, secret, reason) in [
        ("unsigned", "unsigned", "HEAD", "keys", "InvalidCommitSignature"),
        ("stranger", "main", "HEAD", "other", "InvalidCommitSignature"),
        ("no-tag", "main", "Tag", "keys", "InvalidVerificationMode"),
        ("no-keys", "main", "HEAD", "nowhere", "VerificationError"),
    ] {
        let verify =
            json!({"ref": {"branch": branch}, "verify": {"mode": mode, "secretRef": {"name": secret}}});
        bed.create(name, spec(&url, verify)).await;
        let object = bed.ready(name, "False", reason).await;
        assert_eq!(revision(&object), "", "{name}");
    }
    let verify = json!({"verify": {"mode": "HEAD", "secretRef": {"name": "keys"}}});
    bed.create("signed", spec(&url, verify)).await;
    let object = bed.ready("signed", "True", "Succeeded").await;
    let message = condition(&object, "SourceVerified").unwrap().message;
    let expected = format!("verified signature of\n\t- commit '{signed}' with key 'SHA256:");
    assert!(message.starts_with(&expected), "{message}");
    let mode = object.status.unwrap().source_verification_mode.unwrap();
    assert_eq!(mode.to_string(), "HEAD");
}

#[tokio::test]
async fn an_empty_repository_is_told_as_such() {
    let server = Server::start();
    server.repository("team/app");
    let bed = started().await;
    bed.create("app", spec(&server.clone_url("team/app"), json!({})))
        .await;
    bed.ready("app", "False", "EmptyGitRepository").await;
}
