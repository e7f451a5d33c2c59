//! Pushing over HTTP.

use testkit::git::{Policy, Repository, Server};

use super::program::{Program, git};

/// A server with one commit, and a clone of it.
fn cloned() -> Option<(Program, Server, Repository)> {
    let git = git()?;
    let server = Server::start();
    let repository = server.repository("app");
    repository.commit("main", "One", [("a", "1\n")]);
    git.run(&["clone", "--quiet", &server.clone_url("app"), "clone"]);
    Some((git, server, repository))
}

fn commit(git: &Program, path: &str, content: &str) {
    git.write(&format!("clone/{path}"), content);
    git.run(&["-C", "clone", "add", path]);
    git.run(&["-C", "clone", "commit", "--quiet", "-m", &format!("Write {path}")]);
}

#[test]
fn a_push_moves_the_branch() {
    let Some((git, _server, repository)) = cloned() else {
        return;
    };
    commit(&git, "b", "2\n");
    git.run(&["-C", "clone", "push", "--quiet"]);
    assert_eq!(repository.read("main", "b").as_deref(), Some("2\n"));
    assert_eq!(repository.log("main")[0].1.message(), "Write b\n");
    assert_eq!(repository.stats().pushes, 1);
    // The server hands out again what it was given.
    git.run(&["clone", "--quiet", &_server.clone_url("app"), "again"]);
    git.run(&["-C", "again", "fsck", "--strict"]);
}

#[test]
fn deltas_in_a_pushed_pack_are_resolved() {
    let Some((git, _server, repository)) = cloned() else {
        return;
    };
    let lines = |change: usize| {
        (0..5000)
            .map(|n| format!("line {}\n", n + usize::from(n == change)))
            .collect::<String>()
    };
    for (number, change) in [10, 2000, 4000].into_iter().enumerate() {
        commit(&git, "large", &lines(change));
        commit(&git, &format!("copy{number}"), &lines(change + 1));
    }
    git.run(&["-C", "clone", "push", "--quiet"]);
    assert_eq!(repository.read("main", "large"), Some(lines(4000)));
    // A thin pack: its deltas stand on what was pushed before.
    commit(&git, "large", &lines(4500));
    git.run(&["-C", "clone", "push", "--quiet"]);
    assert_eq!(repository.read("main", "large"), Some(lines(4500)));
}

#[test]
fn a_push_larger_than_a_buffer_is_sent_in_chunks() {
    let Some((git, _server, repository)) = cloned() else {
        return;
    };
    let git = git.setting("http.postBuffer=2000");
    let text: String = (0..20_000_u32)
        .map(|n| format!("{:x}\n", n.wrapping_mul(2_654_435_761)))
        .collect();
    commit(&git, "large", &text);
    git.run(&["-C", "clone", "push", "--quiet"]);
    assert_eq!(repository.read("main", "large"), Some(text));
}

#[test]
fn new_branches_and_tags_are_made_and_deleted() {
    let Some((git, _server, repository)) = cloned() else {
        return;
    };
    git.run(&["-C", "clone", "tag", "light"]);
    git.run(&["-C", "clone", "tag", "-a", "-m", "Release", "v1"]);
    git.run(&[
        "-C",
        "clone",
        "push",
        "--quiet",
        "origin",
        "HEAD:refs/heads/feature/x",
        "light",
        "v1",
    ]);
    let names: Vec<_> = repository.refs().into_keys().collect();
    assert_eq!(
        names,
        [
            "refs/heads/feature/x",
            "refs/heads/main",
            "refs/tags/light",
            "refs/tags/v1"
        ]
    );
    git.run(&[
        "-C",
        "clone",
        "push",
        "--quiet",
        "origin",
        ":feature/x",
        ":refs/tags/v1",
    ]);
    let names: Vec<_> = repository.refs().into_keys().collect();
    assert_eq!(names, ["refs/heads/main", "refs/tags/light"]);
    repository.set_policy(Policy {
        refuse_delete: true,
        ..Policy::default()
    });
    let error = git
        .fails(&["-C", "clone", "push", "origin", ":refs/tags/light"])
        .error;
    assert!(error.contains("deletion prohibited"), "{error}");
}

