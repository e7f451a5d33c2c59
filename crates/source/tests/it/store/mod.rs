mod collect;
mod content;
mod fetch;
mod kill;
mod properties;
mod recover;
mod serve;
mod share;
mod write;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use model::{Artifact, Revision};
use source::store::{Error, Options, Place, Presence, Store, Stored};
use tempfile::TempDir;
use testkit::Clock;

/// A store in a directory of its own, at a time that the test says.
pub(crate) struct Fixture {
    root: TempDir,
    clock: Clock,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Fixture {
            root: tempfile::tempdir().unwrap(),
            clock: Clock::default(),
        }
    }

    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    pub(crate) fn open(&self) -> Store {
        self.open_with(Options::new("storage.test"))
    }

    fn open_with(&self, options: Options) -> Store {
        let clock = self.clock.clone();
        Store::open(self.root.path(), options, Arc::new(move || clock.now())).unwrap()
    }

    fn path(&self, path: &str) -> std::path::PathBuf {
        self.root.path().join(path)
    }

    /// The files below the root, with what links say, without directories.
    fn files(&self) -> Vec<String> {
        let mut files = Vec::new();
        list(self.root.path(), self.root.path(), &mut files);
        files.sort();
        files
    }

    /// The same without content by digest.
    fn artifacts(&self) -> Vec<String> {
        let mut files = self.files();
        files.retain(|file| !file.starts_with(".content/"));
        files
    }
}

fn list(root: &Path, directory: &Path, files: &mut Vec<String>) {
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            list(root, &entry.path(), files);
        } else {
            let path = entry.path();
            files.push(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned());
        }
    }
}

pub(crate) fn place(name: &str) -> Place {
    Place::new("Bucket", "apps", name).unwrap()
}

fn revision() -> Revision {
    "main@sha1:0123456789012345678901234567890123456789"
        .parse()
        .unwrap()
}

fn artifact(stored: &Stored) -> Artifact {
    stored.artifact(revision(), Default::default())
}

/// Has an artifact looked for as that of the object whose path it has.
fn verify(store: &Store, artifact: &Artifact) -> Result<Presence, Error> {
    let mut parts = artifact.path.split('/');
    let mut next = || parts.next().unwrap();
    store.verify(&Place::new(next(), next(), next())?, artifact)
}

pub(crate) fn put(store: &Store, place: &Place, file: &str, content: &str) -> Artifact {
    artifact(&store.copy(place, file, content.as_bytes()).unwrap())
}
