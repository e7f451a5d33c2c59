//! Cloning and fetching over HTTP, in every version of the protocol.

use testkit::git::{self, Repository};

use super::program::{Program, git};

const VERSIONS: [&str; 3] = ["protocol.version=0", "protocol.version=1", "protocol.version=2"];

/// Runs a check once for each version of the protocol.
fn each_version(check: impl Fn(Program, git::Server)) {
    for version in VERSIONS {
        if let Some(program) = git() {
            eprintln!("with {version}");
            check(program.setting(version), git::Server::start());
        }
    }
}

fn history(repository: &Repository, branch: &str, commits: usize) {
    for number in 1..=commits {
        repository.commit(
            branch,
            &format!("{branch} {number}"),
            [(format!("{branch}.txt").as_str(), number.to_string().as_str())],
        );
    }
}

#[test]
fn a_clone_has_every_file_with_its_mode() {
    each_version(|git, server| {
        let repository = server.repository("team/app");
        repository
            .change("main")
            .file("a/b/c.txt", "deep\n")
            .file("a.txt", "flat\n")
            .file("empty", "")
            .file("binary", vec![0, 255, 10])
            .executable("run.sh", "#!/bin/sh\n")
            .symlink("link", "a.txt")
            .commit();
        git.run(&["clone", "--quiet", &server.clone_url("team/app"), "clone"]);
        git.run(&["-C", "clone", "fsck", "--strict"]);
        let tree = git.run(&["-C", "clone", "ls-tree", "-r", "HEAD"]);
        let modes: Vec<_> = tree
            .lines()
            .iter()
            .map(|line| (&line[..6], line.rsplit('\t').next().unwrap()))
            .collect();
        let expected = [
            ("100644", "a.txt"),
            ("100644", "a/b/c.txt"),
            ("100644", "binary"),
            ("100644", "empty"),
            ("120000", "link"),
            ("100755", "run.sh"),
        ];
        assert_eq!(modes, expected);
        assert_eq!(std::fs::read(git.path("clone/binary")).unwrap(), [0, 255, 10]);
        assert_eq!(
            std::fs::read_link(git.path("clone/link")).unwrap().to_str(),
            Some("a.txt")
        );
        assert_eq!(repository.stats().fetches, 1);
    });
}

#[test]
fn references_are_listed_with_head_and_peeled_tags() {
    each_version(|git, server| {
        let repository = server.repository("app");
        let first = repository.commit("main", "One", [("a", "1")]);
        repository.tag("light", first);
        let tag = repository.annotated_tag("v1", first).message("Release").create();
        repository.set_ref("refs/pull/1/head", first);
        let listed = git.run(&["ls-remote", "--symref", &server.clone_url("app")]);
        let expected = [
            "ref: refs/heads/main\tHEAD".to_string(),
            format!("{first}\tHEAD"),
            format!("{first}\trefs/heads/main"),
            format!("{first}\trefs/pull/1/head"),
            format!("{first}\trefs/tags/light"),
            format!("{tag}\trefs/tags/v1"),
            format!("{first}\trefs/tags/v1^{{}}"),
        ];
        assert_eq!(listed.lines(), expected);
        assert_eq!(
            git.run(&["ls-remote", &server.clone_url("app"), "refs/tags/light"])
                .lines()
                .len(),
            1
        );
        assert_eq!((repository.stats().listings, repository.stats().fetches), (2, 0));
    });
}

#[test]
fn an_empty_repository_can_be_cloned_with_its_branch_name() {
    each_version(|git, server| {
        server.repository("app").set_head("trunk");
        let printed = git.run(&["clone", &server.clone_url("app"), "clone"]);
        assert!(printed.error.contains("empty repository"), "{}", printed.error);
        let head = std::fs::read_to_string(git.path("clone/.git/HEAD")).unwrap();
        assert!(head.contains("trunk") || head.contains("main"), "{head}");
    });
}

#[test]
fn a_second_fetch_brings_only_what_is_new() {
    each_version(|git, server| {
        let repository = server.repository("app");
        history(&repository, "main", 30);
        git.run(&["clone", "--quiet", &server.clone_url("app"), "clone"]);
        assert_eq!(repository.stats().objects_sent, 90);
        let new = repository.commit("main", "New", [("other.txt", "x")]);
        git.run(&["-C", "clone", "pull", "--quiet"]);
        // The commit, its tree and one file.
        assert_eq!(repository.stats().objects_sent, 3);
        assert_eq!(
            git.run(&["-C", "clone", "rev-parse", "HEAD"]).out.trim(),
            new.to_string()
        );
        git.run(&["-C", "clone", "fsck", "--strict"]);
    });
}

