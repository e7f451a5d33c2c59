//! Repositories that the real `git` made and serves. Without the program these tests have nothing to do.

use std::path::Path;
use std::process::Command;

use source::git::{Reference, Request};
use tempfile::TempDir;
use testkit::git::Backend;

use super::{Place, chain, content, fetched, wanted};

pub(crate) struct Git {
    home: TempDir,
}

impl Git {
    pub(crate) fn find() -> Option<Self> {
        testkit::program::find("git")?;
        Some(Git {
            home: tempfile::tempdir().unwrap(),
        })
    }

    pub(crate) fn path(&self) -> &Path {
        self.home.path()
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args([
                "-c",
                "user.name=A",
                "-c",
                "user.email=a@x",
                "-c",
                "init.defaultBranch=main",
                "-C",
            ])
            .arg(self.home.path())
            .args(arguments)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("HOME", self.home.path())
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.home.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

pub(crate) fn serve(
    git: &Git,
    environment: Vec<(&'static str, &'static str)>,
) -> testkit::http::Server<Backend> {
    let backend = Backend::new(git.path());
    let backend = environment
        .into_iter()
        .fold(backend, |backend, (name, value)| backend.environment(name, value));
    testkit::http::Server::serve(backend)
}

fn tree_by_git(git: &Git, revision: &str) -> Vec<String> {
    let listed = git.run(&["-C", "app", "ls-tree", "-r", revision]);
    let shown = listed.lines().filter(|line| line.starts_with("100")).map(|line| {
        let (head, path) = line.split_once('\t').unwrap();
        let star = if head.starts_with("100755") { "*" } else { "" };
        format!(
            "{path}{star} {}",
            git.run(&["-C", "app", "show", &format!("{revision}:{path}")])
        )
    });
    let mut shown: Vec<String> = shown.collect();
    shown.sort();
    shown
}

fn files(checkout: &source::git::Checkout) -> Vec<String> {
    let mut files: Vec<String> = content(checkout)
        .into_iter()
        .filter(|line| !line.ends_with('/'))
        .collect();
    files.sort();
    files
}

/// Text that cannot be compressed to nothing.
fn noise(seed: u64) -> String {
    let mut state = seed + 1;
    let word = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        format!("{state:016x}\n")
    };
    (0..60).map(word).collect()
}

fn repository(git: &Git) {
    git.run(&["init", "-q", "app"]);
    for number in 0..40 {
        git.write(&format!("app/d{}/f{number}", number % 4), &noise(number));
    }
    git.write("app/run.sh", "#!/bin/sh\n");
    git.run(&["-C", "app", "update-index", "--add", "--chmod=+x", "run.sh"]);
    git.run(&["-C", "app", "add", "."]);
    git.run(&["-C", "app", "commit", "-qm", "Start"]);
    git.run(&["-C", "app", "tag", "-am", "One", "v1.0.0"]);
    git.write("app/d1/f1", &format!("{}changed\n", noise(1)));
    git.run(&["-C", "app", "commit", "-qam", "More"]);
    git.run(&["-C", "app", "gc", "-q"]);
}

#[tokio::test]
async fn every_version_of_the_protocol_and_thin_packs_are_understood() {
    let Some(git) = Git::find() else { return };
    repository(&git);
    let old = vec![("GIT_PROTOCOL", "version=0")];
    let first = vec![("GIT_PROTOCOL", "version=1")];
    for environment in [Vec::new(), old, first] {
        let server = serve(&git, environment.clone());
        let place = Place::new();
        let remote = place.remote(&format!("{}/app/.git", server.url()));
        let tag = fetched(remote.fetch(&wanted(Reference::semver("^1"))).await).unwrap();
        assert_eq!(files(&tag), tree_by_git(&git, "v1.0.0"));
        assert!(tag.tag.as_ref().unwrap().id.is_some());
        let head = fetched(remote.fetch(&wanted(Reference::branch("main"))).await).unwrap();
        assert_eq!(files(&head), tree_by_git(&git, "main"));

        git.write("app/d2/f2", &format!("{}{environment:?}\n", noise(2)));
        git.run(&["-C", "app", "commit", "-qam", "Changed"]);
        let request = Request {
            previous: Some(head.revision.clone()),
            ..wanted(Reference::branch("main"))
        };
        let next = fetched(remote.fetch(&request).await).unwrap();
        assert_eq!(files(&next), tree_by_git(&git, "main"), "{environment:?}");
        let id = git.run(&["-C", "app", "rev-parse", "main~1"]);
        let commit = fetched(remote.fetch(&wanted(Reference::commit(&id))).await);
        let commit = commit.unwrap_or_else(|error| panic!("{environment:?}: {}", chain(&error)));
        assert_eq!(files(&commit), tree_by_git(&git, &id));
    }
}

#[tokio::test]
async fn what_changed_is_all_that_the_real_server_sends() {
    let Some(git) = Git::find() else { return };
    repository(&git);
    let server = serve(&git, Vec::new());
    let place = Place::new();
    let remote = place.remote(&format!("{}/app/.git", server.url()));
    fetched(remote.fetch(&wanted(Reference::branch("main"))).await).unwrap();
    git.write("app/d2/f2", "changed\n");
    git.run(&["-C", "app", "commit", "-qam", "Changed"]);
    fetched(remote.fetch(&wanted(Reference::branch("main"))).await).unwrap();
    let mut sizes: Vec<u64> = Vec::new();
    sizes_of_packs(place.directory.path(), &mut sizes);
    sizes.sort();
    assert_eq!(sizes.len(), 2);
    assert!(sizes[0] * 4 < sizes[1], "{sizes:?}");
}

fn sizes_of_packs(directory: &Path, sizes: &mut Vec<u64>) {
    for entry in std::fs::read_dir(directory).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            sizes_of_packs(&entry.path(), sizes);
        } else if entry
            .path()
            .extension()
            .is_some_and(|extension| extension == "pack")
        {
            sizes.push(entry.metadata().unwrap().len());
        }
    }
}
