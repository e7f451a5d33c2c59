//! What the builder makes, as the real `git` sees it.

use std::process::{Command, Stdio};

use testkit::git::{Id, KeyKind, KeyPair, Mode, Server};

use super::program::git;

#[test]
fn commits_say_who_and_when() {
    let Some(git) = git() else { return };
    let server = Server::start();
    let repository = server.repository("app");
    repository.commit("main", "One", [("a", "1")]);
    repository
        .change("main")
        .message("Two\n\nWith a body.")
        .author("Grace", "grace@example.com")
        .committer("Robot", "robot@example.com")
        .time(1_800_000_000)
        .file("a", "2")
        .commit();
    git.run(&["clone", "--quiet", &server.clone_url("app"), "clone"]);
    let log = git.run(&["-C", "clone", "log", "--format=%an %ae|%cn %ce|%at|%s|%b"]);
    let expected = [
        "Grace grace@example.com|Robot robot@example.com|1800000000|Two|With a body.",
        "",
        "Ada ada@example.com|Ada ada@example.com|1767225600|One|",
    ];
    assert_eq!(log.lines(), expected);
}

#[test]
fn the_same_changes_make_the_same_ids() {
    let build = || {
        let repository = testkit::git::Repository::new();
        repository.commit("main", "One", [("a", "1"), ("b/c", "2")])
    };
    assert_eq!(build(), build());
}

#[test]
fn merges_have_several_parents_and_orphans_none() {
    let Some(git) = git() else { return };
    let server = Server::start();
    let repository = server.repository("app");
    let base = repository.commit("main", "Base", [("a", "1")]);
    repository.set_ref("refs/heads/side", base);
    let side = repository.commit("side", "Side", [("b", "1")]);
    let main = repository.commit("main", "Main", [("a", "2")]);
    repository
        .change("main")
        .message("Merge")
        .file("b", "1")
        .merge(side)
        .commit();
    repository
        .change("pages")
        .message("Pages")
        .orphan()
        .file("index", "x")
        .commit();
    git.run(&["clone", "--quiet", &server.clone_url("app"), "clone"]);
    git.run(&["-C", "clone", "fsck", "--strict"]);
    let parents = git.run(&["-C", "clone", "show", "--no-patch", "--format=%P", "HEAD"]);
    assert_eq!(parents.out.trim(), format!("{main} {side}"));
    assert_eq!(
        git.run(&["-C", "clone", "rev-list", "--count", "origin/pages"])
            .out
            .trim(),
        "1"
    );
}

#[test]
fn files_and_directories_take_each_others_place() {
    let repository = testkit::git::Repository::new();
    let paths = |revision: &str| repository.files(revision).into_keys().collect::<Vec<_>>();
    repository.commit("main", "One", [("a/b", "1"), ("a/c", "1"), ("a-b", "1")]);
    repository.commit("main", "Two", [("a", "file")]);
    assert_eq!(paths("main"), ["a", "a-b"]);
    repository.commit("main", "Three", [("a/b/c", "deep")]);
    assert_eq!(paths("main"), ["a-b", "a/b/c"]);
    repository.change("main").delete("a").commit();
    assert_eq!(paths("main"), ["a-b"]);
    assert_eq!(repository.log("main").len(), 4);
    assert_eq!(repository.read("main", "a-b").as_deref(), Some("1"));
    assert_eq!(repository.read("main", "a"), None);
}

#[test]
fn submodules_are_entered_and_can_be_cloned() {
    let Some(git) = git() else { return };
    let git = git.setting("protocol.file.allow=never");
    let server = Server::start();
    let library = server
        .repository("library")
        .commit("main", "Library", [("lib", "code")]);
    let modules = format!(
        "[submodule \"lib\"]\n\tpath = vendor/lib\n\turl = {}\n",
        server.clone_url("library")
    );
    let repository = server.repository("app");
    repository
        .change("main")
        .file(".gitmodules", modules)
        .submodule("vendor/lib", library)
        .commit();
    assert_eq!(repository.files("main")["vendor/lib"], (Mode::Submodule, library));
    git.run(&[
        "clone",
        "--quiet",
        "--recurse-submodules",
        &server.clone_url("app"),
        "clone",
    ]);
    assert_eq!(
        std::fs::read_to_string(git.path("clone/vendor/lib/lib")).unwrap(),
        "code"
    );
}

/// Signs as `git` does with `gpg.format=ssh`.
fn sign(key_file: &str, payload: &[u8]) -> String {
    use std::io::Write;
    let mut command = Command::new("ssh-keygen");
    command.args(["-Y", "sign", "-n", "git", "-f", key_file]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(payload).unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

#[test]
fn signatures_of_commits_and_tags_are_good_in_the_eyes_of_git() {
    let (Some(git), Some(_)) = (git(), testkit::program::find("ssh-keygen")) else {
        return;
    };
    let key = KeyPair::generate(KeyKind::Ed25519);
    let file = git.write_private("key", &key.private());
    let signers = git.write("signers", &format!("ada@example.com {}\n", key.public()));
    let git = git
        .setting("gpg.format=ssh")
        .setting(format!("gpg.ssh.allowedSignersFile={signers}"));
    let server = Server::start();
    let repository = server.repository("app");
    let sign_with = |file: String| move |payload: &[u8]| sign(&file, payload);
    let commit = repository
        .change("main")
        .file("a", "1")
        .signed(sign_with(file.clone()))
        .commit();
    repository
        .annotated_tag("v1", commit)
        .signed(sign_with(file))
        .create();
    let unsigned: Id = repository.commit("main", "Unsigned", [("a", "2")]);
    git.run(&["clone", "--quiet", &server.clone_url("app"), "clone"]);
    let good = git
        .run(&["-C", "clone", "verify-commit", &commit.to_string()])
        .error;
    assert!(
        good.contains("Good \"git\" signature for ada@example.com"),
        "{good}"
    );
    let good = git.run(&["-C", "clone", "verify-tag", "v1"]).error;
    assert!(
        good.contains("Good \"git\" signature for ada@example.com"),
        "{good}"
    );
    git.fails(&["-C", "clone", "verify-commit", &unsigned.to_string()]);
}
