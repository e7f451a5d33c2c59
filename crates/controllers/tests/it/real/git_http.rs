//! GitRepository on `git http-backend`.

use api::source::{GitRepository, GitRepositorySpec};
use controllers::sources::GitRepositories;
use serde_json::{Value, json};
use testkit::git::Backend;
use testkit::http::{Builder, Server};
use testkit::program;
use testkit::tls::Authority;

use super::git::Git;
use crate::sources::bad_input::{artifact, with};
use crate::sources::bed::{Bed, condition};

pub(super) async fn started() -> Bed<GitRepositorySpec> {
    let mut bed = Bed::start().await;
    bed.run(GitRepositories::new);
    bed
}

pub(super) fn revision(object: &GitRepository) -> String {
    artifact(object).unwrap().revision.to_string()
}

fn spec(server: &Server<Backend>, rest: Value) -> Value {
    let url = format!("{}/app/.git", server.url());
    with(
        json!({"url": url, "interval": "1h", "ref": {"branch": "main"}}),
        rest,
    )
}

/// A repository with two commits, tags of both kinds, and a file that may be run.
pub(super) fn repository(git: &Git) -> (String, String) {
    git.init("app");
    for number in 0..30 {
        let text = format!("number: {number}\n").repeat(number + 1);
        git.write(&format!("app/d{}/f{number}.yaml", number % 3), &text);
    }
    git.write("app/run.sh", "#!/bin/sh\n");
    git.run("app", &["update-index", "--add", "--chmod=+x", "run.sh"]);
    let first = git.commit("app", "Start");
    git.run("app", &["tag", "-am", "One", "v1.0.0"]);
    git.write("app/d1/f1.yaml", "changed: true\n");
    let second = git.commit("app", "More");
    git.run("app", &["tag", "v1.1.0"]);
    git.run("app", &["gc", "-q"]);
    (first, second)
}

/// G2, G3, G4, A5, T1: what we store is what git itself checks out
#[tokio::test]
async fn what_git_serves_is_stored_as_git_checks_it_out() {
    let Some(git) = Git::find() else { return };
    let (first, second) = repository(&git);
    let server = Server::serve(Backend::new(git.path()));
    let bed = started().await;
    for (name, reference, expected, commit) in [
        (
            "branch",
            json!({"branch": "main"}),
            format!("main@sha1:{second}"),
            &second,
        ),
        (
            "tag",
            json!({"tag": "v1.0.0"}),
            format!("v1.0.0@sha1:{first}"),
            &first,
        ),
        (
            "light",
            json!({"tag": "v1.1.0"}),
            format!("v1.1.0@sha1:{second}"),
            &second,
        ),
        (
            "range",
            json!({"semver": "1.0.x"}),
            format!("v1.0.0@sha1:{first}"),
            &first,
        ),
        (
            "commit",
            json!({"commit": first}),
            format!("sha1:{first}"),
            &first,
        ),
        (
            "name",
            json!({"name": "refs/tags/v1.0.0"}),
            format!("refs/tags/v1.0.0@sha1:{first}"),
            &first,
        ),
    ] {
        bed.create(name, spec(&server, json!({"ref": reference}))).await;
        let object = bed.ready(name, "True", "Succeeded").await;
        assert_eq!(revision(&object), expected, "{name}");
        assert_eq!(bed.unpacked(&object).await, git.checkout("app", commit), "{name}");
    }
}

/// G1, G2: a poll transfers nothing, a change transfers what changed
#[tokio::test]
async fn git_sends_only_what_changed() {
    let Some(git) = Git::find() else { return };
    repository(&git);
    let server = Server::serve(Backend::new(git.path()));
    let bed = started().await;
    bed.create("app", spec(&server, json!({}))).await;
    bed.ready("app", "True", "Succeeded").await;
    server.forget_requests();
    bed.recovers("app").await;
    let requests = server.requests();
    assert!(
        requests.len() <= 2 && requests.iter().all(|request| request.body < 400),
        "references are listed: {requests:?}"
    );
    for round in 0..3 {
        git.write("app/d2/f2.yaml", &format!("round: {round}\n"));
        let commit = git.commit("app", "Round");
        let object = bed.recovers("app").await;
        assert_eq!(revision(&object), format!("main@sha1:{commit}"));
        assert_eq!(bed.unpacked(&object).await, git.checkout("app", &commit));
    }
    // A branch that was pushed over, and one whose history is gone from the server.
    git.run("app", &["reset", "-q", "--hard", "v1.0.0"]);
    git.write("app/other.yaml", "other: true\n");
    let commit = git.commit("app", "Another way");
    git.run("app", &["reflog", "expire", "--expire=now", "--all"]);
    git.run("app", &["gc", "-q", "--prune=now"]);
    let object = bed.recovers("app").await;
    assert_eq!(bed.unpacked(&object).await, git.checkout("app", &commit));
}

