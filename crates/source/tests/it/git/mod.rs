//! Git repositories of the test kit's servers, and of real ones where the programs are there.

mod cached;
mod faults;
mod github_app;
mod killed;
mod program;
mod redirects;
mod signatures;
mod ssh;
mod submodules;
mod wanted;

use std::io::Read;

use source::archive::{Kind, Tree};
use source::git::{Cache, Checkout, Error, Outcome, Reference, Remote, Request, Settings};
use tempfile::TempDir;

/// A cache that goes with the test.
pub(crate) struct Place {
    pub(crate) directory: TempDir,
    pub(crate) cache: Cache,
}

impl Place {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let cache = Cache::open(directory.path()).unwrap();
        Place { directory, cache }
    }

    pub(crate) fn remote(&self, url: &str) -> Remote {
        Remote::new(Settings::new(url.parse().unwrap()), self.cache.clone())
    }

    pub(crate) fn remote_with(&self, url: &str, change: impl FnOnce(&mut Settings)) -> Remote {
        let mut settings = Settings::new(url.parse().unwrap());
        change(&mut settings);
        Remote::new(settings, self.cache.clone())
    }
}

pub(crate) fn wanted(reference: Reference) -> Request {
    Request {
        reference,
        ..Request::default()
    }
}

pub(crate) async fn fetch(remote: &Remote, reference: Reference) -> Result<Box<Checkout>, Error> {
    fetched(remote.fetch(&wanted(reference)).await)
}

pub(crate) fn fetched(outcome: Result<Outcome, Error>) -> Result<Box<Checkout>, Error> {
    match outcome? {
        Outcome::Fetched(checkout) => Ok(checkout),
        Outcome::Unchanged(revision) => panic!("{revision} was to be fetched"),
    }
}

/// All entries as lines: directories with a slash, files with their content, executable ones with a star.
pub(crate) fn content(tree: &dyn Tree) -> Vec<String> {
    let entries = tree.entries().unwrap();
    let shown = entries.iter().map(|entry| match entry.kind {
        Kind::Directory => format!("{}/", entry.path),
        Kind::File { executable } => {
            let mut text = Vec::new();
            tree.open(&entry.path).unwrap().read_to_end(&mut text).unwrap();
            let star = if executable { "*" } else { "" };
            format!(
                "{}{star} {}",
                entry.path,
                String::from_utf8_lossy(&text).trim_end()
            )
        }
    });
    shown.collect()
}

/// An error with all its causes.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        text.push_str(&format!(": {error}"));
        next = error.source();
    }
    text
}
