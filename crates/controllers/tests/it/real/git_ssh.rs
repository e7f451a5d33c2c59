//! GitRepository on OpenSSH.

use serde_json::json;

use super::git::Git;
use super::git_http::{repository, revision, started};
use super::sshd::Sshd;
use crate::sources::bed::condition;

/// AU2: every kind of key, known hosts of every kind, and what must not be let in
#[tokio::test]
async fn openssh_lets_in_who_has_a_key_and_is_known() {
    let (Some(git), Some(sshd)) = (Git::find(), Sshd::start()) else {
        return;
    };
    let (_, second) = repository(&git);
    let url = sshd.url(&git.path().join("app"));
    let bed = started().await;
    let known = |kind: &str| sshd.known(&format!("host_{kind}"));
    for (name, key, password, hosts, reason) in [
        ("ed25519", "ed25519", None, known("ed25519"), "Succeeded"),
        ("ecdsa", "ecdsa", None, known("ecdsa"), "Succeeded"),
        ("rsa", "rsa", None, known("rsa"), "Succeeded"),
        ("p521", "p521", None, known("ecdsa"), "Succeeded"),
        (
            "p521-unlocked",
            "p521-locked",
            Some("geheim"),
            known("ecdsa"),
            "Succeeded",
        ),
        ("short", "short", None, known("ecdsa"), "Succeeded"),
        (
            "short-unlocked",
            "short-locked",
            Some("geheim"),
            known("ecdsa"),
            "Succeeded",
        ),
        (
            "unlocked",
            "locked",
            Some("geheim"),
            known("ed25519"),
            "Succeeded",
        ),
        ("locked", "locked", None, known("ed25519"), "AuthenticationFailed"),
        (
            "stranger",
            "stranger",
            None,
            known("ed25519"),
            "GitOperationFailed",
        ),
        (
            "unknown",
            "ed25519",
            None,
            "example.com ".to_owned() + &sshd.private("ed25519.pub"),
            "GitOperationFailed",
        ),
        (
            "changed",
            "ed25519",
            None,
            sshd.known("stranger"),
            "GitOperationFailed",
        ),
    ] {
        let mut data = json!({"identity": sshd.private(key), "known_hosts": hosts});
        if let Some(password) = password {
            data["password"] = password.into();
        }
        bed.secret(name, "Opaque", data).await;
        let spec = json!({
            "url": url, "interval": "1h", "ref": {"branch": "main"}, "secretRef": {"name": name},
        });
        bed.create(name, spec).await;
        let status = if reason == "Succeeded" { "True" } else { "False" };
        let object = bed.ready(name, status, reason).await;
        let message = condition(&object, "Ready").unwrap().message;
        let words = match name {
            "locked" => "password",
            "stranger" => "check the credentials",
            "unknown" => "add it to known_hosts",
            "changed" => "does not match known_hosts",
            _ => "stored artifact for revision",
        };
        assert!(message.contains(words), "{name}: {message}");
        if reason == "Succeeded" {
            assert_eq!(revision(&object), format!("main@sha1:{second}"));
        }
    }
    let object = bed.api.get("rsa").await.unwrap();
    assert_eq!(bed.unpacked(&object).await, git.checkout("app", &second));
}

/// G1, G2
#[tokio::test]
async fn changes_come_over_openssh_too() {
    let (Some(git), Some(sshd)) = (Git::find(), Sshd::start()) else {
        return;
    };
    repository(&git);
    let bed = started().await;
    let data = json!({"identity": sshd.private("ed25519"), "known_hosts": sshd.known("host_ed25519")});
    bed.secret("ssh", "Opaque", data).await;
    let spec = json!({
        "url": sshd.url(&git.path().join("app")), "interval": "1h", "ref": {"branch": "main"},
        "secretRef": {"name": "ssh"},
    });
    bed.create("app", spec).await;
    bed.ready("app", "True", "Succeeded").await;
    git.write("app/new.yaml", "new: true\n");
    let commit = git.commit("app", "New");
    let object = bed.recovers("app").await;
    assert_eq!(revision(&object), format!("main@sha1:{commit}"));
    assert_eq!(bed.unpacked(&object).await, git.checkout("app", &commit));
    git.run("app", &["branch", "-m", "other"]);
    let words = ["refs/heads/main", "check that it exists"];
    bed.fails("app", "FetchFailed", "GitOperationFailed", &words)
        .await;
}
