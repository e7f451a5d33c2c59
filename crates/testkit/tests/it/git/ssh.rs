//! Git over SSH, with the real `git` and `ssh` programs.

use testkit::git::{Git, KeyKind, KeyPair, SshServer};

use super::program::{Program, git};

/// `git` that uses `ssh` with a key and trusts what the server says of itself.
fn ssh_git(key: &KeyPair, known_hosts: &str) -> Option<Program> {
    let git = git()?;
    testkit::program::find("ssh")?;
    let key = git.write_private("key", &key.private());
    let hosts = git.write("known_hosts", known_hosts);
    let command = format!(
        "ssh -F /dev/null -i {key} -o IdentitiesOnly=yes -o BatchMode=yes -o UserKnownHostsFile={hosts} \
         -o GlobalKnownHostsFile=/dev/null -o StrictHostKeyChecking=yes"
    );
    Some(git.environment("GIT_SSH_COMMAND", command))
}

fn start(host: KeyKind, client: &KeyPair) -> (Git, SshServer) {
    let git = Git::new();
    git.repository("team/app").commit("main", "One", [("a", "1\n")]);
    let server = git
        .over_ssh()
        .host_key(&KeyPair::generate(host))
        .allow(client)
        .start();
    (git, server)
}

#[test]
fn every_kind_of_key_clones_fetches_and_pushes() {
    for kind in [KeyKind::Ed25519, KeyKind::Ecdsa, KeyKind::Rsa] {
        let key = KeyPair::generate(kind);
        let (served, server) = start(kind, &key);
        let Some(git) = ssh_git(&key, &server.known_hosts()) else {
            return;
        };
        let repository = served.repository("team/app");
        git.run(&["clone", "--quiet", &server.clone_url("team/app"), "clone"]);
        repository.commit("main", "Two", [("b", "2\n")]);
        git.run(&["-C", "clone", "pull", "--quiet"]);
        assert_eq!(repository.stats().objects_sent, 3);
        git.run(&["-C", "clone", "commit", "--quiet", "--allow-empty", "-m", "Mine"]);
        git.run(&["-C", "clone", "push", "--quiet"]);
        git.run(&["-C", "clone", "push", "--quiet", "origin", "HEAD:copy"]);
        git.run(&["-C", "clone", "push", "--quiet", "origin", ":copy"]);
        assert_eq!(repository.log("main").len(), 3);
        git.run(&["-C", "clone", "fsck", "--strict"]);
        assert_eq!(server.commands().len(), 5, "{kind:?}");
        assert_eq!(server.commands()[0], "git-upload-pack '/team/app.git'");
    }
}

#[test]
fn every_version_of_the_protocol_is_spoken() {
    let key = KeyPair::generate(KeyKind::Ed25519);
    for version in 0..=2 {
        let (served, server) = start(KeyKind::Ed25519, &key);
        let Some(git) = ssh_git(&key, &server.known_hosts()) else {
            return;
        };
        let git = git.setting(format!("protocol.version={version}"));
        let repository = served.repository("team/app");
        for number in 0..40 {
            repository.commit("main", "More", [("n", number.to_string().as_str())]);
        }
        let url = server.clone_url("team/app");
        assert_eq!(git.run(&["ls-remote", &url]).lines().len(), 2);
        git.run(&["clone", "--quiet", "--depth=2", &url, "clone"]);
        git.run(&["-C", "clone", "fetch", "--quiet", "--unshallow"]);
        for number in 0..40 {
            git.run(&[
                "-C",
                "clone",
                "commit",
                "--quiet",
                "--allow-empty",
                "-m",
                &format!("mine {number}"),
            ]);
        }
        repository.commit("main", "New", [("n", "new")]);
        git.run(&["-C", "clone", "fetch", "--quiet"]);
        assert_eq!(repository.stats().objects_sent, 3, "version {version}");
        git.run(&["-C", "clone", "fsck", "--strict"]);
    }
}

#[test]
fn a_large_repository_travels_both_ways() {
    let key = KeyPair::generate(KeyKind::Ed25519);
    let (served, server) = start(KeyKind::Ed25519, &key);
    let Some(git) = ssh_git(&key, &server.known_hosts()) else {
        return;
    };
    // More than a window of the channel, and hard to compress.
    let text: String = (0..600_000_u32)
        .map(|n| format!("{:x}\n", n.wrapping_mul(2_654_435_761)))
        .collect();
    served
        .repository("team/app")
        .commit("main", "Large", [("large", text.as_str())]);
    git.run(&["clone", "--quiet", &server.clone_url("team/app"), "clone"]);
    assert_eq!(std::fs::read_to_string(git.path("clone/large")).unwrap(), text);
    let turned: String = text.lines().rev().flat_map(|line| [line, "\n"]).collect();
    git.write("clone/turned", &turned);
    git.run(&["-C", "clone", "add", "turned"]);
    git.run(&["-C", "clone", "commit", "--quiet", "-m", "Turned"]);
    git.run(&["-C", "clone", "push", "--quiet"]);
    assert_eq!(served.repository("team/app").read("main", "turned"), Some(turned));
}

#[test]
fn an_unknown_key_is_refused() {
    let key = KeyPair::generate(KeyKind::Ed25519);
    let (_served, server) = start(KeyKind::Ed25519, &key);
    let stranger = KeyPair::generate(KeyKind::Ed25519);
    let Some(git) = ssh_git(&stranger, &server.known_hosts()) else {
        return;
    };
    let error = git.fails(&["ls-remote", &server.clone_url("team/app")]).error;
    assert!(error.contains("Permission denied (publickey)"), "{error}");
    server.allow_only(&[&stranger]);
    git.run(&["ls-remote", &server.clone_url("team/app")]);
}

#[test]
fn an_unknown_host_is_refused_by_the_client() {
    let key = KeyPair::generate(KeyKind::Ed25519);
    let (_served, server) = start(KeyKind::Ed25519, &key);
    let other = start(KeyKind::Ed25519, &key).1.known_hosts();
    let line =
        server.known_hosts().split_once(' ').unwrap().0.to_string() + " " + other.split_once(' ').unwrap().1;
    let Some(git) = ssh_git(&key, &line) else { return };
    let error = git.fails(&["ls-remote", &server.clone_url("team/app")]).error;
    assert!(error.contains("Host key verification failed"), "{error}");
}

#[test]
fn other_commands_and_unknown_repositories_are_refused() {
    let key = KeyPair::generate(KeyKind::Ed25519);
    let (_served, server) = start(KeyKind::Ed25519, &key);
    let Some(git) = ssh_git(&key, &server.known_hosts()) else {
        return;
    };
    let error = git.fails(&["ls-remote", &server.clone_url("none")]).error;
    assert!(error.contains("repository \"/none.git\" not found"), "{error}");
    let error = git
        .fails(&["ls-remote", "--upload-pack=date", &server.clone_url("team/app")])
        .error;
    assert!(
        error.contains("only git-upload-pack and git-receive-pack"),
        "{error}"
    );
}
