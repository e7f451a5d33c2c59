//! GitRepository: `verify`.

use api::source::GitRepositorySpec;
use controllers::sources::GitRepositories;
use russh::keys::key::safe_rng;
use russh::keys::ssh_key::LineEnding;
use russh::keys::{Algorithm, HashAlg, PrivateKey};
use serde_json::{Value, json};
use testkit::git::Server;

use crate::sources::bad_input::{artifact, with};
use crate::sources::bed::{Bed, condition};
use crate::sources::follow::shown;

async fn started() -> Bed<GitRepositorySpec> {
    let mut bed = Bed::start().await;
    bed.run(GitRepositories::new);
    bed
}

fn signer(key: &PrivateKey) -> impl FnOnce(&[u8]) -> String + 'static {
    let key = key.clone();
    move |payload| {
        let signature = key.sign("git", HashAlg::Sha512, payload).unwrap();
        signature.to_pem(LineEnding::LF).unwrap()
    }
}

fn spec(server: &Server, reference: Value, mode: &str) -> Value {
    let spec = json!({"url": server.clone_url("app"), "interval": "1h", "ref": reference});
    with(
        spec,
        json!({"verify": {"mode": mode, "secretRef": {"name": "keys"}}}),
    )
}

/// V1, V2: each mode wants the signature of the commit, of the tag, or of both
#[tokio::test]
async fn each_mode_wants_its_signatures() {
    let key = PrivateKey::random(&mut safe_rng(), Algorithm::Ed25519).unwrap();
    let server = Server::start();
    let repository = server.repository("app");
    let plain = repository.commit("main", "Unsigned", [("a", "1")]);
    repository
        .annotated_tag("signed-tag", plain)
        .signed(signer(&key))
        .create();
    let signed = repository
        .change("main")
        .file("a", "2")
        .signed(signer(&key))
        .commit();
    repository.annotated_tag("unsigned-tag", signed).create();
    let both = repository
        .annotated_tag("both", signed)
        .signed(signer(&key))
        .create();
    let bed = started().await;
    let public = key.public_key().to_openssh().unwrap();
    bed.secret("keys", "Opaque", json!({"ada.sshpub": public})).await;
    let tag = |name: &str| json!({"tag": name});
    for (name, reference, mode, ready) in [
        ("head", json!({"branch": "main"}), "HEAD", "True/Succeeded"),
        ("lower", json!({"branch": "main"}), "head", "True/Succeeded"),
        ("tag", tag("signed-tag"), "Tag", "True/Succeeded"),
        ("both", tag("both"), "TagAndHEAD", "True/Succeeded"),
        (
            "no-head",
            tag("signed-tag"),
            "TagAndHEAD",
            "False/InvalidCommitSignature",
        ),
        ("no-tag", tag("unsigned-tag"), "Tag", "False/InvalidGitObject"),
        (
            "branch",
            json!({"branch": "main"}),
            "Tag",
            "False/InvalidVerificationMode",
        ),
    ] {
        bed.create(name, spec(&server, reference, mode)).await;
        let (status, reason) = ready.split_once('/').unwrap();
        let object = bed.ready(name, status, reason).await;
        let verified = if status == "True" { "True/Succeeded" } else { ready };
        assert_eq!(shown(&object, "SourceVerified"), verified, "{name}");
        assert_eq!(artifact(&object).is_some(), status == "True", "{name}");
        let stalled = condition(&object, "Stalled").is_some();
        assert_eq!(stalled, name == "branch", "{name}");
    }
    let object = bed.api.get("both").await.unwrap();
    let message = condition(&object, "SourceVerified").unwrap().message;
    let print = key.public_key().fingerprint(HashAlg::Sha256);
    let expected = format!(
        "verified signature of\n\t- tag 'both@{both}' with key '{print}'\n\t- commit '{signed}' with key '{print}'"
    );
    assert_eq!(message, expected);
}

/// V8, V9, G6: a stricter mode is verified anew; what is then not signed keeps the last good artifact served
#[tokio::test]
async fn a_stricter_mode_is_verified_anew() {
    let key = PrivateKey::random(&mut safe_rng(), Algorithm::Ed25519).unwrap();
    let server = Server::start();
    let repository = server.repository("app");
    let signed = repository
        .change("main")
        .file("a", "1")
        .signed(signer(&key))
        .commit();
    repository.annotated_tag("v1.0.0", signed).create();
    let bed = started().await;
    let public = key.public_key().to_openssh().unwrap();
    bed.secret("keys", "Opaque", json!({"ada.sshpub": public})).await;
    bed.create("app", spec(&server, json!({"tag": "v1.0.0"}), "HEAD"))
        .await;
    bed.ready("app", "True", "Succeeded").await;
    bed.patch("app", json!({"spec": {"verify": {"mode": "TagAndHEAD"}}}))
        .await;
    bed.fails(
        "app",
        "SourceVerified",
        "InvalidGitObject",
        &["v1.0.0", "not signed"],
    )
    .await;
    bed.patch("app", json!({"spec": {"verify": null}})).await;
    let object = bed.recovers("app").await;
    assert!(condition(&object, "SourceVerified").is_none());
    assert!(object.status.unwrap().source_verification_mode.is_none());
}