/// `recurseSubmodules`
#[tokio::test]
async fn submodules_that_git_added_come_with_their_files() {
    let Some(git) = Git::find() else { return };
    git.init("lib");
    git.write("lib/lib.yaml", "lib: 1\n");
    git.commit("lib", "Lib");
    git.init("app");
    git.write("app/app.yaml", "app: 1\n");
    let server = Server::serve(Backend::new(git.path()));
    let url = format!("{}/lib/.git", server.url());
    git.run("app", &["submodule", "--quiet", "add", &url, "vendor/lib"]);
    git.commit("app", "With lib");
    let bed = started().await;
    bed.create("app", spec(&server, json!({"recurseSubmodules": true})))
        .await;
    let object = bed.ready("app", "True", "Succeeded").await;
    let expected = [("app.yaml", "app: 1"), ("vendor/lib/lib.yaml", "lib: 1")];
    let expected = expected.map(|(path, text)| (path.to_owned(), text.to_owned()));
    assert_eq!(bed.unpacked(&object).await, expected.into());
}

/// AU1: passwords, authorities and client certificates
#[tokio::test]
async fn git_behind_passwords_and_certificates_is_reached() {
    let Some(git) = Git::find() else { return };
    repository(&git);
    let authority = Authority::default();
    let builder = || Builder::new(Backend::new(git.path())).tls(&authority);
    let basic = builder().basic("ada", "geheim").start();
    let client = builder().client_certificates(&authority).start();
    let bed = started().await;
    let shown = authority.client("ada");
    let pem = authority.pem();
    let login = json!({"username": "ada", "password": "geheim", "ca.crt": pem});
    let wrong = json!({"username": "ada", "password": "falsch", "ca.crt": pem});
    let certificate = json!({"ca.crt": pem, "tls.crt": shown.certificate, "tls.key": shown.key});
    for (name, server, data, status, reason) in [
        ("login", &basic, login, "True", "Succeeded"),
        ("wrong", &basic, wrong, "False", "GitOperationFailed"),
        ("certificate", &client, certificate, "True", "Succeeded"),
        (
            "none",
            &client,
            json!({"ca.crt": pem}),
            "False",
            "GitOperationFailed",
        ),
    ] {
        bed.secret(name, "Opaque", data).await;
        let rest = json!({"secretRef": {"name": name}});
        bed.create(name, spec(server, rest)).await;
        bed.ready(name, status, reason).await;
    }
}

/// V1: what git signs with gpg, on commits and on tags
#[tokio::test]
async fn what_git_signs_with_gpg_is_verified() {
    let (Some(git), Some(_)) = (Git::find(), program::find("gpg")) else {
        return;
    };
    let home = git.path().join("gnupg");
    std::fs::create_dir(&home).unwrap();
    let gpg = |arguments: &[&str]| {
        let mut command = std::process::Command::new("gpg");
        command.args(["--batch", "--quiet", "--pinentry-mode", "loopback"]);
        command.args(["--passphrase", "", "--homedir"]).arg(&home);
        program::run(command.args(arguments))
    };
    gpg(&[
        "--quick-generate-key",
        "Ada <ada@example.com>",
        "ed25519",
        "sign",
        "never",
    ]);
    let public = gpg(&["--armor", "--export", "ada@example.com"]);
    let script = format!("#!/bin/sh\nexec gpg --homedir '{}' \"$@\"\n", home.display());
    let script = git.write("sign", &script);
    program::run(std::process::Command::new("chmod").arg("+x").arg(&script));
    git.init("app");
    git.write("app/a.yaml", "a: 1\n");
    git.commit("app", "Unsigned");
    let with_gpg = format!("gpg.program={}", script.display());
    let key = "user.signingkey=ada@example.com";
    let signing = ["-c", with_gpg.as_str(), "-c", key];
    git.run(
        "app",
        &[&signing[..], &["tag", "-sm", "Tag", "only-tag"]].concat(),
    );
    git.write("app/a.yaml", "a: 2\n");
    git.run("app", &["add", "-A"]);
    git.run(
        "app",
        &[&signing[..], &["commit", "-q", "-S", "-m", "Signed"]].concat(),
    );
    git.run("app", &[&signing[..], &["tag", "-sm", "One", "v1.0.0"]].concat());
    program::run(
        std::process::Command::new("gpgconf")
            .arg("--homedir")
            .arg(&home)
            .args(["--kill", "all"]),
    );
    let server = Server::serve(Backend::new(git.path()));
    let bed = started().await;
    bed.secret("keys", "Opaque", json!({"ada.asc": public})).await;
    let verify = |mode: &str| json!({"mode": mode, "secretRef": {"name": "keys"}});
    for (name, tag, mode, status, reason) in [
        ("both", "v1.0.0", "TagAndHEAD", "True", "Succeeded"),
        ("head", "v1.0.0", "HEAD", "True", "Succeeded"),
        ("tag", "only-tag", "Tag", "True", "Succeeded"),
        (
            "no-head",
            "only-tag",
            "TagAndHEAD",
            "False",
            "InvalidCommitSignature",
        ),
    ] {
        let rest = json!({"ref": {"tag": tag}, "verify": verify(mode)});
        bed.create(name, spec(&server, rest)).await;
        let object = bed.ready(name, status, reason).await;
        let verified = condition(&object, "SourceVerified").unwrap();
        assert_eq!(verified.status.to_string(), status, "{name}");
    }
}
