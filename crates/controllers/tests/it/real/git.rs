//! Repositories that the real `git` makes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use testkit::program;

/// A folder with repositories, each with its files checked out.
pub(super) struct Git {
    home: TempDir,
}

impl Git {
    pub(super) fn find() -> Option<Self> {
        program::find("git")?;
        let home = tempfile::tempdir().unwrap();
        Some(Git { home })
    }

    pub(super) fn path(&self) -> &Path {
        self.home.path()
    }

    /// Runs git in a repository.
    pub(super) fn run(&self, repository: &str, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        command
            .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.com"])
            .args(["-c", "protocol.file.allow=always"])
            .arg("-C")
            .arg(self.home.path().join(repository))
            .args(arguments)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("HOME", self.home.path());
        program::run(&mut command)
    }

    /// A new repository without commits.
    pub(super) fn init(&self, name: &str) {
        self.run(".", &["init", "-q", "-b", "main", name]);
    }

    pub(super) fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.home.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Commits all files of a repository; the commit.
    pub(super) fn commit(&self, repository: &str, message: &str) -> String {
        self.run(repository, &["add", "-A"]);
        self.run(repository, &["commit", "-q", "--allow-empty", "-m", message]);
        self.run(repository, &["rev-parse", "HEAD"])
    }

    /// What git itself checks out of a commit, by path.
    pub(super) fn checkout(&self, repository: &str, commit: &str) -> BTreeMap<String, String> {
        let listed = self.run(repository, &["ls-tree", "-r", "--name-only", commit]);
        let content = |path: &str| self.run(repository, &["show", &format!("{commit}:{path}")]);
        listed
            .lines()
            .map(|path| (path.to_owned(), content(path)))
            .collect()
    }
}

/// The files of a folder, by path, with what `git show` would print of each.
pub(super) fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let name = path.strip_prefix(folder).unwrap().display().to_string();
            let text = std::fs::read_to_string(&path).unwrap();
            found.insert(name, text.trim_end().to_owned());
        }
    }
    found
}