#[test]
fn histories_that_grew_apart_are_negotiated() {
    each_version(|git, server| {
        let repository = server.repository("app");
        history(&repository, "main", 5);
        git.run(&["clone", "--quiet", &server.clone_url("app"), "clone"]);
        // More than a round of commits that the server has not, so that requests grow beyond what is sent uncompressed.
        for number in 0..80 {
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
        history(&repository, "other", 3);
        repository.commit("main", "Theirs", [("theirs", "x")]);
        git.run(&["-C", "clone", "fetch", "--quiet"]);
        git.run(&["-C", "clone", "fsck", "--strict"]);
        let theirs = repository.resolve("main").unwrap().to_string();
        assert_eq!(
            git.run(&["-C", "clone", "rev-parse", "origin/main"]).out.trim(),
            theirs
        );
        assert!(repository.stats().objects_sent <= 12, "{:?}", repository.stats());
        let compressed = server
            .requests()
            .iter()
            .any(|record| record.header("content-encoding") == "gzip");
        assert!(compressed, "no request was long enough to be compressed");
    });
}

#[test]
fn a_shallow_clone_deepens_and_becomes_whole() {
    each_version(|git, server| {
        let repository = server.repository("app");
        history(&repository, "main", 10);
        let count = |git: &Program| {
            git.run(&["-C", "clone", "rev-list", "--count", "HEAD"])
                .out
                .trim()
                .to_string()
        };
        git.run(&["clone", "--quiet", "--depth=1", &server.clone_url("app"), "clone"]);
        assert_eq!((count(&git).as_str(), repository.stats().objects_sent), ("1", 3));
        git.run(&["-C", "clone", "fetch", "--quiet", "--depth=4"]);
        assert_eq!((count(&git).as_str(), repository.stats().objects_sent), ("4", 9));
        repository.commit("main", "New", [("new", "x")]);
        git.run(&["-C", "clone", "pull", "--quiet"]);
        assert_eq!((count(&git).as_str(), repository.stats().objects_sent), ("5", 3));
        git.run(&["-C", "clone", "fetch", "--quiet", "--unshallow"]);
        assert_eq!(count(&git), "11");
        git.run(&["-C", "clone", "fsck", "--strict"]);
    });
}

#[test]
fn a_history_is_cut_by_time_and_by_reference() {
    each_version(|git, server| {
        let repository = server.repository("app");
        for (number, day) in [1, 2, 3, 4].into_iter().enumerate() {
            repository
                .change("main")
                .time(1_700_000_000 + day * 86_400)
                .file("n", number.to_string())
                .commit();
        }
        let second = repository.log("main")[2].0;
        repository.set_ref("refs/heads/old", second);
        let url = server.clone_url("app");
        let since = format!("--shallow-since={}", 1_700_000_000 + 3 * 86_400);
        git.run(&["clone", "--quiet", "--single-branch", &since, &url, "since"]);
        git.run(&[
            "clone",
            "--quiet",
            "--single-branch",
            "--shallow-exclude=old",
            &url,
            "without",
        ]);
        for clone in ["since", "without"] {
            assert_eq!(
                git.run(&["-C", clone, "rev-list", "--count", "HEAD"]).out.trim(),
                "2",
                "{clone}"
            );
            git.run(&["-C", clone, "fsck"]);
        }
    });
}

#[test]
fn a_commit_can_be_fetched_by_its_id() {
    each_version(|git, server| {
        let repository = server.repository("app");
        let first = repository.commit("main", "One", [("a", "1")]);
        repository.commit("main", "Two", [("a", "2")]);
        git.run(&["init", "--quiet", "clone"]);
        let url = server.clone_url("app");
        git.run(&[
            "-C",
            "clone",
            "fetch",
            "--quiet",
            "--depth=1",
            &url,
            &first.to_string(),
        ]);
        assert_eq!(git.run(&["-C", "clone", "show", "FETCH_HEAD:a"]).out, "1");
        let unknown = "1".repeat(40);
        let error = git.fails(&["-C", "clone", "fetch", &url, &unknown]).error;
        assert!(
            error.contains("not our ref") || error.contains("unadvertised object"),
            "{error}"
        );
    });
}

#[test]
fn annotated_tags_come_along() {
    each_version(|git, server| {
        let repository = server.repository("app");
        let first = repository.commit("main", "One", [("a", "1")]);
        repository
            .annotated_tag("v1", first)
            .message("First\n\nRelease.")
            .create();
        let url = server.clone_url("app");
        git.run(&["clone", "--quiet", &url, "clone"]);
        let second = repository.commit("main", "Two", [("a", "2")]);
        repository.annotated_tag("v2", second).create();
        // The tag object is sent with the commit it stands for, without a second request.
        let before = repository.stats().fetches;
        git.run(&["-C", "clone", "fetch", "--quiet"]);
        assert_eq!(repository.stats().fetches - before, 1);
        for tag in ["v1", "v2"] {
            assert_eq!(git.run(&["-C", "clone", "cat-file", "-t", tag]).out.trim(), "tag");
        }
    });
}

#[test]
fn files_are_left_out_until_they_are_needed() {
    each_version(|git, server| {
        let repository = server.repository("app");
        repository.commit("main", "One", [("small", "1"), ("large", &"x".repeat(5000))]);
        let url = server.clone_url("app");
        git.run(&[
            "clone",
            "--quiet",
            "--no-checkout",
            "--filter=blob:none",
            &url,
            "none",
        ]);
        assert_eq!(repository.stats().objects_sent, 2);
        git.run(&[
            "clone",
            "--quiet",
            "--no-checkout",
            "--filter=blob:limit=1k",
            &url,
            "limit",
        ]);
        assert_eq!(repository.stats().objects_sent, 3);
        git.run(&["-C", "none", "checkout", "--quiet", "main"]);
        assert_eq!(std::fs::read(git.path("none/large")).unwrap().len(), 5000);
    });
}

#[test]
fn a_pack_larger_than_a_line_arrives() {
    each_version(|git, server| {
        let repository = server.repository("app");
        // Text that does not compress: digits of powers.
        let mut state: u64 = 1;
        let mut digits = String::new();
        while digits.len() < 1 << 20 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            digits.push_str(&state.to_string());
        }
        repository.commit("main", "Large", [("large", digits.as_str())]);
        git.run(&["clone", "--quiet", &server.clone_url("app"), "clone"]);
        assert!(
            repository.stats().bytes_sent > 100_000,
            "{:?}",
            repository.stats()
        );
        assert_eq!(std::fs::read_to_string(git.path("clone/large")).unwrap(), digits);
    });
}
