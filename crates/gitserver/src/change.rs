//! A commit in the making.

use bytes::Bytes;

use super::object::{Id, Kind, Object};
use super::person::Person;
use super::repository::Repository;
use super::tree::{self, Entry, Mode, check_path};

/// Makes a signature of a commit or tag.
pub(super) type Signer = Box<dyn FnOnce(&[u8]) -> String>;

/// A commit in the making: [`Repository::change`] begins it, [`Change::commit`] ends it.
#[must_use = "a change does nothing until it is committed"]
pub struct Change {
    repository: Repository,
    branch: String,
    message: String,
    author: Person,
    committer: Option<Person>,
    time: Option<i64>,
    orphan: bool,
    merged: Vec<Id>,
    edits: Vec<(String, Edit)>,
    signer: Option<Signer>,
}

enum Edit {
    Write(Mode, Bytes),
    Link(Id),
    Delete,
}

impl Change {
    pub(super) fn new(repository: Repository, branch: String) -> Self {
        Self {
            repository,
            branch,
            message: "Change".to_string(),
            author: Person::default(),
            committer: None,
            time: None,
            orphan: false,
            merged: Vec::new(),
            edits: Vec::new(),
            signer: None,
        }
    }

    /// The message. A line end is added if it lacks one.
    pub fn message(mut self, message: &str) -> Self {
        self.message = message.to_string();
        self
    }

    /// Who wrote it (and committed it, unless told otherwise).
    pub fn author(mut self, name: &str, email: &str) -> Self {
        self.author = Person::new(name, email);
        self
    }

    /// Who committed it.
    pub fn committer(mut self, name: &str, email: &str) -> Self {
        self.committer = Some(Person::new(name, email));
        self
    }

    /// When, in seconds since 1970. Without this the first commit is at the beginning of 2026 and each a minute later.
    pub fn time(mut self, seconds: i64) -> Self {
        self.time = Some(seconds);
        self
    }

    /// Writes a file.
    pub fn file(self, path: &str, content: impl Into<Vec<u8>>) -> Self {
        self.write(path, Mode::File, content.into())
    }

    /// Writes a file that may be run.
    pub fn executable(self, path: &str, content: impl Into<Vec<u8>>) -> Self {
        self.write(path, Mode::Executable, content.into())
    }

    /// Writes a symbolic link.
    pub fn symlink(self, path: &str, target: &str) -> Self {
        self.write(path, Mode::Symlink, target.into())
    }

    /// Enters a commit of another repository. A `.gitmodules` file is up to the test.
    pub fn submodule(mut self, path: &str, commit: Id) -> Self {
        check_path(path);
        self.edits.push((path.to_string(), Edit::Link(commit)));
        self
    }

    /// Deletes a file, or a directory with all that is in it.
    pub fn delete(mut self, path: &str) -> Self {
        self.edits.push((path.to_string(), Edit::Delete));
        self
    }

    /// Adds a second (third, ...) parent. The files are those of the branch, with this change's edits.
    pub fn merge(mut self, commit: Id) -> Self {
        self.merged.push(commit);
        self
    }

    /// Begins a new history on the branch: no parent, no files but this change's.
    pub fn orphan(mut self) -> Self {
        self.orphan = true;
        self
    }

    /// Signs the commit: the callback is given the commit without signature and returns the armored signature.
    pub fn signed(mut self, signer: impl FnOnce(&[u8]) -> String + 'static) -> Self {
        self.signer = Some(Box::new(signer));
        self
    }

    fn write(mut self, path: &str, mode: Mode, content: Vec<u8>) -> Self {
        check_path(path);
        self.edits
            .push((path.to_string(), Edit::Write(mode, content.into())));
        self
    }

    /// Stores the commit and moves the branch to it.
    pub fn commit(self) -> Id {
        let repository = self.repository.clone();
        let mut store = repository.store();
        let parent = if self.orphan {
            None
        } else {
            store.refs.get(&self.branch).copied()
        };
        let root = parent.and_then(|parent| store.get(parent)?.link("tree"));
        let mut files = root.map(|root| tree::files(&store, root)).unwrap_or_default();
        for (path, edit) in self.edits {
            // A file takes the place of a directory and the other way round.
            let below = format!("{path}/");
            let inside: Vec<_> = files
                .range(below.clone()..)
                .map(|(path, _)| path.clone())
                .take_while(|path| path.starts_with(&below))
                .collect();
            for path in inside {
                files.remove(&path);
            }
            let entry = match edit {
                Edit::Delete => {
                    files.remove(&path);
                    continue;
                }
                Edit::Link(id) => Entry {
                    mode: Mode::Submodule,
                    id,
                },
                Edit::Write(mode, content) => Entry {
                    mode,
                    id: store.put(Object::new(Kind::Blob, content)),
                },
            };
            for (at, _) in path.match_indices('/') {
                files.remove(&path[..at]);
            }
            files.insert(path, entry);
        }
        let tree = tree::write(&mut store, &files);
        let time = self.time.unwrap_or_else(|| store.next_time());
        let mut head = format!("tree {tree}\n");
        for parent in parent.iter().chain(&self.merged) {
            head.push_str(&format!("parent {parent}\n"));
        }
        let committer = self.committer.as_ref().unwrap_or(&self.author);
        head.push_str(&format!(
            "author {}\ncommitter {}\n",
            self.author.at(time),
            committer.at(time)
        ));
        let message = with_line_end(self.message);
        let signature = self
            .signer
            .map(|sign| sign(format!("{head}\n{message}").as_bytes()));
        let signature = signature.map(|text| signature_header(&text)).unwrap_or_default();
        let id = store.put(Object::new(Kind::Commit, format!("{head}{signature}\n{message}")));
        store.refs.insert(self.branch, id);
        id
    }
}

/// A signature as a header: lines after the first are indented.
fn signature_header(signature: &str) -> String {
    format!("gpgsig {}\n", signature.trim_end().replace('\n', "\n "))
}

pub(super) fn with_line_end(mut text: String) -> String {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}
