//! Signatures of commits and tags, made by the test kit and by the real programs.

use std::process::Command;

use russh::keys::ssh_key::LineEnding;
use russh::keys::{Algorithm, HashAlg, PrivateKey, key::safe_rng};
use source::git::signature::{Error, Failure, Keys, Mode, verify};
use source::git::{Checkout, Reference};
use testkit::{git, program};

use super::program::{Git, serve};
use super::{Place, chain, fetch};

const NOW: i64 = 4_000_000_000;

fn sign(key: &PrivateKey) -> impl FnOnce(&[u8]) -> String + 'static {
    let key = key.clone();
    move |payload| {
        let signature = key.sign("git", HashAlg::Sha512, payload).unwrap();
        signature.to_pem(LineEnding::LF).unwrap()
    }
}

fn check(checkout: &Checkout, mode: Mode, keys: &Keys) -> Result<String, Error> {
    verify(&checkout.commit, checkout.tag.as_ref(), mode, keys, NOW).map(|verified| verified.message())
}

#[tokio::test]
async fn each_mode_looks_at_the_commit_the_tag_or_both() {
    let (ada, bob) = [(); 2]
        .map(|()| PrivateKey::random(&mut safe_rng(), Algorithm::Ed25519).unwrap())
        .into();
    let public = |key: &PrivateKey| key.public_key().to_openssh().unwrap();
    let print = |key: &PrivateKey| key.public_key().fingerprint(HashAlg::Sha256).to_string();
    let server = git::Server::start();
    let repository = server.repository("app");
    let signed = repository
        .change("main")
        .file("a", "1")
        .signed(sign(&ada))
        .commit();
    let tag = repository
        .annotated_tag("v1", signed)
        .message("One")
        .signed(sign(&bob))
        .create();
    repository.annotated_tag("bare", signed).create();
    repository.tag("light", signed);
    let place = Place::new();
    let remote = place.remote(&server.clone_url("app"));
    let both = Keys::of([
        ("ada.sshpub", public(&ada).as_bytes()),
        ("bob.sshpub", public(&bob).as_bytes()),
    ]);
    let only_ada = Keys::of([("ada.sshpub", public(&ada).as_bytes())]);

    let tagged = fetch(&remote, Reference::tag("v1")).await.unwrap();
    assert_eq!(
        check(&tagged, Mode::TagAndHead, &both).unwrap(),
        format!(
            "verified signature of\n\t- tag 'v1@{tag}' with key '{}'\n\t- commit '{signed}' with key '{}'",
            print(&bob),
            print(&ada)
        )
    );
    assert!(
        check(&tagged, Mode::Head, &only_ada)
            .unwrap()
            .contains("- commit")
    );
    let error = check(&tagged, Mode::Tag, &only_ada).unwrap_err();
    assert!(
        matches!(
            error,
            Error::Tag {
                source: Failure::NoMatch(_),
                ..
            }
        ),
        "{error}"
    );
    assert!(chain(&error).starts_with(&format!(
        "signature verification of tag 'v1@{tag}' failed: unable to verify"
    )));

    for name in ["bare", "light"] {
        let unsigned = fetch(&remote, Reference::tag(name)).await.unwrap();
        let error = check(&unsigned, Mode::Tag, &both).unwrap_err();
        assert!(matches!(error, Error::TagNotSigned(_)), "{error}");
    }
    let branch = fetch(&remote, Reference::branch("main")).await.unwrap();
    assert!(matches!(
        check(&branch, Mode::TagAndHead, &both).unwrap_err(),
        Error::NoTag
    ));
    let keyrings = Keys::of([("ada.asc", &b"x"[..])]);
    let error = chain(&check(&branch, Mode::Head, &keyrings).unwrap_err());
    assert!(
        error.contains("SSH signature detected but no SSH public keys found in secret"),
        "{error}"
    );
    repository.commit("main", "Unsigned", [("b", "2")]);
    let unsigned = fetch(&remote, Reference::branch("main")).await.unwrap();
    let error = chain(&check(&unsigned, Mode::Head, &both).unwrap_err());
    assert!(error.contains("unsupported signature type: empty"), "{error}");
}

#[tokio::test]
async fn what_the_real_git_signs_with_ssh_is_verified() {
    let (Some(git), Some(keygen)) = (Git::find(), program::find("ssh-keygen")) else {
        return;
    };
    let key = git.path().join("key");
    let mut made = Command::new(keygen);
    program::run(made.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&key));
    git.run(&["init", "-q", "app"]);
    git.write("app/a", "1\n");
    git.run(&["-C", "app", "add", "."]);
    let signing = format!("user.signingkey={}", key.display());
    let options = ["-C", "app", "-c", "gpg.format=ssh", "-c", &signing];
    git.run(&[&options[..], &["commit", "-q", "-S", "-m", "Signed"]].concat());
    git.run(&[&options[..], &["tag", "-sm", "One", "v1"]].concat());
    let server = serve(&git, Vec::new());
    let place = Place::new();
    let remote = place.remote(&format!("{}/app/.git", server.url()));
    let checkout = fetch(&remote, Reference::tag("v1")).await.unwrap();
    let public = std::fs::read(key.with_extension("pub")).unwrap();
    let keys = Keys::of([("me.sshpub", &public[..])]);
    assert!(
        check(&checkout, Mode::TagAndHead, &keys)
            .unwrap()
            .contains("with key 'SHA256:")
    );
}

#[tokio::test]
async fn what_the_real_git_signs_with_gpg_is_verified() {
    let (Some(git), Some(_)) = (Git::find(), program::find("gpg")) else {
        return;
    };
    let home = git.path().join("gnupg");
    std::fs::create_dir(&home).unwrap();
    let gpg = |arguments: &[&str]| {
        let fixed = [
            "--batch",
            "--quiet",
            "--pinentry-mode",
            "loopback",
            "--passphrase",
            "",
            "--homedir",
        ];
        let mut command = Command::new("gpg");
        program::run(command.args(fixed).arg(&home).args(arguments))
    };
    gpg(&["--quick-generate-key", "A <a@x>", "ed25519", "sign", "never"]);
    let public = gpg(&["--armor", "--export", "a@x"]);
    git.run(&["init", "-q", "app"]);
    git.write("app/a", "1\n");
    git.run(&["-C", "app", "add", "."]);
    git.write(
        "sign",
        &format!("#!/bin/sh\nexec gpg --homedir '{}' \"$@\"\n", home.display()),
    );
    let program = git.path().join("sign");
    Command::new("chmod").arg("+x").arg(&program).status().unwrap();
    let program = format!("gpg.program={}", program.display());
    let options = ["-C", "app", "-c", &program, "-c", "user.signingkey=a@x"];
    git.run(&[&options[..], &["commit", "-q", "-S", "-m", "Signed"]].concat());
    git.run(&[&options[..], &["tag", "-sm", "One", "v1"]].concat());
    let _ = Command::new("gpgconf")
        .arg("--homedir")
        .arg(&home)
        .args(["--kill", "all"])
        .status();
    let server = serve(&git, Vec::new());
    let place = Place::new();
    let remote = place.remote(&format!("{}/app/.git", server.url()));
    let checkout = fetch(&remote, Reference::tag("v1")).await.unwrap();
    let message = check(
        &checkout,
        Mode::TagAndHead,
        &Keys::of([("me.asc", public.as_bytes())]),
    )
    .unwrap();
    assert!(
        message.contains("- tag 'v1@") && message.contains("- commit '"),
        "{message}"
    );
}