#[test]
fn a_forced_push_is_taken_unless_it_is_refused() {
    let Some((git, _server, repository)) = cloned() else {
        return;
    };
    commit(&git, "b", "2\n");
    git.run(&["-C", "clone", "push", "--quiet"]);
    git.run(&["-C", "clone", "commit", "--quiet", "--amend", "-m", "Amended"]);
    // Without force the client itself refuses.
    assert!(
        git.fails(&["-C", "clone", "push"])
            .error
            .contains("non-fast-forward")
    );
    repository.refuse_non_fast_forward(true);
    let error = git.fails(&["-C", "clone", "push", "--force"]).error;
    assert!(
        error.contains("[remote rejected] main -> main (non-fast-forward)"),
        "{error}"
    );
    repository.refuse_non_fast_forward(false);
    git.run(&["-C", "clone", "push", "--quiet", "--force"]);
    assert_eq!(repository.log("main")[0].1.message(), "Amended\n");
}

#[test]
fn a_hook_may_refuse_and_its_words_are_shown() {
    let Some((git, _server, repository)) = cloned() else {
        return;
    };
    repository.on_push(|push| match push.reference.as_str() {
        "refs/heads/main" => Err(format!("main is closed ({:?})", push.options)),
        _ => Ok(()),
    });
    commit(&git, "b", "2\n");
    let error = git
        .fails(&[
            "-C",
            "clone",
            "push",
            "--push-option=why",
            "origin",
            "HEAD:main",
            "HEAD:open",
        ])
        .error;
    assert!(error.contains("remote: main is closed ([\"why\"])"), "{error}");
    assert!(
        error.contains("[remote rejected] HEAD -> main (hook declined)"),
        "{error}"
    );
    assert_eq!(repository.read("open", "b").as_deref(), Some("2\n"));
    assert_eq!(repository.read("main", "b"), None);
}

#[test]
fn an_atomic_push_is_all_or_nothing() {
    let Some((git, _server, repository)) = cloned() else {
        return;
    };
    repository.on_push(|push| {
        if push.reference.ends_with("bad") {
            Err("no".into())
        } else {
            Ok(())
        }
    });
    let error = git
        .fails(&[
            "-C",
            "clone",
            "push",
            "--atomic",
            "origin",
            "HEAD:good",
            "HEAD:bad",
        ])
        .error;
    assert!(error.contains("atomic push failure"), "{error}");
    assert_eq!(repository.resolve("good"), None);
}

#[test]
fn a_push_that_was_overtaken_fails() {
    let Some((git, _server, repository)) = cloned() else {
        return;
    };
    let (hooked, mut once) = (repository.clone(), Some(()));
    let once = parking_lot::Mutex::new(once.take());
    repository.on_push(move |_| {
        // Someone else is faster, once.
        if once.lock().take().is_some() {
            hooked.commit("main", "Overtaken", [("c", "3\n")]);
        }
        Ok(())
    });
    commit(&git, "b", "2\n");
    let error = git.fails(&["-C", "clone", "push"]).error;
    assert!(error.contains("failed to update ref"), "{error}");
    git.run(&["-C", "clone", "pull", "--quiet", "--rebase"]);
    git.run(&["-C", "clone", "push", "--quiet"]);
    assert_eq!(repository.log("main").len(), 3);
}

#[test]
fn a_shallow_clone_can_push() {
    let Some(git) = git() else { return };
    let server = Server::start();
    let repository = server.repository("app");
    repository.commit("main", "One", [("a", "1\n")]);
    repository.commit("main", "Two", [("a", "2\n")]);
    git.run(&["clone", "--quiet", "--depth=1", &server.clone_url("app"), "clone"]);
    commit(&git, "b", "3\n");
    git.run(&["-C", "clone", "push", "--quiet"]);
    assert_eq!(repository.log("main").len(), 3);
}
