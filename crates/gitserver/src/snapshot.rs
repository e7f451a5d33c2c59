//! The state of a directory as a commit.

use std::collections::{BTreeMap, HashSet};

use bytes::Bytes;

use super::object::{Id, Kind, Object};
use super::person::Person;
use super::reach::{Collector, Filter};
use super::repository::Repository;
use super::store::{Store, branch_name};
use super::tree::{self, Entry, Mode};

/// How many snapshots a client can still ask for: it may have listed one just before the next was made.
const KEPT: usize = 4;

/// A file of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Whether it may be run.
    pub executable: bool,
    /// What is in it.
    pub content: Bytes,
}

/// What is said of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The message of the commit.
    pub message: String,
    /// Who made it.
    pub author: Person,
    /// When, in seconds since 1970.
    pub time: i64,
}

/// A path that cannot stand in a tree.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a path inside a repository")]
pub struct BadPath(pub String);

impl Repository {
    /// Moves a branch to a commit of these files and no others, without a parent. The same files with the same words are the same
    /// commit. What only earlier snapshots of this repository had is let go, but for the last few.
    ///
    /// # Errors
    /// Where a path is none; then nothing has changed.
    pub fn snapshot(
        &self,
        branch: &str,
        files: BTreeMap<String, File>,
        said: &Snapshot,
    ) -> Result<Id, BadPath> {
        if let Some(path) = files.keys().find(|path| !tree::is_path(path)) {
            return Err(BadPath(path.clone()));
        }
        let store = &mut *self.store();
        let mut entries = tree::Files::new();
        for (path, file) in files {
            let mode = match file.executable {
                true => Mode::Executable,
                false => Mode::File,
            };
            let id = store.put(Object::new(Kind::Blob, file.content));
            entries.insert(path, Entry { mode, id });
        }
        let root = tree::write(store, &entries);
        let author = said.author.at(said.time);
        let text = format!(
            "tree {root}\nauthor {author}\ncommitter {author}\n\n{}\n",
            said.message.trim_end()
        );
        let commit = store.put(Object::new(Kind::Commit, text));
        store.refs.insert(branch_name(branch), commit);
        forget_old(store, commit);
        Ok(commit)
    }
}

/// Lets go of what neither a reference nor one of the last snapshots needs.
fn forget_old(store: &mut Store, newest: Id) {
    store.snapshots.retain(|id| *id != newest);
    store.snapshots.push_back(newest);
    while store.snapshots.len() > KEPT {
        store.snapshots.pop_front();
    }
    let mut needed = Collector::new(store, Filter::None, HashSet::new());
    let held: Vec<Id> = store.refs.values().copied().collect();
    for commit in super::reach::commits(store, &held, &HashSet::new()) {
        needed.commit(commit);
    }
    held.iter().for_each(|id| needed.wanted(*id));
    store.snapshots.iter().for_each(|id| needed.commit(*id));
    let needed = needed.into_seen();
    store.retain(|id| needed.contains(id));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(texts: &[(&str, &str)]) -> BTreeMap<String, File> {
        let file = |text: &str| File {
            executable: false,
            content: Bytes::copy_from_slice(text.as_bytes()),
        };
        let files = texts.iter().map(|(path, text)| ((*path).to_owned(), file(text)));
        files.collect()
    }

    fn said() -> Snapshot {
        Snapshot {
            message: "The working tree".into(),
            author: Person::new("sluice", "sluice@localhost"),
            time: 1_767_225_600,
        }
    }

    #[test]
    fn a_snapshot_has_its_files_and_no_others() {
        let repository = Repository::new();
        let first = repository.snapshot("main", files(&[("a.yaml", "1"), ("b/c.yaml", "2")]), &said());
        assert_eq!(repository.read("main", "b/c.yaml").as_deref(), Some("2"));
        let second = repository.snapshot("main", files(&[("a.yaml", "1")]), &said());
        assert_eq!(repository.files("main").len(), 1);
        assert_ne!(first, second);
        let again = repository.snapshot("main", files(&[("a.yaml", "1"), ("b/c.yaml", "2")]), &said());
        assert_eq!(first, again, "the same files are the same commit");
        assert_eq!(repository.log("main").len(), 1);
    }

    #[test]
    fn old_snapshots_are_let_go_and_the_last_ones_are_kept() {
        let repository = Repository::new();
        let made: Vec<Id> = (0..10)
            .map(|number| {
                let text = format!("number {number}");
                repository
                    .snapshot("main", files(&[("a", &text), ("same", "x")]), &said())
                    .unwrap()
            })
            .collect();
        let kept = made.iter().filter(|id| repository.object(**id).is_some());
        assert_eq!(kept.count(), KEPT);
        assert_eq!(repository.read("main", "a").as_deref(), Some("number 9"));
        assert_eq!(repository.read("main", "same").as_deref(), Some("x"));
    }

    #[test]
    fn a_path_that_cannot_be_changes_nothing() {
        let repository = Repository::new();
        let first = repository
            .snapshot("main", files(&[("a", "1")]), &said())
            .unwrap();
        for wrong in ["../a", "a//b", "", ".git/config", "b/.GIT/x"] {
            let failed = repository.snapshot("main", files(&[(wrong, "1")]), &said());
            assert_eq!(failed, Err(BadPath(wrong.into())));
        }
        assert_eq!(repository.resolve("main"), Some(first));
    }
}
